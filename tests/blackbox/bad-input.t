#!/usr/bin/env bash
# Whatever a program, a server, a file or a user gets wrong: a state, a reason
# and a sentence that says what to do, and the other steps lose nothing.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# one for each step: steps with the same server would share its session
for name in good good-too; do
	script "$name" <<-'END'
		handshake
		call kept to the last byte
	END
done
script silent <<-'END'
	hang
END

# bad NAME STATE REASON ERE <<<STEP: run `before`, the step called `bad`, and
# `after`; the bad one has that state, reason and a sentence that matches.
bad() {
	local name=$1 state=$2 reason=$3 sentence=$4

	{
		peer_step before good 'tool = "t"'
		cat
		peer_step after good-too 'tool = "t"'
	} >r.toml
	run_matins run -c r.toml r --json
	json_is "$name: $state, $reason" \
		step_results[1].step_name bad \
		step_results[1].state "$state" \
		step_results[1].reason "$reason"
	json_is "$name: the error explains the reason" step_results[1].error "~$sentence"
	json_is "$name: the other steps are whole" \
		step_results '#3' \
		step_results[0].output "kept to the last byte" \
		step_results[2].output "kept to the last byte" \
		step_results[0].state ok step_results[2].state ok
	nothing_left "$name: no process is left" "$T/"
}

failing() {
	bad "$@"
	exit_is "$1: exit status 2" 2
	json_is "$1: no false green" success false summary '~1 failed$'
}

# ---- the program ----

bad "a program that is missing" skipped no_command 'no-such-program' <<-'END'
	[[routines.r.steps]]
	name = "bad"
	type = "mcp-client"
	command = "no-such-program-anywhere"
END
exit_is "missing program: a skip is no failure" 0
json_is "missing program: counted as skipped" \
	summary "r: 2 ran, 1 skipped, 0 failed"

bad "missing program that is required" skipped no_command 'no-such' <<-'END'
	[[routines.r.steps]]
	name = "bad"
	type = "mcp-client"
	command = "no-such-program-anywhere"
	required = true
END
exit_is "missing program that is required: exit status 2" 2

cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "only"
	type = "script"
	command = "no-such-program-anywhere"
END
run_matins run -c r.toml r --json
exit_is "nothing ran: exit status 2" 2
json_is "the summary says that nothing ran" \
	success false summary '~nothing ran$'
run_matins run -c r.toml r --json --allow-empty
exit_is "nothing ran, --allow-empty: exit status 0" 0

echo 'echo hello' >plain
chmod 644 plain
failing "a program that is not executable" denied policy 'plain' <<-END
	[[routines.r.steps]]
	name = "bad"
	type = "script"
	command = "$T/plain"
END
cp /bin/true writable
chmod 777 writable
failing "program writable by others" denied policy 'writ' <<-END
	[[routines.r.steps]]
	name = "bad"
	type = "script"
	command = "$T/writable"
END

export MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":{"only":["'$PEER'"]},"net":"all","max_calls":"unlimited","valid_for_generation":"all"}'
failing "denied by the leash" denied leash '/bin/true' <<-'END'
	[[routines.r.steps]]
	name = "bad"
	type = "script"
	command = "/bin/true"
END
err_like "denied by the leash: stderr says where it came from" MATINS_CAVEATS
unset MATINS_CAVEATS

script exit3 <<-'END'
	stderr last words
	exit 3
END
failing "a program that exits with status 3" failed exit_status 'status 3' \
	< <(peer_step bad exit3)
json_is "exit status 3: stderr is kept" \
	step_results[1].run.stderr.tail '~last words'
script exit3-result <<-'END'
	raw {"content":[{"type":"text","text":"still here"}]}
	exit 3
END
failing "exit status 3 after a result" failed exit_status 'status 3' \
	< <(peer_step bad exit3-result)
json_is "exit status 3 after a result: the result stays" \
	step_results[1].data.content[0].text "still here"

script killed <<-'END'
	raw {"content":[]}
	kill SEGV
END
failing "killed by a signal" failed signal 'SIGSEGV' < <(peer_step bad killed)

# ---- standard output in subprocess mode ----

script nothing <<-'END'
	raw  \n
END
failing "a program that prints nothing" failed not_json 'empty' < <(peer_step bad nothing)
script garbage <<-'END'
	raw hello, world\n
END
failing "a program that prints no JSON" failed not_json 'JSON' < <(peer_step bad garbage)
script truncated <<-'END'
	raw {"content":[{"type":"text","te
END
failing "a program whose JSON is cut off" failed not_json 'JSON' < <(peer_step bad truncated)
script utf8 <<-'END'
	raw {"content":[{"type":"text","text":"\xff\xfe"}]}
END
failing "a program that prints invalid UTF-8" failed not_json 'UTF-8' < <(peer_step bad utf8)
script two <<-'END'
	raw {"content":[]}\n{"content":[]}\n
END
failing "a program that prints two JSON values" failed not_json 'one JSON value' \
	< <(peer_step bad two)
for shape in '{}' '{"answer":42}' '[1,2]' '"text"' 'null' '{"content":"text"}' \
	'{"content":[],"isError":"no"}' \
	'{"jsonrpc":"2.0","id":1,"result":{"x":1}}'; do
	echo "raw $shape" | script shape
	failing "a result of the wrong shape: $shape" failed not_call_tool_result \
		'CallToolResult' < <(peer_step bad shape)
done
script rpc-error <<-'END'
	raw {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}
END
failing "a result that is a JSON-RPC error" failed rpc_error '-32602.*no such tool' \
	< <(peer_step bad rpc-error)
script flood <<-'END'
	raw {"content":[{"type":"text","text":"
	flood 209715200
	raw "}]}
END
failing "a program that prints 200 MiB" failed output_limit '64 ?MiB|67108864' \
	< <(peer_step bad flood)
script deep <<-'END'
	raw {"content":
	flood 100000 [
END
failing "a result that is nested without end" failed not_json 'nested too deep at' \
	< <(peer_step bad deep)

# ---- a server ----

script banner <<-'END'
	banner
	handshake
	lines 3 a stray log line
	expect tools/call
	banner
	text in spite of it all
END
{
	peer_step before good 'tool = "t"'
	peer_step bad banner 'tool = "t"'
} >r.toml
run_matins run -c r.toml r --json
exit_is "a server that prints banners: exit status 0" 0
json_is "a server that prints banners: the answer counts" \
	step_results[1].state ok \
	step_results[1].output "in spite of it all" \
	step_results[1].run.mcp.skipped_lines '!0'

script dies-before <<-'END'
	stderr cannot open the database
	exit 7
END
failing "a server that dies before the handshake" failed server_exit \
	'status 7' < <(peer_step bad dies-before 'tool = "t"')
json_is "a server that dies before the handshake: stderr is kept" \
	step_results[1].run.stderr.tail '~cannot open the database'
script dies-in-handshake <<-'END'
	expect initialize
	exit 0
END
failing "a server that dies in the handshake" failed server_exit \
	'initialize' < <(peer_step bad dies-in-handshake 'tool = "t"')
script dies-during <<-'END'
	handshake
	expect tools/call
	kill KILL
END
failing "a server that dies during the call" failed server_exit 'SIGKILL' \
	< <(peer_step bad dies-during 'tool = "t"')
script dies-in-answer <<-'END'
	handshake
	expect tools/call
	raw {"jsonrpc":"2.0","id":$id,"result":{"cont
	exit 0
END
failing "a server that dies in its answer" failed server_exit \
	'exited with status 0 in the middle of a message, before the answer to tools/call; the outcome is unknown, and it was not repeated' \
	< <(peer_step bad dies-in-answer 'tool = "t"')
script dies-after <<-'END'
	handshake
	call the answer came first
	exit 9
END
{
	peer_step before good 'tool = "t"'
	peer_step bad dies-after 'tool = "t"'
} >r.toml
run_matins run -c r.toml r --json
exit_is "a server that dies after the answer: exit status 0" 0
json_is "a server that dies after the answer: it counts" \
	step_results[1].state ok step_results[1].output "the answer came first" \
	step_results[1].run.exit.status 9

script no-answer <<-'END'
	handshake
	expect tools/call
	hang
END
failing "a server that never answers" timeout deadline_call \
	'^no result within 0\.4 s' \
	< <(peer_step bad no-answer 'tool = "t"' 'timeout = "400ms"')
failing "a server that never says hello" timeout deadline_initialize \
	'^no result within 0\.4 s .*no output yet' \
	< <(peer_step bad silent 'tool = "t"' 'timeout = "400ms"')
script rubbish-lives <<-'END'
	raw hello, I am no server\x1b[2J\nmore of it\n
	hang
END
failing "a server that prints rubbish and stays: its first line" timeout \
	deadline_initialize '^no result within 6 s .*; it printed "hello, I am no server\\x1b\[2J", which is no MCP message$' \
	< <(peer_step bad rubbish-lives 'tool = "t"' 'timeout = "6s"')
failing "a program that never ends" timeout deadline_call \
	'^no result within 0\.4 s .*no output yet' \
	< <(peer_step bad silent 'timeout = "400ms"')
script never-reads <<-'END'
	never-read
END
big=$(head -c 150000 /dev/zero | tr '\0' x)
failing "a server that never reads a large request" timeout \
	deadline_initialize '^no result within 0\.4 s' < <(peer_step bad never-reads 'tool = "t"' \
		'timeout = "400ms"' "params = { big = \"$big\" }")

script stubborn <<-'END'
	ignore-term
	handshake
	call the answer
	hang
END
{
	peer_step before good 'tool = "t"' 'parallel = true'
	peer_step bad stubborn 'tool = "t"' 'parallel = true'
	peer_step after good-too 'tool = "t"'
} >r.toml
run_matins run -c r.toml r --json
exit_is "ignores closed stdin and SIGTERM: exit status 0" 0
json_is "ignores closed stdin and SIGTERM: the answer counts" \
	step_results[1].state ok step_results[1].output "the answer" \
	step_results[2].state ok
nothing_left "ignores closed stdin and SIGTERM: nothing left" "$T/"

script stubborn-timeout <<-'END'
	ignore-term
	hang
END
failing "ignores SIGTERM at its deadline" timeout deadline_call \
	'^no result within 0\.3 s' \
	< <(peer_step bad stubborn-timeout 'timeout = "300ms"')

script holds-pipes <<-'END'
	hold-pipes 600000
	raw {"content":[{"type":"text","text":"from the parent"}]}
	exit 0
END
{
	peer_step bad holds-pipes
	peer_step after good-too 'tool = "t"'
} >r.toml
run_matins run -c r.toml r --json
exit_is "a grandchild keeps the pipes: exit status 0" 0
json_is "a grandchild keeps the pipes: the result counts" \
	step_results[0].state ok step_results[0].output "from the parent" \
	step_results[1].state ok
nothing_left "a grandchild keeps the pipes: nothing left" "$T/"

script holds-pipes-mcp <<-'END'
	hold-pipes 600000
	handshake
	call from the server
	exit 0
END
peer_step bad holds-pipes-mcp 'tool = "t"' >r.toml
run_matins run -c r.toml r --json
exit_is "a server's grandchild keeps the pipes: exit status 0" 0
json_is "a server's grandchild keeps the pipes: the result counts" \
	step_results[0].output "from the server"
nothing_left "a server's grandchild keeps the pipes: nothing left" "$T/"

script forks-twice <<-'END'
	fork-twice 600000
	raw {"content":[{"type":"text","text":"daemon started"}]}
	exit 0
END
peer_step bad forks-twice >r.toml
run_matins run -c r.toml r --json
exit_is "a program that forks twice: exit status 0" 0
json_is "a program that forks twice: the result counts" \
	step_results[0].output "daemon started"
nothing_left "a program that forks twice: its daemon is gone" "$T/"
sed -i '1i [sandbox]\nisolate = "off"\n' r.toml
run_matins run -c r.toml r --json
json_is "forks twice, without namespaces: the result counts" \
	step_results[0].output "daemon started"
nothing_left "forks twice, without namespaces: its daemon is gone" "$T/"
peer_step bad holds-pipes >>r.toml
sed -i '0,/"bad"/s//"first"/' r.toml
run_matins run -c r.toml r --json
nothing_left "keeps the pipes, without namespaces: nothing left" "$T/"

# ---- what a server says ----

# A program that prints its result, and a step that wants to ask a server.
goes='stdout was a CallToolResult.*leave out the key .tool.'
result='{"content":[{"type":"text","text":"printed"}]}'
script prints <<-END
	raw $result\n
	exit 0
END
failing "a program that prints a result and exits" failed server_exit "$goes" \
	< <(peer_step bad prints 'tool = "t"')
script prints <<-END
	raw {\n  "content": [\n    {"type": "text", "text": "printed"}\n  ]\n}\n
	exit 0
END
failing "a program that prints a result of several lines" failed server_exit "$goes" \
	< <(peer_step bad prints 'tool = "t"')
script prints <<-END
	raw {"content":[{"type":"text","text":"$(printf '%9000s' x)"}]}\n
	exit 0
END
failing "a program that prints one long result" failed server_exit "$goes" \
	< <(peer_step bad prints 'tool = "t"')
script prints <<-END
	raw $result\n
	hang
END
failing "a program that prints a result and goes on" timeout deadline_initialize "$goes" \
	< <(peer_step bad prints 'tool = "t"' 'timeout = "700ms"')
script prints <<-END
	raw {"jsonrpc":"2.0","id":1,"result":$result}\n
END
failing "a program that prints a result as its first answer" failed handshake "$goes" \
	< <(peer_step bad prints 'tool = "t"' 'protocol = "2025-11-25"')
script prints <<-END
	raw {"level":"info","text":"content"}\n
	exit 0
END
failing "a program that prints something else" failed server_exit \
	'its stdout held lines that are not MCP messages' \
	< <(peer_step bad prints 'tool = "t"')
script prints <<-END
	raw $result\n
	handshake
	expect tools/call
	exit 0
END
failing "a server that prints a stray result first" failed server_exit \
	'its stdout held lines that are not MCP messages' \
	< <(peer_step bad prints 'tool = "t"')
script serve <<-'END'
	serve
END
failing "a server, and no tool is named" failed not_json \
	'stdout is empty.*an MCP server.*the key .tool.' \
	< <(peer_step bad serve)
script speaks <<-'END'
	raw {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n
END
failing "a server that speaks first, and no tool is named" failed \
	not_call_tool_result 'message of an MCP server.*the key .tool.' \
	< <(peer_step bad speaks)

# answers NAME REASON ERE RAW-RESULT-LINE
answers() {
	printf 'handshake\nexpect tools/call\n%s\n' "$4" | script answers
	failing "$1" failed "$2" "$3" < <(peer_step bad answers 'tool = "t"')
}

answers "an error response" rpc_error '-32602.*unknown tool' \
	'fail -32602 unknown tool'
answers "a result that is no object" not_call_tool_result \
	'not a CallToolResult: it is not an object' \
	'reply ["text"]'
for empty in '{}' '[]' '{"content":null}' '{"isError":true}'; do
	answers "a result $empty" not_call_tool_result \
		'it has neither content nor structuredContent' "reply $empty"
done
answers "an answer over the limit" output_limit \
	'a line of more than 67108864 bytes while tools/call was open' \
	'raw {"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"
flood 70000000
raw "}]}}\n'
echo 'expect initialize
fail -32603 no database' | script handshake-error
failing "an error to initialize" failed handshake 'no database' \
	< <(peer_step bad handshake-error 'tool = "t"')
echo 'expect initialize
reply {"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}
expect-eof' | script old
failing "a revision that nobody knows" failed handshake '1999-01-01' \
	< <(peer_step bad old 'tool = "t"')
printf 'handshake\nexpect tools/call\nreply {"content":[{"type":"text","text":"why"}],"isError":true}\n' |
	script iserror
failing "a tool that reports an error" tool_error is_error \
	'^the tool reported an error$' \
	< <(peer_step bad iserror 'tool = "t"')
json_is "isError: the content is there" step_results[1].output why \
	step_results[1].data.isError true

# ---- credentials and variables ----

step_with_env() {
	cat <<-END
		[[routines.r.steps]]
		name = "bad"
		type = "script"
		command = "/bin/true"
		env = { TOKEN = $1 }
	END
}
bad "a credential from an unset variable" skipped no_credential 'NOT_SET_ANYWHERE' \
	< <(step_with_env '{ env = "NOT_SET_ANYWHERE" }')
exit_is "credential: unset variable: exit status 0" 0
bad "credential: no such file" skipped no_credential 'no-such-token' \
	< <(step_with_env "{ file = \"$T/no-such-token\" }")
bad "a credential that is a folder" skipped no_credential 'home' \
	< <(step_with_env "{ file = \"$T/home\" }")
bad "credential: a command that fails" skipped no_credential 'false' \
	< <(step_with_env '{ cmd = "/bin/false" }')
bad "credential: a command that is not there" skipped no_credential 'no-such' \
	< <(step_with_env '{ cmd = "no-such-program-anywhere" }')

# As root every file can be read, so this needs an ordinary user.
echo 'very-secret-value' >token
chmod 000 token
{
	step_with_env "{ file = \"$T/token\" }"
	cat <<-END
		[[routines.r.steps]]
		name = "after"
		type = "script"
		command = "/bin/echo"
		args = ["still here"]
	END
} >r.toml
as_user run_matins run -c r.toml r --json
json_is "credential: unreadable: skipped, with the cause" \
	step_results[0].state skipped step_results[0].reason no_credential \
	step_results[0].error '~[Pp]ermission' \
	step_results[1].output "still here"
exit_is "credential: unreadable: exit status 0" 0
[[ $(id -u) -ne 0 ]] || chown -R root:root "$T"

cat >r.toml <<-'END'
	[servers.s]
	command = "${NOT_SET_ANYWHERE}/bin/server"

	[[routines.r.steps]]
	name = "one"
	type = "mcp-client"
	server = "s"
	tool = "t"
END
run_matins run -c r.toml r
exit_is "unset variable in a path: the step that needs it fails" 2
out_like "unset variable in a path: names it" NOT_SET_ANYWHERE

# ---- the file and the command line ----

cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "one"
	type = "script"
	command = "/bin/true"
	timout = 5
END
before=$(wc -l <"$XDG_STATE_HOME/matins/ledger.jsonl")
run_matins run -c r.toml r
exit_is "unknown key: exit status 1" 1
err_like "unknown key: place and nearest key" \
	'r\.toml:5:[0-9]+: .*timout.*timeout'
is "unknown key: nothing ran" \
	"$(wc -l <"$XDG_STATE_HOME/matins/ledger.jsonl")" "$before"
run_matins run -c r.toml r --lax --json
exit_is "unknown key, --lax: exit status 0" 0
err_like "unknown key, --lax: a warning" 'timout'

echo 'this is = not [ toml' >r.toml
run_matins run -c r.toml r
exit_is "a file that is not TOML fails the run" 1
err_like "the message names file and line of what is not TOML" 'r\.toml:1:'
run_matins run -c r.toml r --json
exit_is "a file that is not TOML fails with --json, too" 1
json_is "the error of a file that is not TOML is one JSON document" error.kind present \
	error.message '~r.toml'

run_matins run -c none.toml r
exit_is "no such configuration: exit status 1" 1
err_like "no such configuration: names it" 'none\.toml'

peer_step one good 'tool = "t"' >r.toml
run_matins run -c r.toml other
exit_is "unknown routine: exit status 1" 1
err_like "unknown routine: names it" 'other'
run_matins run -c r.toml r --only on
exit_is "--only of no step: exit status 64" 64
err_like "--only of no step: names it and the nearest" 'on.*one'
run_matins run -c r.toml r --skip two
exit_is "--skip of no step: exit status 64" 64
run_matins step -c r.toml r two
ok "step of no step: a failing status ($status)" \
	test "$status" -eq 1 -o "$status" -eq 64

# ---- the state directory ----

echo 'a file' >file
MATINS_STATE=$T/file/state run_matins run -c r.toml r --json
exit_is "state directory cannot be made: exit as the steps say" 0
err_like "state directory cannot be made: a warning that names it" \
	"$T/file/state"
json_is "the report warns that the state directory cannot be made" \
	step_results[0].state ok run.warnings[0] '~state'
MATINS_STATE=$T/file/state run_matins run -c r.toml r --require-ledger
exit_is "--require-ledger: exit status 1" 1
err_like "--require-ledger: names the directory" "$T/file/state"
mkdir locked
chmod 500 locked
export MATINS_STATE=$T/locked/matins
cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "one"
	type = "script"
	command = "/bin/echo"
	args = ["ran"]
END
as_user run_matins run -c r.toml r --json
exit_is "unwritable state directory as a user: exit as the steps say" 0
err_like "unwritable state directory as a user: a warning" "$T/locked"
as_user run_matins run -c r.toml r --json --require-ledger
exit_is "unwritable, --require-ledger as a user: exit status 1" 1
unset MATINS_STATE
[[ $(id -u) -ne 0 ]] || chown -R root:root "$T"

# ---- Ctrl-C in the middle ----

script signals <<-'END'
	handshake
	log LOGFILE
	expect tools/call
	hang
END
mkdir seen
chmod 777 seen
sed -i "s|LOGFILE|$T/seen/log|" signals.peer

# interrupt SIGNAL STATUS
interrupt() {
	rm -f seen/log
	{
		peer_step before good 'tool = "t"'
		peer_step bad signals 'tool = "t"' \
			"sandbox = { write = [\"$T/seen\"] }"
		peer_step after good-too 'tool = "t"'
	} >r.toml
	# A job of a script ignores SIGINT from birth.
	env --default-signal=INT "$BIN" run -c r.toml r --json \
		>"$out" 2>"$err" </dev/null &
	local pid=$!
	_command="run, then SIG$1"
	wait_for 20 grep -q tools/call seen/log
	kill -s "$1" "$pid"
	status=0
	wait "$pid" || status=$?
	exit_is "SIG$1: exit status $2" "$2"
	json_is "SIG$1: a report with what was done" \
		step_results[0].output "kept to the last byte" \
		step_results[1].state failed \
		step_results[1].reason cancelled \
		step_results '#3' success false
	nothing_left "SIG$1: no process is left" "$T/"
	run_matins history -c r.toml --json
	file_unlike "SIG$1: the run is not lost" "$out" '"lost"'
}
interrupt INT 130
interrupt TERM 143

done_testing
