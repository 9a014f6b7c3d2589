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
END

# ---- the list ----

run_matins servers --json
exit_is "the list is no failure, whatever the servers are" 0
json_is "every server is listed" servers '#8'
json_is "a program that is there" \
	servers[0].name good servers[0].kind program servers[0].state ok
json_is "unknown facts are null" servers[0].version null servers[0].tools null \
	servers[0].last_sync null servers[0].last_error null
json_is "no program is started: one that would fail is ok" servers[1].state ok
json_is "a program that is not there" servers[2].state "not installed"
json_is "a server that is switched off" servers[3].state '~^error: .*enabled'
json_is "a variable that is missing" servers[4].state '~^error: .*NO_SUCH_HOST'
json_is "a url that nothing asks a login of" servers[5].kind url \
	servers[5].state ok
json_is "a url with a client, and no token" servers[6].state "needs login"
json_is "a url with a token of the configuration" servers[7].state ok
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
run_matins servers test gone
exit_is "a server that is not installed" 1
run_matins servers test nobody
exit_is "an unknown server" 1
run_matins servers test off
exit_is "one that is switched off is not started" 1
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

done_testing
