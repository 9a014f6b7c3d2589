#!/usr/bin/env bash
# run --record and --replay: a routine runs from its recording alone.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

mkdir w
cat >w/server.py <<'END'
import json, os, sys
ids = iter(range(100, 200))
def put(m):
    print(json.dumps({'jsonrpc': '2.0', **m}), flush=True)
waiting = []
print('a banner, and no message', flush=True)
while True:
    line = waiting.pop(0) if waiting else sys.stdin.readline()
    if not line:
        break
    m = json.loads(line)
    method, p = m.get('method'), m.get('params', {})
    if 'id' not in m or not method:
        continue
    if method == 'initialize':
        r = {'protocolVersion': p['protocolVersion'],
             'capabilities': {'tools': {}},
             'serverInfo': {'name': 'x', 'version': '1'}}
    elif method == 'tools/list':
        r = {'tools': [{'name': 'say', 'inputSchema': {'type': 'object'}}]}
    elif method == 'tools/call':
        a = p.get('arguments', {})
        put({'method': 'notifications/progress', 'params': {
            'progressToken': p['_meta']['progressToken'], 'progress': 1}})
        if a.get('die'):
            sys.stderr.write('no more of this\n')
            sys.exit(3)
        ask = next(ids)
        put({'id': ask, 'method': 'roots/list' if a.get('ask') else 'ping'})
        got = sys.stdin.readline()
        while json.loads(got).get('id') != ask:
            waiting.append(got)
            got = sys.stdin.readline()
        r = {'content': [{'type': 'text', 'text': '%s %s %s' % (
            a.get('text'), os.environ.get('KEY'),
            json.loads(got).get('result'))}]}
    else:
        put({'id': m['id'], 'error': {'code': -32601, 'message': 'no'}})
        continue
    put({'id': m['id'], 'result': r})
END
cat >w/program.sh <<'END'
#!/bin/sh
cat
printf '\377bytes $0 %s' "$KEY"
echo words >&2
exit 3
END
chmod 755 w/program.sh
cat >w/plugin.py <<'END'
import json, sys
m = json.load(sys.stdin)
print(json.dumps({'success': True, 'output': 'plugin', 'data': {}}))
END

# config [TEXT [WORD [URL]]]
config() {
	cat >w/k.toml <<-END
		[servers.s]
		command = "$PYTHON"
		args = ["$T/w/server.py"]
		env = { KEY = { env = "THE_KEY" } }
		[servers.web]
		url = "http://127.0.0.1:${3-1}/x/mcp"
		[routines.r]
		order = "needs"
		[[routines.r.steps]]
		name = "call"
		type = "mcp-client"
		server = "s"
		tool = "say"
		params = { text = "${1-hello}" }
		[[routines.r.steps]]
		name = "strict"
		type = "mcp-client"
		server = "s"
		tool = "say"
		strict = true
		params = { text = "{{steps.call.output}} {{run.generation}} {{run.time}}" }
		[[routines.r.steps]]
		name = "each"
		type = "mcp-client"
		foreach = "\$steps.list.json"
		max_parallel = 4
		server = "s"
		tool = "say"
		params = { text = "\$item" }
		[[routines.r.steps]]
		name = "web"
		type = "mcp-client"
		server = "web"
		tool = "echo"
		params = { a = "b" }
		[[routines.r.steps]]
		name = "own"
		type = "mcp-client"
		command = "$PYTHON"
		args = ["$T/w/server.py"]
		tool = "say"
		params = { die = true }
		retry = { max = 2, wait = "1ms", on = ["server_exit"] }
		[[routines.r.steps]]
		name = "program"
		type = "script"
		command = "$T/w/program.sh"
		args = ["${2-word}", "$T/w/x"]
		env = { KEY = { env = "THE_KEY" } }
		stdin = "{{steps.each.output}} {{steps.call.output}}"
		[[routines.r.steps]]
		name = "plugin"
		type = "python"
		script = "$T/w/plugin.py"
		[[routines.r.steps]]
		name = "list"
		type = "harness"
		command = "echo"
		args = ['["a","b","c","d"]']
	END
}

# everything, as the user that $as is
replayed() {
	local name

	rm -rf w/tape
	config hello word "${port[0]}"
	THE_KEY=secret-of-mine golden_run --record w/tape
	exit_is "$who: recorded" 2
	cp "$out" recorded
	json_is "$who: recorded: a call" step_results[0].state ok \
		step_results[0].output '~^hello \*\*\* '
	json_is "$who: recorded: the remote server" step_results[3].state ok
	json_is "$who: recorded: a server that dies" \
		step_results[4].reason server_exit
	is "$who: the files" "$(cd w/tape && echo *)" \
		"own-1.2.session.jsonl own.session.jsonl programs.jsonl s.session.jsonl web.session.jsonl"
	for name in w/tape/*; do
		file_lacks "$who: no secret in ${name##*/}" "$name" \
			secret-of-mine
	done
	tape_alone
	rm -rf "$T/w2"
	golden_run --replay w/tape
	exit_is "$who: replayed without servers" 2
	is "$who: the same view" "$(cmp "$out" recorded 2>&1)" ""
	$as run_matins run -c w/k.toml r --json --replay w/tape
	json_is "$who: the report says that it is a replay" run.replay w/tape
	$as run_matins run -c w/k.toml r --replay w/tape
	out_like "$who: so does its first line" '^# r — replayed from w/tape — '
	$as run_matins run -c w/k.toml r --html --replay w/tape
	out_like "$who: and the verdict of the page" '<h1>.*failed, replayed from w/tape</h1>'
	name=$(wc -l <"$requests")
	printf '[notify]\non = ["failure"]\nping = "http://127.0.0.1:%s/ping"\nurl = "http://127.0.0.1:%s/n"\n' \
		"${port[0]}" "${port[0]}" >>w/k.toml
	golden_run --replay w/tape -j 1
	is "$who: no host is asked, for notices either" \
		"$(wc -l <"$requests")" "$name"
	is "$who: one at a time: the same view" \
		"$(cmp "$out" recorded 2>&1)" ""
	sed -i '/^\[notify\]/,$d' w/k.toml
	$as run_matins golden record r -c w/k.toml --replay w/tape
	$as run_matins golden check r -c w/k.toml --replay w/tape
	exit_is "$who: golden check --replay" 0

	config other word "${port[0]}"
	golden_run --replay w/tape
	json_is "$who: other params: the step fails" \
		step_results[0].state failed step_results[0].reason replay \
		step_results[0].error '~"tools/call" of "say" differs from the recording: [$].params.arguments.text was "hello", and is "other" now; if that is meant, record it again with --record'
	json_is "$who: other params: others do not" \
		step_results[2].state ok
	config hello other "${port[0]}"
	golden_run --replay w/tape
	json_is "$who: another argument of a program" \
		step_results[5].reason replay \
		step_results[5].error '~the command of "program" differs from the recording: [$].0. was "word", and is "other" now'
	sed -i "s|/server.py\"|/server2.py\"|" w/k.toml
	golden_run --replay w/tape
	json_is "$who: another argument of a server" \
		step_results[0].reason replay \
		step_results[0].error '~the arguments of "s" differ from the recording: [$].0. was "[^"]*server.py", and is "[^"]*server2.py" now'
	config hello word "${port[0]}"
	rm w/tape/web.session.jsonl
	golden_run --replay w/tape
	json_is "$who: a session that was not recorded" \
		step_results[3].reason replay \
		step_results[3].error '~no session 1 of "web"'
	sed -i '$d' w/tape/s.session.jsonl
	golden_run --replay w/tape
	exit_is "$who: a torn file" 1
	err_like "$who: a torn file: is named" \
		's.session.jsonl: the recording is cut off'
	echo '{"to":5}' >>w/tape/s.session.jsonl
	golden_run --replay w/tape
	err_like "$who: a broken line" 's.session.jsonl: line [0-9]*: no message'
	rm w/tape/programs.jsonl
	golden_run --replay w/tape
	exit_is "$who: half a recording" 1
	err_like "$who: half a recording: is said" 'no whole recording'
	rm -rf w/golden
	tape_back
}

start_peer plain
as="" who="as who runs the tests"
replayed
end_peers
start_peer plain
as=as_user who=user
replayed
as_user run_matins run r -c w/k.toml --record a --replay b
exit_is "record and replay" 64
done_testing
