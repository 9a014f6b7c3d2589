#!/usr/bin/env bash
# Remote servers from the command line and in routines: the official server
# over Streamable HTTP and over HTTP+SSE, a WebSocket server, and what is
# refused before anything is sent.
. "${BASH_SOURCE%/*}/lib.sh"

npm=$TOP/build/npm
everything=$npm/node_modules/@modelcontextprotocol/server-everything/dist
[[ -n $NODE ]] || skip_all "node is not installed: make check-deps"
[[ -d $everything ]] || skip_all "the servers are not installed: make check"

pids=()
end_servers() {
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	pids=()
}
trap 'end_servers; _finish' EXIT

# A port that was free a moment ago.
free_port() {
	"$PYTHON" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

wait_for_port() {
	local i

	for i in $(seq 200); do
		(: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
		sleep 0.05
	done
	echo "# nobody listens on port $1 after 10 s ($i)"
}

# serve_everything MODE: the official server; its port is in $port
serve_everything() {
	port=$(free_port)
	PORT=$port "$NODE" "$everything/index.js" "$1" >"$T/server.log" 2>&1 &
	pids+=($!)
	wait_for_port "$port"
}

# serve_websocket [MODE…]: our bridge to a real WebSocket server
serve_websocket() {
	local line

	coproc WS { exec "$NODE" "$npm/websocket.mjs" "$@" 2>"$T/ws.log"; }
	pids+=("$WS_PID")
	read -r -t 20 line <&"${WS[0]}"
	port=$line
}

# ---- Streamable HTTP ----

serve_everything streamableHttp
url=http://127.0.0.1:$port/mcp

run_matins tools --url "$url"
exit_is "tools over Streamable HTTP: 0" 0
out_like "the tools of a remote server are listed" '^echo'
run_matins call echo message=hé --url "$url"
exit_is "a call over Streamable HTTP: 0" 0
out_like "the answer over Streamable HTTP is printed" '^Echo: hé$'
run_matins call echo message=bare --url "$url" --header 'X-Empty:'
exit_is "a header without a value goes with it: 0" 0
mkdir folder
run_matins call get-roots-list --url "$url" --root folder
exit_is "a root needs no grant, for nothing is started: 0" 0
out_like "the server is told about the root" "URI: file://$T/folder"
run_matins call get-roots-list --url "$url" --root nowhere
exit_is "a root that is not there: 64" 64
run_matins tools --server "$url"
exit_is "a URL as the name of a server: 64" 64
err_like "the message names --url for a URL" 'use --url for a URL'
run_matins call echo message=bare --url "$url" --header 'X Empty:'
exit_is "a header without a name is refused: 64" 64
run_matins call get-sum a=2 b=40 --url "$url" --json
json_is "types of arguments come from the schema" content[0].text "~"'42'
run_matins call trigger-long-running-operation duration:=1 steps:=4 \
	--url "$url"
exit_is "a call with progress on its stream: 0" 0
run_matins resources --url "$url" --json
exit_is "the resources of a remote server are read" 0
uri=$("$PYTHON" -c 'import json, sys
print(json.load(open(sys.argv[1]))["resources"][0]["uri"])' "$out")
run_matins read "$uri" --url "$url"
exit_is "a resource is read: 0" 0
run_matins prompts --url "$url"
exit_is "the prompts of a remote server are listed" 0
run_matins prompt simple-prompt --url "$url"
exit_is "a prompt of a remote server is printed" 0
run_matins call nothing-of-this-name --url "$url"
exit_is "a tool that is not there: 1" 1
run_matins call trigger-elicitation-request --elicit accept \
	--elicit-content '{"name":"Ada"}' --url "$url"
exit_is "a question of the server on its stream is answered" 0
out_like "the server receives what the policy gave" Ada
printf '%s\n' '{"tool":"echo","arguments":{"message":"one"}}' \
	'{"tool":"echo","arguments":{"message":"two"}}' >lines.batch
run_matins call --batch lines.batch -j 2 --url "$url"
exit_is "many calls in one session: 0" 0
out_like "the first answer of the batch is printed" 'Echo: one'
out_like "the second answer of the batch is printed" 'Echo: two'

cat >remote.toml <<END
[servers.all]
url = "$url"
[routines.two]
[[routines.two.steps]]
name = "first"
type = "mcp-client"
server = "all"
tool = "echo"
params = { message = "from a step" }
[[routines.two.steps]]
name = "second"
type = "mcp-client"
server = "all"
tool = "get-sum"
params = { a = 2, b = 40 }
END
run_matins check remote.toml
exit_is "a configuration with a url is right" 0
run_matins run -c remote.toml two --json
exit_is "a routine with remote steps: 0" 0
json_is "the first step is ok" step_results[0].state ok
json_is "the first step has its answer" step_results[0].output "~"'from a step'
json_is "the second shares its session" step_results[1].run.session_of first
json_is "the report names the url" step_results[0].run.url "~""$url"
run_matins step -c remote.toml two second
exit_is "one step alone: 0" 0
run_matins call echo message=named -c remote.toml --server all
exit_is "a remote server is called by its name" 0
run_matins run -c remote.toml two --dry-run
exit_is "a dry run: 0" 0
out_like "a dry run says what it would call" \
	'^  would call: echo of the remote server all with \{"message":"from a step"\}$'
run_matins trace -c remote.toml two first
exit_is "a remote step cannot be traced" 64
err_like "the message says that there is no program to trace" 'no program to trace'
run_matins list -c remote.toml --servers
out_is "list --servers names the remote server" all
end_servers

run_matins call echo message=x --url "$url" --timeout 5
exit_is "nobody listens there any more: 1" 1
err_like "the message names the address where nobody listens" "127.0.0.1"
run_matins run -c remote.toml two --json
exit_is "a routine fails where nobody listens" 2
json_is "the step fails for its transport" step_results[0].reason transport

# ---- HTTP+SSE of 2024-11-05 ----

serve_everything sse
url=http://127.0.0.1:$port/sse
run_matins call echo message=old --url "$url"
exit_is "a call over HTTP+SSE, which is found out: 0" 0
out_like "the answer over HTTP+SSE is printed" '^Echo: old$'
run_matins call echo message=named --url "$url" --transport sse
exit_is "a call works with --transport sse" 0
run_matins call echo message=x --url "$url" --transport http
exit_is "a call fails where --transport http does not fit" 1
end_servers

# ---- WebSocket ----

serve_websocket
run_matins call echo --url "ws://127.0.0.1:$port/mcp"
exit_is "a call over WebSocket: 0" 0
out_like "the answer over WebSocket is printed" '^hello$'
run_matins call echo --url "http://127.0.0.1:$port/mcp" --transport websocket
exit_is "a call works with --transport websocket" 0
run_matins call echo --url "http://127.0.0.1:$port/mcp"
exit_is "a WebSocket server refuses plain HTTP" 1
end_servers
serve_websocket close-on-call
run_matins call echo --url "ws://127.0.0.1:$port/"
exit_is "a connection that ends in a call: 1" 1
err_like "the message says that the outcome is unknown" 'unknown'
end_servers
serve_websocket wrong-protocol
run_matins call echo --url "ws://127.0.0.1:$port/"
exit_is "a server that picks another sub-protocol is refused" 1
err_like "the message names the sub-protocol" 'sub-protocol'
end_servers
serve_websocket token secret-of-the-socket
run_matins call echo --url "ws://127.0.0.1:$port/" \
	--header 'Authorization: Bearer secret-of-the-socket'
exit_is "credentials go with the handshake: 0" 0
run_matins call echo --url "ws://127.0.0.1:$port/" --header 'X-Empty:' \
	--header 'Authorization: Bearer secret-of-the-socket'
exit_is "a header without a value goes with it, too: 0" 0
run_matins call echo --url "ws://127.0.0.1:$port/" \
	--header 'Authorization: Bearer wrong-for-the-socket'
exit_is "a call with wrong headers fails" 1
err_like "the message has the status of the refusal" 401
err_unlike "the credential is in no message" 'wrong-for-the-socket'
end_servers

# ---- what is refused ----

run_matins tools --url http://example.com/mcp
exit_is "plain http beyond loopback: 1" 1
err_like "the message says to use https" 'https://'
run_matins tools --url 'https://user:word@example.com/'
exit_is "user information in a URL: 1" 1
err_unlike "the message does not repeat the password" 'word@'
run_matins tools --url 'ftp://example.com/'
exit_is "a URL of an unknown scheme is refused" 1
MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":"all","net":{"only":["example.org"]},"max_calls":"unlimited","valid_for_generation":"all"}' \
	run_matins tools --url https://example.com/
exit_is "a host that the leash does not name: 1" 1
err_like "the message says what to add to net" 'net'
run_matins tools --browser x -- "$PEER"
exit_is "an option for URLs with a program: 64" 64
run_matins tools --read / --url https://example.com/
exit_is "an option for programs with a URL: 64" 64
run_matins tools --url https://example.com/ -- "$PEER"
exit_is "a URL and a program: 64" 64

done_testing
