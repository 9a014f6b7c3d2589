#!/usr/bin/env bash
# run --record and --replay: refusals, times and credentials in a recording,
# runs side by side, and folders that are old, foreign or hostile.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

mkdir w
# The server of the tests says the value of WORD and how often it was called.
cat >w/server.py <<'END'
import json, os, sys
calls = 0
for line in sys.stdin:
    m = json.loads(line)
    if m.get('method') == 'initialize':
        r = {'protocolVersion': m['params']['protocolVersion'],
             'capabilities': {'tools': {}},
             'serverInfo': {'name': 'x', 'version': '1'}}
    elif m.get('method') == 'tools/list':
        r = {'tools': [{'name': 'say', 'inputSchema': {'type': 'object'}}]}
    elif m.get('method') == 'tools/call':
        calls += 1
        r = {'content': [{'type': 'text', 'text': '%s %s %d' % (
            m['params'].get('arguments', {}).get('text'),
            os.environ.get('WORD'), calls)}]}
    elif 'id' in m:
        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'error': {
            'code': -32601, 'message': 'no'}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}),
          flush=True)
END

# same NAME: the recorded run once, and its replay with -j 1 and side by side,
# with no network and none of the files
same() {
	local args

	rm -rf w/tape
	golden_run --record w/tape
	cp "$out" recorded
	ok "$who: $1: recorded" test -e w/tape/programs.jsonl
	tape_alone
	WRAP=("${cut[@]}")
	for args in "-j 1" "-j 8"; do
		# shellcheck disable=SC2086
		golden_run --replay w/tape $args
		file_is "$who: $1: replayed with $args" "$out" recorded
	done
	WRAP=()
	tape_back
}

refusals() {
	cat >w/k.toml <<-END
		[routines.r]
		order = "needs"
		[[routines.r.steps]]
		name = "refused"
		type = "script"
		command = "$PYTHON"
		args = ["-c", """
		import socket
		try:
		    socket.create_connection(('127.0.0.1', 9), 1)
		except OSError:
		    print('no')
		"""]
		on_refusal = "fail"
		[[routines.r.steps]]
		name = "gone"
		type = "script"
		command = "no-such-program-here"
		[[routines.r.steps]]
		name = "server"
		type = "mcp-client"
		command = "no-such-server-here"
		tool = "x"
		[[routines.r.steps]]
		name = "unset"
		type = "script"
		command = "echo"
		env = { WORD = { env = "A_VARIABLE_THAT_IS_UNSET" } }
		[[routines.r.steps]]
		name = "late"
		type = "script"
		command = "/bin/sh"
		args = ["-c", "echo begun; exec sleep 60"]
		timeout = "700ms"
		[[routines.r.steps]]
		name = "much"
		type = "script"
		command = "/bin/sh"
		args = ["-c", "yes"]
		stdout_max = 1000
	END
	same refusals
	json_file_is "$who: what was refused" recorded \
		step_results[0].reason refused \
		step_results[1].reason no_command \
		step_results[2].reason no_command \
		step_results[3].reason no_credential \
		step_results[4].state timeout \
		step_results[5].reason output_limit
	sed -i 's/no-such-server-here/no-such-server/; s/"server"/"other"/' \
		w/k.toml
	golden_run --replay w/tape
	json_is "$who: a step that was not recorded is judged here" \
		step_results[2].reason no_command \
		step_results[2].error '~no-such-server '
}

side_by_side() {
	local key

	cat >w/k.toml <<-END
		[servers.s]
		command = "$PYTHON"
		args = ["$T/w/server.py"]
		[routines.r]
		order = "needs"
	END
	# four processes of one server, told apart by their environment alone
	for key in a b c d; do
		cat >>w/k.toml <<-END
			[[routines.r.steps]]
			name = "own-$key"
			type = "mcp-client"
			server = "s"
			tool = "say"
			params = { text = "same" }
			env = { WORD = "$key" }
		END
	done
	cat >>w/k.toml <<-END
		[[routines.r.steps]]
		name = "list"
		type = "script"
		command = "echo"
		args = ["[1,1,2,2,3,3,4,4]"]
		[[routines.r.steps]]
		name = "each"
		type = "mcp-client"
		foreach = "\$steps.list.json"
		max_parallel = 8
		server = "s"
		tool = "say"
		params = { text = "\$item" }
		[[routines.r.steps]]
		name = "programs"
		type = "script"
		foreach = "\$steps.list.json"
		max_parallel = 8
		command = "/bin/sh"
		args = ["-c", "echo \$0 \$\$", "\$item"]
		[[routines.r.steps]]
		name = "fed"
		type = "script"
		command = "cat"
		stdin = "fed words"
	END
	same "side by side"
	json_file_is "$who: side by side: all were ok" recorded success true \
		step_results[0].output "same a 1" \
		step_results[3].output "same d 1"
	sed -i 's/fed words/other words/' w/k.toml
	golden_run --replay w/tape
	json_is "$who: another input of a program" \
		step_results[7].reason replay step_results[7].error \
		'~"fed": the input differs from the recording: at byte 0: fed words was recorded, now it is other words'
}

# no_secret VALUE...: neither as it is nor in Base64
no_secret() {
	local file value

	for value; do
		cat w/tape/* >"$T/all"
		file_lacks "$who: no file has $value" "$T/all" "$value"
		file_lacks "$who: no file has $value in Base64" "$T/all" \
			"$(printf %s "$value" | base64 | cut -c1-12)"
	done
}

credentials() {
	local name

	printf file-of-mine-12345 >w/key
	chmod 600 w/key
	cat >w/show.sh <<-'END'
		#!/bin/sh
		cat
		printf '\377%s %s' "$KEY" "$1"
		echo "$KEY" >&2
		exit 1
	END
	chmod 755 w/show.sh
	cat >w/k.toml <<-END
		[sandbox]
		exec = ["echo"]
		[servers.web]
		url = "http://127.0.0.1:${port[0]}/mirror/mcp"
		token = { env = "THE_TOKEN" }
		headers = { X-Key = "\${THE_HEADER}" }
		[routines.r]
		order = "needs"
		[[routines.r.steps]]
		name = "web"
		type = "mcp-client"
		server = "web"
		tool = "echo"
		params = { a = "b" }
	END
	for name in '{ env = "THE_KEY" }' '{ file = "./key" }' \
		'{ cmd = "echo command-of-mine-12345" }'; do
		cat >>w/k.toml <<-END
			[[routines.r.steps]]
			name = "of-$(tr -dc 'a-z' <<<"${name%%=*}")"
			type = "script"
			command = "$T/w/show.sh"
			args = ["of an argument"]
			stdin = "{{steps.web.output}}"
			env = { KEY = $name }
		END
	done
	export THE_KEY=env-of-mine-12345 THE_TOKEN=token-of-mine-12345 \
		THE_HEADER=header-of-mine-12345
	same credentials
	json_file_is "$who: credentials were given" recorded \
		step_results[0].state ok step_results[1].data.exit_code 1 \
		step_results[3].data.exit_code 1
	no_secret env-of-mine-12345 file-of-mine-12345 command-of-mine-12345 \
		token-of-mine-12345 header-of-mine-12345
	unset THE_KEY THE_TOKEN THE_HEADER
}

# refuses NAME REGEX: --replay of w/tape ends with this error, and says no word
# of a file elsewhere
refuses() {
	golden_run --replay w/tape
	exit_is "$who: $1" 1
	err_like "$who: $1: is said" "$2"
	err_unlike "$who: $1: nothing of elsewhere" 'root:|hidden'
	rm -rf w/tape
	cp -a w/good w/tape
}

folders() {
	printf '[[routines.r.steps]]\nname = "a"\ntype = "mcp-client"\ncommand = "%s"\nargs = ["%s"]\ntool = "say"\n' \
		"$PYTHON" "$T/w/server.py" >w/k.toml
	rm -rf w/tape
	golden_run --record w/tape
	exit_is "$who: recorded" 0
	touch w/tape/notes.txt w/tape/b.session.jsonl.old
	sed 's/"a"/"b"/' w/tape/a.session.jsonl >w/tape/b.session.jsonl
	golden_run --record w/tape
	exit_is "$who: recorded over it" 0
	is "$who: other files stay" "$(cd w/tape && echo *)" \
		"a.session.jsonl b.session.jsonl.old notes.txt programs.jsonl"
	echo 'hidden' >w/tape/mine.session.jsonl
	golden_run --record w/tape
	exit_is "$who: a file of something else" 1
	err_like "$who: a file of something else: is named" \
		'w/tape/mine.session.jsonl is not a file of a recording'
	file_has "$who: it stays" w/tape/mine.session.jsonl hidden
	rm w/tape/mine.session.jsonl
	echo hidden >w/secret
	ln -s ../secret w/tape/b.session.jsonl
	golden_run --record w/tape
	exit_is "$who: a link in the folder" 1
	file_has "$who: its file stays" w/secret hidden
	rm w/tape/b.session.jsonl

	# a recording that is refused
	golden_run --record "$T/state/matins/new/tape"
	exit_is "$who: a folder of ours" 1
	ok "$who: leaves no new folder" test ! -e "$T/state/matins/new"

	# sessions of a run that was killed before its programs were there
	sed 's/"run":[0-9]*/"run":7/; s/say/cry/' w/tape/a.session.jsonl \
		>w/tape/a.session.jsonl.new
	golden_run --replay w/tape
	exit_is "$who: sessions of another run do not count" 0
	mv w/tape/a.session.jsonl w/kept
	cp w/tape/a.session.jsonl.new w/tape/a.session.jsonl
	cp w/kept w/tape/a.session.jsonl.new
	golden_run --replay w/tape
	exit_is "$who: those of this one do, where they are" 0
	golden_run --record w/tape
	is "$who: the next recording has none of them" "$(cd w/tape && echo *)" \
		"a.session.jsonl b.session.jsonl.old notes.txt programs.jsonl"

	# a signal that is there before anything is read
	cp -a w/tape w/huge
	"$PYTHON" - <<-'END'
		line = '{"from":{"jsonrpc":"2.0","method":"x","params":"%s"}}\n' % ("x" * 1000)
		with open("w/huge/a.session.jsonl") as f:
		    lines = f.readlines()
		with open("w/huge/a.session.jsonl", "w") as f:
		    f.writelines(lines[:-1] + [line] * 20000 + lines[-1:])
	END
	WRAP=("$PYTHON" -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.kill(os.getpid(), signal.SIGTERM)
os.execvp(sys.argv[1], sys.argv[1:])')
	golden_run --replay w/huge
	exit_is "$who: a signal ends the reading of a recording" 143
	err_unlike "$who: nothing was run" 'ok|cancelled'
	is "$who: nor printed" "$(<"$out")" ""
	WRAP=()
	golden_run --replay w/huge
	exit_is "$who: without one it is read" 0
	rm -rf w/huge

	cp -a w/tape w/good
	sed -i 's|matins-tape/1|matins-tape/2|' w/tape/programs.jsonl
	refuses "a newer format" \
		'programs.jsonl: line 1: this matins reads "matins-tape/1", not "matins-tape/2"'
	ln -sf /etc/passwd w/tape/a.session.jsonl
	refuses "a link" 'a.session.jsonl: '
	ln -sf ../secret w/tape/programs.jsonl
	refuses "a link in place of the list" 'no whole recording: '
	rm w/tape/a.session.jsonl
	mkfifo w/tape/a.session.jsonl
	refuses "a FIFO" 'a.session.jsonl: '
	rm w/tape/a.session.jsonl
	mkdir w/tape/a.session.jsonl
	refuses "a folder" 'a.session.jsonl: '
	truncate -s 3G w/tape/a.session.jsonl
	refuses "a huge file" 'a.session.jsonl: '
	printf '{"to":{"a' >>w/tape/a.session.jsonl
	refuses "torn JSON" 'a.session.jsonl: line [0-9]+: '
	printf '{"schema":"matins-tape/1","name":"../../x","nth":1,"start":1,"kind":"lines","args":[]}\n' \
		>w/tape/z.session.jsonl
	refuses "a recording without end" \
		'z.session.jsonl: the recording is cut off'
	head -c 200000 /dev/zero | tr '\0' '[' >w/tape/a.session.jsonl
	refuses "deep JSON" 'a.session.jsonl: line 1: '
	rm -rf w/tape w/good
}

# A session with hundreds of thousands of answers that no request of ours waits
# for, one half behind a request that is never made: a moment, not hours.
long() {
	cat >w/k.toml <<-END
		[[routines.r.steps]]
		name = "a"
		type = "mcp-client"
		command = "$PYTHON"
		args = ["$T/w/server.py"]
		tool = "say"
		params = { text = "long" }
	END
	golden_run --record w/tape
	cp "$out" recorded
	"$PYTHON" - <<-'END'
		path = "w/tape/a.session.jsonl"
		lines = open(path).read().splitlines()
		never = ['{"to":{"jsonrpc":"2.0","id":7,"method":"never"}}']
		more = ['{"from":{"id":%d,"result":{}}}' % (1000 + i) for i in range(150000)]
		open(path, "w").write("\n".join(lines[:-1] + more + never + more + lines[-1:]) + "\n")
	END
	golden_run --replay w/tape
	file_is "$who: a session of 300 000 answers" "$out" recorded
	rm -rf w/tape
}

everything() {
	as=$1 who=$2
	start_peer plain
	refusals
	side_by_side
	credentials
	folders
	end_peers
}

cut=(unshare -n)
[[ $(id -u) -eq 0 ]] || cut=(unshare -rn)
if ! "${cut[@]}" true 2>/dev/null; then
	diag "no network namespace can be made here: the network stays"
	cut=()
fi
everything "" "as who runs the tests"
long
everything as_user user
done_testing
