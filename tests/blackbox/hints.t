#!/usr/bin/env bash
# What a stranger is told when a server fails: by the sandbox, for want of a
# package, of a declared capability, or because it is none.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

cat >server.py <<-'END'
	import json, sys
	mode, path = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
	def fail(text):
	    sys.stderr.write("starting\n" + text + "\n")
	    sys.exit(3)
	if mode == "start":
	    try:
	        open(path)
	    except OSError as e:
	        fail("PermissionError: " + str(e) if e.errno == 13 else str(e))
	def ask():
	    print(json.dumps({"jsonrpc": "2.0", "id": "q", "method":
	        "elicitation/create", "params": {"message": "Who?",
	        "requestedSchema": {"type": "object", "required": ["name"],
	        "properties": {"name": {"type": "string"}}}}}), flush=True)
	    return json.loads(sys.stdin.readline())["result"]["action"]
	def result(m):
	    if m["method"] == "initialize":
	        return {"protocolVersion": "2025-11-25",
	                "capabilities": {"tools": {}},
	                "serverInfo": {"name": "s", "version": "1"}}
	    if m["method"] == "tools/list":
	        return {"tools": [{"name": "t", "inputSchema": {}}]}
	    if m["method"] != "tools/call":
	        return None
	    if mode == "die":
	        fail("the last words")
	    if mode == "ask":
	        return {"content": [{"type": "text", "text": ask()}]}
	    if mode == "say":
	        return {"content": [{"type": "text", "text": path}],
	                "isError": True}
	    if mode == "claim":
	        return {"content": [{"type": "text", "text":
	            "EACCES: permission denied, open '%s'" % path[::-1]}],
	                "isError": True}
	    try:
	        open(path, "r" if mode == "read" else "a")
	        text = "no"
	    except OSError as e:
	        text = str(e)
	    return {"content": [{"type": "text", "text": text}], "isError": True}
	for line in sys.stdin:
	    m = json.loads(line)
	    if "id" not in m:
	        continue
	    a = {"jsonrpc": "2.0", "id": m["id"]}
	    r = result(m)
	    if r is None:
	        a["error"] = {"code": -32601, "message": "no"}
	    elif mode == "error" and m["method"] == "tools/call":
	        a["error"] = {"code": -32000,
	                      "message": r["content"][0]["text"]}
	    else:
	        a["result"] = r
	    print(json.dumps(a), flush=True)
END
mkdir -m 777 data elsewhere .hidden
touch data/file elsewhere/file .hidden/file
chmod 666 data/file elsewhere/file .hidden/file
python=(-- "$PYTHON" server.py)

# hints N: how many lines of the last run lead to a trace; none does without
# one that says what was refused
hints() {
	is "$1" "$(grep -c 'to find everything that it needs' "$err")" "$2"
}

# ---- what the sandbox keeps from a server ----

run_matins call t --read . "${python[@]}" write "$T/data/file"
exit_is "a refused write: exit status 2" 2
err_like "a refused write: what was refused" \
	"denied: write $T/data/file, which lies in no folder granted for it"
err_like "a refused write: what to grant" \
	"$T/data/file, .*to allow it: --write $T/data\$"
err_like "a refused write: what finds the rest" \
	"to find everything that it needs: matins trace ROUTINE STEP"
hints "a refused write: one line" 1
run_matins call t --read . --write data "${python[@]}" write "$T/data/file"
exit_is "its twin, granted: exit status 2" 2
hints "its twin, granted: no hint" 0
run_matins call t -q --read . "${python[@]}" write "$T/data/file"
hints "no hint is given with --quiet" 0
run_matins call t --json --read . "${python[@]}" write "$T/data/file"
json_is "the result is on stdout with --json" isError true
hints "the hint is on stderr with --json" 1

run_matins call t "${python[@]}" read "$T/elsewhere"
hints "a folder that is not granted: a hint" 1
run_matins call t --read . "${python[@]}" read "$T/none"
out_like "a file that is missing for all: its error" 'No such file'
hints "a file that is missing for all: no hint" 0
run_matins call t --read server.py "${python[@]}" error data/file
exit_is "an error of the protocol: exit status 1" 1
run_matins call t --read . "${python[@]}" error "$T/data/file"
err_like "an error of the protocol: a hint" \
	"$T/data/file, .*to allow it: --write $T/data\$"

# Words are no paths, and a program does not get its own code to write.
run_matins call t --read . "${python[@]}" say "code: 'EPERM', syscall: 'open'"
hints "a word of a message: one line" 1
err_unlike "a word of a message is no path" 'EPERM|to allow it'
run_matins call t --read . "${python[@]}" say "EACCES /tools/call"
err_unlike "a path without its folder gives no hint" 'tools/call'
mkdir -p dist node_modules/p/cache
cp server.py dist/index.py
for path in "$T/dist/cache.json" "$T/node_modules/p/cache/x"; do
	run_matins call t --read . -- "$PYTHON" dist/index.py \
		say "EROFS: read-only file system, open '$path'"
	err_like "${path##*/} beside a program's code: said" \
		"$path lies beside the code"
	err_unlike "${path##*/} beside a program's code: not advised" \
		"--write $T"
done
run_matins call t --read . -- "$PYTHON" dist/index.py \
	say "EROFS: read-only file system, open '$T/data/new'"
err_like "its data elsewhere is advised" "--write $T/data"

# Nobody should grant what a server would like to have.
run_matins call t --read . "${python[@]}" write "$T/.hidden/file"
err_like "a hidden path is named" "$T/.hidden/file is not granted"
err_unlike "no option offers the hidden path" '--(read|write) [^ ]*hidden'

# claim FOLDER PATH [ARGS]: what becomes of a path that the server alone
# names, said from that folder
claim() {
	cd "$1" || exit 1
	run_matins call t "${@:3}" --read "$T/server.py" -- \
		"$PYTHON" "$T/server.py" claim "$(rev <<<"$2")"
	cd "$T" || exit 1
}
wish="$T/data/file"
for from in / /tmp "$HOME" "$T" "$T/elsewhere"; do
	claim "$from" "$wish"
	err_like "said from ${from/#"$T"/T}: it is named" \
		"$wish is not granted\$"
	err_unlike "said from ${from/#"$T"/T}: no row" 'to allow it'
	hints "said from ${from/#"$T"/T}: a trace is offered" 1
done
claim "$T/data" "$wish"
err_like "said of the project in which it starts: a row" \
	"to allow it: --read $wish\$"
claim "$T" "$wish" "path=$wish"
err_like "an argument of the tool names it: a row" \
	"to allow it: --read $wish\$"
claim "$T" "$wish" path=data/
err_like "an argument of the tool names its folder: a row" \
	"to allow it: --read $wish\$"
claim "$T" "$wish" "path=$T/dat"
err_unlike "an argument names another path: no row" 'to allow it'

cp server.py elsewhere/server.py
cd elsewhere || exit 1
run_matins tools -- "$PYTHON" server.py start "$T/data/"
exit_is "a start that fails: exit status 1" 1
err_like "a start that fails: a trace is offered" \
	"read $T/data, .*to allow it: --read $T/data\$"
err_like "a start that fails: with its command" ': matins trace -- '
hints "a start that fails: one line" 1
cd "$T" || exit 1

printf '#!/bin/sh\nls\n' >script
chmod 755 script
run_matins tools --preset none -- ./script
hints "a script that starts what it may not: one line" 1
err_like "a script that starts what it may not: what was refused" \
	'refused a file, and does not name it|to allow it: --exec ls$'
err_unlike "a script that starts what it may not: no path is guessed" \
	'--(read|write) |script (is|lies)'

printf '%s\n' '{"tool":"t"}' '{"tool":"t"}' >two.jsonl
run_matins call --batch two.jsonl --read . "${python[@]}" write "$T/data/file"
hints "many refused calls: one line" 1

# ---- stderr and lines in errors ----

run_matins call t --json --read . "${python[@]}" die
exit_is "a server that dies: exit status 1" 1
json_is "a server that dies: its stderr in the error" \
	error.kind server_exit error.stderr $'starting\nthe last words'
TOKEN=opensesame run_matins tools --json --env TOKEN --read . -- \
	"$PYTHON" -c 'import sys; sys.exit("x" * 5000 + "\nthe end")'
json_is "a long stderr: its end" error.stderr 'the end'
run_matins tools --json --read . -- "$PYTHON" -c ''
json_is "no stderr: no member" error.kind server_exit error.stderr absent
run_matins call t --json --read . "${python[@]}" error "$T/data/file"
json_is "an answer of the server: no stderr" error.code -32000 \
	error.stderr absent error.line absent
cat >secret.toml <<-END
	[servers.s]
	command = "$PYTHON"
	args = ["-c", "import os, sys; sys.exit('token ' + os.environ['TOKEN'])"]
	env = { TOKEN = { env = "SECRET" } }
END
SECRET=opensesame run_matins tools --json -c secret.toml --server s
json_is "a secret on stderr: taken out" error.stderr 'token ***'
file_lacks "a secret on stderr: nowhere" "$out" opensesame
file_lacks "a secret on stderr: not on ours" "$err" opensesame

printf '%s\n' '{"tool":"t"}' '' '{"tool":"t"}' >lines.jsonl
run_matins call --batch lines.jsonl --no-list --read . "${python[@]}" \
	error "$T/data/file"
exit_is "--batch with errors: exit status 1" 1
sed -n 2p "$out" >second.json
json_file_is "--batch: an error has its line" second.json \
	error.kind rpc_error error.code -32000 error.line 3
run_matins call --batch lines.jsonl --no-list --read . "${python[@]}" die
head -n 1 "$out" >first.json
json_file_is "--batch: so has one without an answer" first.json \
	error.kind server_exit error.line 1 error.stderr '~last words'

# ---- no server at all ----

LIMIT_S=30 run_matins call t -- cat
exit_is "cat is no server: exit status 1" 1
err_like "cat is no server: it is said" 'repeats what it is sent'
err_like "cat is no server: and what that means" 'not an MCP server'
for protocol in 2025-11-25 2026-07-28; do
	LIMIT_S=30 run_matins tools --json --protocol $protocol -- cat
	json_is "cat, asked for $protocol" error.kind handshake \
		error.message '~repeats what it is sent'
done
run_matins tools --read . "${python[@]}" read
exit_is "its twin, a server: exit status 0" 0

# ---- an answer that was ordered and is impossible ----

run_matins call t --elicit accept --read . "${python[@]}" ask
exit_is "accept without a value: exit status 1" 1
out_is "accept without a value: what came of it" cancel
err_like "accept without a value: what was missing" \
	'asked for values, answered by cancel: Who\? \(name: no value was given'
err_like "accept without a value: what that means" \
	'that --elicit-content does not give'
run_matins call t -q --json --elicit-content '{"name":1}' --read . \
	"${python[@]}" ask
exit_is "accept with a value that does not fit: exit status 1" 1
json_is "accept with a value that does not fit: one document" \
	content[0].text cancel
err_like "a value that does not fit is named with --quiet, too" 'that --elicit-content does not give'
run_matins call --batch two.jsonl --elicit accept --read . "${python[@]}" ask
exit_is "in a batch: exit status 1" 1
is "in a batch: both results" "$(wc -l <"$out")" 2
run_matins call t --elicit-content '{"name":"Ada"}' --read . \
	"${python[@]}" ask
exit_is "its twin, with a value: exit status 0" 0
out_is "its twin, with a value: accepted" accept
for word in decline cancel; do
	run_matins call t --elicit $word --read . "${python[@]}" ask
	exit_is "$word is obeyed: exit status 0" 0
	out_is "the tool is told $word" $word
done
cat >ask.toml <<-END
	[servers.s]
	command = "$PYTHON"
	args = ["server.py", "ask"]
	sandbox = { read = ["."] }
	elicit = "accept"
	[[routines.r.steps]]
	name = "one"
	type = "mcp-client"
	server = "s"
	tool = "t"
END
run_matins call t -c ask.toml --server s
exit_is "the key elicit: exit status 1" 1
run_matins run r -c ask.toml
err_like "a step whose server asks has a hint" 'elicit = "accept" was not possible: .*Who\?'

# ---- tools that hang on what is declared ----

run_matins call other --read . "${python[@]}" read
err_like "an unknown tool: options that may offer more" \
	'no tool other \(some .* --elicit .*--root DIR, --sampling COMMAND\); it has t'
run_matins call other --elicit cancel --root . --read . "${python[@]}" read
err_like "an unknown tool: those that were not given" \
	'no tool other \(some .* with --sampling COMMAND\); it has t'
run_matins call tt --read . "${python[@]}" read
err_like "a slip: the nearest" 'no tool tt; did you mean t\?'

# ---- npm without a network ----

# shellcheck disable=SC2016
says='echo "[$npm_config_offline]"'
npm=$(type -P npm || true)
if [[ -n $npm && -n $NODE ]]; then
	echo '{}' >package.json
	mkdir -p node_modules/.bin
	run_matins tools -- npx no-such-mcp-server
	exit_is "npx of what is not installed: exit status 1" 1
	err_like "npx of what is not installed: what to do" \
		'no-such-mcp-server is not installed: npm install no-such-mcp-server'
	LIMIT_S=60 run_matins tools --preset npm -- npm install no-such-package
	exit_is "npm of what is not there: exit status 1" 1
	err_like "npm of what is not there: at once" 'ENOTCACHED'
	err_like "npm of what is not there: what to do" \
		'matins exec --preset npm --write . --net HOST -- npm install'
	run_matins exec --exec npx -- sh -c "$says"
	out_is "npm is told that there is no network" '[true]'
	# shellcheck disable=SC2016
	run_matins exec --exec npx -- \
		sh -c 'echo "[$npm_config_update_notifier]"'
	out_is "npx is told to look for no newer npm" '[false]'
	run_matins exec --exec npx --env npm_config_offline=false -- \
		sh -c "$says"
	out_is "unless it is told otherwise" '[false]'
	run_matins exec --exec npx --net 127.0.0.1:9 -- \
		sh -c "$says"
	out_is "npx with a network may look for a newer npm" '[]'
else
	skip "npm without a network" "npm is not installed"
fi
run_matins exec -- sh -c "$says"
out_is "programs without npm are told nothing of it" '[]'

# ---- refusals, whatever the answer was ----

tool_server fetch.py <<-'END'
	import socket
	text = "no connection was tried"
	if sys.argv[1] == "fetch":
	    try:
	        socket.create_connection(("127.0.0.1", 9))
	    except OSError:
	        text = "fetch failed"
END
run_matins call t -- "$PYTHON" fetch.py fetch
exit_is "an answer that only says fetch failed: exit status 0" 0
err_like "its refused connection is named with the option" \
	'denied: network .*to allow it: --net HOST'
run_matins call t -- "$PYTHON" fetch.py stay
exit_is "no connection tried: exit status 0" 0
err_unlike "no connection is named where none was tried" denied
cat >fetch.toml <<-END
	[[routines.r.steps]]
	name = "f"
	type = "mcp-client"
	command = "$PYTHON"
	args = ["fetch.py", "fetch"]
	tool = "t"
END
run_matins run -c fetch.toml r
exit_is "a step with that answer: exit status 0" 0
out_like "its refused connection is named in the report" 'denied: network '
out_like "with the form of the line" 'sandbox\.net = \["HOST"\]'
err_unlike "and not a second time on stderr" denied
run_matins run -c fetch.toml r --data
err_like "stderr names it where the report does not" \
	'f: denied: network .*name the host .*sandbox.net = \["HOST"\]'

# ---- a failure and its reason ----

cat >garbage.toml <<-'END'
	[[routines.r.steps]]
	name = "g"
	type = "mcp-client"
	command = "bash"
	args = ["-c", "echo Listening on port 3000; exit 4"]
	tool = "t"
END
run_matins run -c garbage.toml r
exit_is "a step whose stdout holds other lines fails" 2
err_like "the stray line of a server is quoted" \
	'g: its stdout held a line that is not an MCP message: Listening on port 3000'
run_matins call t -- bash -c 'echo Listening on port 3000; exit 4'
err_like "call quotes the stray line of a server" \
	'its stdout held a line that is not an MCP message: Listening on port 3000'

# set_mempolicy(2), which the profile refuses and programs live without
cat >mempolicy.py <<-'END'
	import ctypes, os, sys
	number = {"x86_64": 238, "aarch64": 237, "riscv64": 237}[os.uname().machine]
	ctypes.CDLL(None, use_errno=True).syscall(number, 0, None, 0)
	sys.exit(1)
END
run_matins exec -- "$PYTHON" mempolicy.py
exit_is "a program that fails after a refused probe: its exit status" 1
err_unlike "the probe is not sold as the reason" set_mempolicy
run_matins exec -v -- "$PYTHON" mempolicy.py
err_like "exec -v names a system call that was refused" 'denied: set_mempolicy'

run_matins exec --preset none --memory 1GiB --processes 9 -- bash -c '/usr/bin/ls /'
exit_is "a program that was refused: exit status" 126
err_unlike "no bound is made the reason" 'may have hit a limit'
# without a control group the kernel counts, and the program alone sees it
mkdir not-granted
cd not-granted || exit
run_matins exec --memory 64MiB -- "$PYTHON" -c 'x = []
while True: x.append(b"x" * (1 << 20))'
ok "more memory than the bound: it fails" test "$status" != 0
err_like "a bound that was set is named, wherever it was started" \
	'may have hit a limit.*--memory|^matins: memory: '
run_matins exec --memory 64MiB --processes 50 -- sh -c 'exit 1'
err_unlike "a bound that was far is not" 'limit|^matins: memory: '
cd .. || exit

# ---- names that a shell would read otherwise ----

cat >words.toml <<-'END'
	[[routines.r.steps]]
	name = "two words; x"
	type = "script"
	command = "sh"
	args = ["-c", "ls; exit 1"]
END
run_matins run -c words.toml r
out_like "the command of a hint names a step of two words as one" \
	"needs: matins trace -c .*words.toml r 'two words; x'\$"

# ---- a server of a configuration: its step can be traced ----

cat >traced.toml <<-END
	[servers.s]
	command = "$PYTHON"
	args = ["server.py", "write", "$T/data/file"]
	sandbox = { read = ["."] }
END
run_matins call s.t -c traced.toml
err_like "a server without a step: what was refused" "denied: write $T/data/file"
hints "a server without a step: no command that cannot work" 0
cat >>traced.toml <<-'END'
	[[routines.r.steps]]
	name = "other"
	type = "mcp-client"
	server = "s"
	tool = "u"
	[[routines.r.steps]]
	name = "w"
	type = "mcp-client"
	server = "s"
	tool = "t"
END
run_matins call s.t -c traced.toml
err_like "a server with a step of the tool: the step is named" \
	"needs: matins trace -c .*traced.toml r w\$"

done_testing
