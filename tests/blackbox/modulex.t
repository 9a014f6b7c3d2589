#!/usr/bin/env bash
# Configurations in the spelling of others run as they are; servers by name,
# pinned revisions, working directories, and how a busy routine is met.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# ---- a configuration of modulex ----

script query <<-'END'
	expect initialize
	raw {"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}}\n
	expect notifications/initialized
	call from the tool
END
script good <<-'END'
	handshake
	call from the server
END
mkdir -p "$HOME/.modulex"
cat >"$HOME/.modulex/config.toml" <<-END
	[identity]
	name = "x"
	[mcp_servers.db]
	command = "$PEER"
	args = ["$T/good.peer"]
	[routines.morning]
	description = "as it was"
	[[routines.morning.steps]]
	name = "plain"
	type = "script"
	command = "echo"
	args = ["from the script"]
	[[routines.morning.steps]]
	name = "wrapped"
	type = "harness"
	command = "echo"
	args = ['{"summary":"from the harness","n":1}']
	[[routines.morning.steps]]
	name = "asked"
	type = "mcp-query"
	server = "db"
	tool = "t"
	arguments = { a = 1 }
	[countdowns]
	a = 1
END
run_matins run morning --json
exit_is "modulex: exit status 0" 0
json_is "modulex: every step type runs" success true \
	step_results[0].output "from the script" \
	step_results[1].output "from the harness" \
	step_results[1].data.n 1 \
	step_results[0].data '{"exit_code":0}' \
	step_results[2].output "from the server" \
	step_results[2].step_type mcp-client
json_is "modulex: server and tool of an MCP step stand in its run" \
	step_results[2].run.server db step_results[2].run.tool t

# There a `command` beside `server` only joins what may be started.
sed -i 's|^server = "db"|&\ncommand = "cat"|' "$HOME/.modulex/config.toml"
run_matins check
exit_is "mcp-query with server and command: good" 0
err_like "mcp-query with server and command: check says which counts" \
	':[0-9]+:1: warning: both "command" and "server": the server is called'
run_matins run morning --json
exit_is "mcp-query with server and command: exit status 0" 0
json_is "mcp-query with server and command: the server is called" \
	step_results[2].output "from the server" step_results[2].run.server db
MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":{"only":["cat","echo"]},"net":"all","max_calls":"unlimited","valid_for_generation":"all"}' \
	run_matins run morning --json
json_is "mcp-query with server and command: the leash is asked for the server" \
	step_results[2].state denied step_results[2].reason leash \
	step_results[2].run.server db step_results[2].run.tool t
sed 's/"mcp-query"/"mcp-client"/; s/^arguments/params/' \
	"$HOME/.modulex/config.toml" >both.toml
run_matins check both.toml
exit_is "mcp-client with server and command: an error" 1
err_like "mcp-client with server and command: keep one" \
	'^both\.toml:18:1: both "command" and "server"; keep one'

# ---- step types that are not there ----

cat >types.toml <<-'END'
	[shared]
	repos = ["~/a"]
	[[shared.gitlab_groups]]
	name = "group"
	[[deadlines]]
	label = "CFP"
	[routines.morning]
	[[routines.morning.steps]]
	name = "tend"
	type = "git-tend"
	parallel = true
	[[routines.morning.steps]]
	name = "trees"
	type = "project-status"
	parallel = true
	[[routines.morning.steps]]
	name = "queue"
	type = "gitlab-mr-review"
	env = { GITLAB_TOKEN = { cmd = "pass show ${NOT_SET}" } }
	[[routines.morning.steps]]
	name = "sla"
	type = "mr-sla-check"
	response_hours = 24
	[[routines.morning.steps]]
	name = "plugin"
	type = "gpu-check"
	script = "~/plugins/${NOT_SET}.py"
	[[routines.morning.steps]]
	name = "weather"
	type = "script"
	command = "echo"
	args = ["sunny"]
	[routines.other]
	[[routines.other.steps]]
	name = "s"
	type = "script"
	command = "echo"
	args = ["hi"]
	[routines.all]
	[[routines.all.steps]]
	name = "t"
	type = "board-scan"
END
run_matins run -c types.toml morning --json
exit_is "a step type of modulex: the others run" 0
json_is "a step type of modulex: its step is skipped with a pointer" \
	step_results '#6' step_results[0].reason unsupported \
	step_results[0].step_type git-tend step_results[0].skipped true \
	step_results[1].error '~project-status.*tool = "repos"' \
	step_results[2].reason unsupported step_results[3].reason unsupported \
	step_results[4].reason unsupported step_results[5].output sunny
run_matins run -c types.toml morning --only weather
exit_is "a step type of modulex: --only another step" 0
run_matins run -c types.toml morning --only tend
exit_is "a step type of modulex: --only it: nothing ran" 2
run_matins run -c types.toml other
exit_is "a step type of modulex: another routine" 0
run_matins run -c types.toml all
exit_is "every step of such a type: exit status 2" 2
out_like "every step of such a type: nothing ran" '— nothing ran$'
run_matins run -c types.toml morning --dry-run
exit_is "a step type of modulex: a dry run" 0
sed 's/"git-tend"/&\nrequired = true/' types.toml >required.toml
run_matins run -c required.toml morning --json
exit_is "a required step of such a type: a failure" 2
json_is "a required step of such a type: said" \
	step_results[0].success false step_results[0].reason unsupported
run_matins list -c types.toml
exit_is "a step type of modulex: list" 0
run_matins doctor -c types.toml all
exit_is "a step type of modulex: doctor" 0
out_like "a step type of modulex: doctor names it" \
	'warning all/t +skipped: board-scan is not a step type'
run_matins doctor -c required.toml
exit_is "a required step of such a type: doctor" 1
run_matins trace -c types.toml morning tend
exit_is "a step type of modulex: trace" 64
err_like "a step type of modulex: trace says why" 'tend would be skipped: .*git-tend'
run_matins check types.toml
exit_is "a step type of modulex: check" 0
err_like "a step type of modulex: check warns, with the place" \
	'^types\.toml:8:1: warning: step "tend" is skipped: "git-tend" is a step'
sed 's/git-tend/scirpt/; s/project-status/my-plugin/' types.toml >typo.toml
run_matins check typo.toml
exit_is "a step type that nobody knows: an error" 1
err_like "a step type that nobody knows: the nearest name" \
	'^typo\.toml:10:8: unknown step type "scirpt"; did you mean "script"\?$'
err_like "a step type that nobody knows: without one" \
	'^typo\.toml:14:8: unknown step type "my-plugin"; `matins steps` lists'
run_matins run -c typo.toml other
exit_is "a step type that nobody knows: nothing runs" 1
run_matins run -c typo.toml morning --lax --json
exit_is "a step type that nobody knows, --lax: the others run" 0
json_is "a step type that nobody knows, --lax: skipped" \
	step_results[0].reason unsupported step_results[0].step_type scirpt \
	step_results[1].reason unsupported step_results[5].output sunny
err_like "a step type that nobody knows, --lax: a warning" \
	'warning: typo\.toml:10:8: unknown step type "scirpt"'

# ---- servers ----

cat >servers.toml <<-END
	[mcp_servers.a]
	command = "$PEER"
	args = ["$T/good.peer"]
	[servers.b]
	command = "$PEER"
	args = ["$T/good.peer"]
	[[routines.r.steps]]
	name = "one"
	type = "mcp-client"
	server = "a"
	tool = "t"
	[[routines.r.steps]]
	name = "two"
	type = "mcp-client"
	server = "b"
	tool = "t"
END
run_matins run -c servers.toml r --json
exit_is "[mcp_servers] beside [servers]: exit status 0" 0
json_is "[mcp_servers] beside [servers]: both answer" \
	step_results[0].output "from the server" \
	step_results[1].output "from the server"
sed 's/"b"/"c"/' servers.toml >unknown.toml
run_matins run -c unknown.toml r
exit_is "a server that is in neither: exit status 1" 1
err_like "a server that is in neither: its place" \
	'unknown\.toml:15:10: there is no server "c"'

# ---- a pinned revision ----

pinned() {
	peer_step one query 'tool = "t"' "protocol = \"$1\"" >pin.toml
	run_matins run -c pin.toml r --json
}
pinned 2025-06-18
exit_is "a pinned revision: exit status 0" 0
json_is "a pinned revision: it is spoken" \
	step_results[0].output "from the tool" \
	step_results[0].run.mcp.protocol 2025-06-18
pinned 1999-01-01
exit_is "a revision that nobody knows: exit status 2" 2
json_is "a revision that nobody knows: said" step_results[0].state failed \
	step_results[0].reason handshake step_results[0].error '~1999-01-01'
pinned yesterday
exit_is "no revision at all: exit status 1" 1
err_like "no revision at all: what is due" '"protocol" must be "auto" or a date'

# ---- the working directory ----

mkdir shown hidden
cat >cwd.toml <<-'END'
	[[routines.r.steps]]
	name = "one"
	type = "script"
	command = "pwd"
	cwd = "shown"
	sandbox = { read = ["shown"] }
END
run_matins run -c cwd.toml r --json
exit_is "cwd that is granted: exit status 0" 0
json_is "cwd that is granted: it is there" step_results[0].output "$T/shown"
sed 's/cwd = "shown"/cwd = "hidden"/' cwd.toml >hidden.toml
run_matins check hidden.toml
exit_is "cwd that is not granted: a warning of check" 0
err_like "and where" \
	"^hidden.toml:1:1: warning: cwd $T/hidden: it .*; to start there add it to .sandbox.read."
run_matins check cwd.toml
err_is "check: its twin" ""
run_matins run -c hidden.toml r --json
exit_is "cwd that is not granted: exit status 2" 2
json_is "cwd that is not granted: denied, with the folder" \
	step_results[0].state denied step_results[0].reason policy \
	step_results[0].error "~$T/hidden"

# ---- a single step ----

run_matins step -c servers.toml r two --only two --json
exit_is "step takes the options of run" 0
json_is "step --only runs one step" step_results '#1' step_results[0].step_name two
run_matins step -c servers.toml r two --only one
exit_is "step --only of another step is wrong usage" 64

# ---- busy ----

busy() {
	cat >busy.toml <<-END
		[routines.r]
		on_busy = "$1"
		[[routines.r.steps]]
		name = "one"
		type = "script"
		command = "cat"
		args = ["$T/fifo"]
		sandbox = { read = ["$T/fifo"] }
	END
	rm -f fifo
	mkfifo fifo
	chmod 644 fifo
	timeout 30 "$BIN" run -c busy.toml r --json >first.json 2>first.err &
	first=$!
	# opening it for writing waits for the first run to read
	timeout 20 bash -c 'exec 3>"$1"; echo 1 >"$1.open"; read -r _ <"$1.go"; echo x >&3' \
		_ "$T/fifo" &
	writer=$!
	[[ -p fifo.go ]] || mkfifo fifo.go
	wait_for 15 test -e fifo.open || echo "# the first run does not read"
}
release() {
	timeout 5 bash -c 'echo >"$1"' _ "$T/fifo.go"
	wait $first $writer
	rm -f fifo.open
}
mkfifo fifo.go
busy skip
run_matins run -c busy.toml r --json
exit_is "on_busy = skip: exit status 0" 0
json_is "on_busy = skip: says that it is busy" busy true
release
json_file_is "on_busy = skip: the first is whole" first.json success true
busy fail
run_matins run -c busy.toml r --json
exit_is "on_busy = fail: exit status 75" 75
json_is "on_busy = fail: said" error.kind busy
release
busy wait
timeout 30 "$BIN" run -c busy.toml r --json >second.json 2>/dev/null </dev/null &
second=$!
sleep 0.3
ok "on_busy = wait: it waits" kill -0 $second
ok "on_busy = wait: and has printed nothing" test ! -s second.json
timeout 5 bash -c 'echo >"$1"' _ "$T/fifo.go"
wait $first $writer
echo again >fifo &
wait $second
is "on_busy = wait: exit status 0" "$?" 0
json_file_is "on_busy = wait: then it runs" second.json success true \
	step_results[0].output again

done_testing
