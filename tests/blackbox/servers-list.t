#!/usr/bin/env bash
# `servers` lists the servers of the configuration with their state and starts
# none; `servers test` starts one.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

echo 'text = "fine"' | tool_server good.py
printf '%s\n' 'import sys' 'sys.exit(3)' >bad.py
cat >matins.toml <<-END
	[servers.good]
	command = "$PYTHON"
	args = ["good.py"]
	[servers.bad]
	command = "$PYTHON"
	args = ["bad.py"]
	[servers.gone]
	command = "no-such-program-at-all"
	[servers.off]
	command = "$PYTHON"
	enabled = false
	[servers.unset]
	url = "https://\${NO_SUCH_HOST}/mcp"
	[servers.remote]
	url = "https://mcp.example.com/mcp"
	[servers.login]
	url = "https://mcp.example.com/other"
	auth = { client_id = "me" }
	[servers.token]
	url = "https://mcp.example.com/third"
	token = { env = "SOME_TOKEN" }
	auth = { client_id = "me" }
	[servers.keyless]
	command = "$PYTHON"
	args = ["good.py"]
	env = { K = { file = "nokey" } }
	[servers.varless]
	command = "$PYTHON"
	args = ["good.py"]
	env = { OTHER = { env = "SOME_KEY" }, MADE = { cmd = "no-such-program-at-all" } }
	[servers.header]
	url = "https://mcp.example.com/fourth"
	headers = { X-Key = { env = "SOME_KEY" } }
END
export SOME_TOKEN=value-of-the-token

# ---- the list ----

run_matins servers --json
exit_is "the list is no failure, whatever the servers are" 0
json_is "every server is listed" servers '#11'
json_is "a program that is there" \
	servers[0].name good servers[0].kind program servers[0].state ok
json_is "unknown facts are null" servers[0].version null servers[0].tools null \
	servers[0].last_sync null servers[0].last_error null
json_is "no program is started: one that would fail is ok" servers[1].state ok
json_is "a program that is not there" servers[2].state "not installed"
json_is "a server that is switched off" servers[3].state disabled
json_is "a variable that is missing" servers[4].state '~^error: .*NO_SUCH_HOST'
json_is "a url that nothing asks a login of" servers[5].kind url \
	servers[5].state ok
json_is "a url with a client, and no token" servers[6].state "needs login"
json_is "a url with a token of the configuration" servers[7].state ok
json_is "a file of a credential that is not there" \
	servers[8].state "error: file $T/nokey: No such file or directory"
json_is "a variable of a credential that is not set" \
	servers[9].state "error: SOME_KEY is not set"
json_is "a header that is not set" servers[10].state "error: SOME_KEY is not set"
out_unlike "no value is shown" 'value-of-the-token'
echo key >nokey
SOME_TOKEN='' SOME_KEY=x run_matins servers --json
json_is "a token that is empty" servers[7].state "error: SOME_TOKEN is empty"
json_is "a file that is there now" servers[8].state ok
json_is "a variable that is set now" servers[9].state ok
json_is "a header that is set now" servers[10].state ok
rm nokey
MATINS_ALLOW='' run_matins servers --json
json_is "a file that was not allowed: no path of it is looked at" servers[8].state ok
run_matins servers
exit_is "for people" 0
out_like "a line each" '^good +program +ok$'
out_like "the state of one that is missing" '^gone +program +not installed$'
: >empty.toml
run_matins servers -c empty.toml
exit_is "a configuration without servers" 0
err_like "it is said" 'no servers'
run_matins servers --json -c none.toml
exit_is "no configuration" 1
json_is "the error is JSON, too" error.kind present

run_matins sync good
run_matins servers
out_like "one tool is one" '^good +program +1 tool +20[^ ]+ +ok$'

# ---- test ----

run_matins servers test good
exit_is "a server that answers" 0
out_like "name, version, protocol, tools, time" \
	'^good: ok, s 1, MCP 2025-11-25, 1 tool, handshake [0-9]+ ms, list [0-9]+ ms$'
run_matins servers test good --json
json_is "as JSON" server good state ok name s version 1 protocol 2025-11-25 \
	tools 1 handshake_ms present list_ms present
run_matins servers test bad
exit_is "a server that ends" 1
run_matins servers test bad --json
json_is "its error is JSON" error.kind present
run_matins servers --json
json_is "the list says so until it answers" \
	servers[1].state '~^error: .*status 3 before the answer to initialize' \
	servers[1].last_error '~status 3' servers[1].tools null
run_matins servers
out_like "for people: once" '^bad +program +error: .*to initialize$'
cp bad.py kept.py
cp good.py bad.py
run_matins call bad.t --no-list
exit_is "it answers a call" 0
run_matins servers --json
json_is "then the list says ok" servers[1].state ok servers[1].last_error null
cp kept.py bad.py
run_matins call bad.t
exit_is "a call of one that ends" 1
run_matins servers --json
json_is "the list says so after a call, too" servers[1].state '~^error: '
cp good.py bad.py
run_matins servers test bad
run_matins servers --json
json_is "a test that passes ends it" servers[1].state ok
cat >bad.py <<-'END'
	import json, sys
	GOOD = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
	                   "serverInfo": {"name": "s", "version": "1"}}}
	for line in sys.stdin:
	    m = json.loads(line)
	    it = GOOD if m["method"] == "initialize" else {"error": {"code": 1, "message": "no"}}
	    if "id" in m:
	        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **it}), flush=True)
END
run_matins servers test bad
exit_is "a server that gives no list" 1
run_matins servers --json
json_is "the list says so after a test" servers[1].state '~^error: .*list'
cp kept.py bad.py
run_matins servers test gone
exit_is "a server that is not installed" 1
run_matins servers test nobody
exit_is "an unknown server" 1
run_matins servers test off
exit_is "one that is switched off is not started" 1

# ---- a server that has no method to begin with ----

cat >bare.py <<-'END'
	import http.server, json, sys
	def answer(text):
	    m = json.loads(text)
	    if m["method"] == "tools/list":
	        it = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
	    elif m["method"] == "tools/call":
	        it = {"content": [{"type": "text", "text": "bare words"}]}
	    else:
	        it = None
	    found = {"result": it} if it else {"error": {"code": -32601,
	        "message": "Method not found"}}
	    return json.dumps({"jsonrpc": "2.0", "id": m.get("id"), **found})
	class Handler(http.server.BaseHTTPRequestHandler):
	    def do_POST(self):
	        body = answer(self.rfile.read(int(self.headers["Content-Length"])))
	        self.send_response(401 if self.path == "/closed" else 200)
	        self.send_header("Content-Type", "application/json")
	        self.send_header("Content-Length", str(len(body)))
	        self.end_headers()
	        self.wfile.write(body.encode())
	    def log_message(self, *_):
	        pass
	if len(sys.argv) > 1:
	    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
	    print(server.server_port, flush=True)
	    server.serve_forever()
	for line in sys.stdin:
	    if '"id"' in line:
	        print(answer(line), flush=True)
END
coproc BARE { exec "$PYTHON" bare.py http; }
trap 'kill "$BARE_PID" 2>/dev/null; _finish' EXIT
read -r port <&"${BARE[0]}"
cat >bare.toml <<-END
	[servers.bare]
	command = "$PYTHON"
	args = ["bare.py"]
	[servers.url]
	url = "http://127.0.0.1:$port/mcp"
	[servers.closed]
	url = "http://127.0.0.1:$port/closed"
	[servers.pinned]
	command = "$PYTHON"
	args = ["bare.py"]
	protocol = "2025-06-18"
	[[routines.r.steps]]
	name = "one"
	type = "mcp-client"
	server = "bare"
	tool = "t"
END
for server in bare url; do
	run_matins servers test $server -c bare.toml
	exit_is "$server: a server without a handshake answers" 0
	out_like "$server: the line says what is assumed" \
		'ok, without a name, MCP [-0-9]+ \(assumed: it has no initialize\), 1 tool'
	run_matins call t -s $server -c bare.toml
	out_like "$server: its tool is called" 'bare words'
done
run_matins servers test bare --json -c bare.toml
json_is "as JSON: no handshake" state ok handshake false
run_matins servers test good --json
json_is "a handshake is not mentioned" handshake absent
run_matins servers test pinned -c bare.toml
exit_is "a date that is pinned is agreed, or nothing" 1
run_matins run r --json -c bare.toml
json_is "the report says it among the oddities" step_results[0].state ok \
	step_results[0].run.mcp.handshake false \
	step_results[0].run.mcp.oddities '!0'
run_matins doctor --deep r -c bare.toml
out_like "the doctor says it" 'no initialize'
run_matins sync bare -c bare.toml
exit_is "its tools are in the catalogue" 0
run_matins servers --json -c bare.toml
json_is "nothing is known of a login" servers[2].state ok
for command in "sync closed" "servers test closed"; do
	# shellcheck disable=SC2086
	run_matins $command -c bare.toml
	exit_is "$command: a server that wants a login" 1
	run_matins servers --json -c bare.toml
	json_is "$command: the list says so" servers[2].state "needs login" \
		servers[2].last_error '~authorization is needed'
	rm -r "$XDG_STATE_HOME/matins/catalogue"
done

mkdir plain
cd plain || exit
run_matins servers test -- "$PYTHON" "$T/good.py"
exit_is "a target needs no configuration" 0
out_like "it is tested" '^the server: ok, s 1,'
cd ..
run_matins servers test
exit_is "no name and no target" 64
run_matins servers test good --server good
exit_is "two names" 64
run_matins servers probe good
exit_is "another word" 64
run_matins servers -- "$PYTHON" good.py
exit_is "a target without test" 64

"$BIN" __complete servers '' >"$out"
out_like "completion: the word" '^test'
"$BIN" __complete servers test '' >"$out"
out_like "completion: names" '^good$'

cat >shut.toml <<-'END'
	[servers.box]
	command = "docker"
	args = ["run", "box"]
	[servers.hidden]
	command = "true"
	args = ["--token", "***"]
END
run_matins servers -c shut.toml
out_like "a container without its socket does not start" '^box .*error: a container needs its socket'
out_like "nor does a server with a gap for a credential" '^hidden .*error: an argument is \*\*\*'

done_testing
