#!/usr/bin/env bash
# Tools, resources and prompts of servers from the command line.
. "${BASH_SOURCE%/*}/lib.sh"

modules=$TOP/build/npm/node_modules/@modelcontextprotocol

# peer LINES...: the words that name a scripted server
peer() {
	local IFS=$'\n'

	server=("$PEER" -e "$*")
}

tools='reply {"tools":[{"name":"sum","title":"Sum it","description":"Adds.\nMore.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"list":{"type":"array","items":{"type":"integer"}},"flag":{"type":"boolean"},"name":{"type":"string"}},"required":["a"]},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}'

# ---- one call ----

peer serve
run_matins call echo a=b -- "${server[@]}"
exit_is "a call that is answered ends with status 0" 0
out_is "call: the text of the answer, a string without a schema's word" '{"a":"b"}'
err_is "call: nothing on stderr" ""
run_matins call echo --json --args '{"a": 1.0,"b":1e3}' b:='[1,2]' -- "${server[@]}"
exit_is "a call with --json ends with status 0" 0
out_is "call --json: the server's own result, names over --args" \
	'{"content":[{"type":"text","text":"{\"a\":1.0,\"b\":[1,2]}"}]}'
printf 'two\nlines' >value
run_matins call echo a=@value -- "${server[@]}"
out_is "call: NAME=@FILE is the text of a file" '{"a":"two\nlines"}'
echo '{"from":"stdin"}' >in.json
run_matins_stdin in.json call echo --args - -- "${server[@]}"
out_is "call --args - reads the arguments from standard input" '{"from":"stdin"}'
run_matins call echo a -- "${server[@]}"
exit_is "call: an argument without = is wrong usage" 64
err_like "call: and how to write it" 'a is not an argument; write NAME=TEXT'
run_matins call fail x=1 -- "${server[@]}"
exit_is "call: isError is status 2" 2
out_is "call: its content is printed" '{"x":"1"}'
run_matins call fail x=1 --ignore-tool-error -- "${server[@]}"
exit_is "call --ignore-tool-error ends with status 0 where the tool fails" 0
run_matins call ecko -- "${server[@]}"
exit_is "call: a tool that is not there" 1
err_like "call: the nearest one" 'has no tool ecko; did you mean echo'
run_matins call ecko --no-list --json -- "${server[@]}"
exit_is "call --no-list: the server says it" 1
json_is "call --json: an error of the server" error.kind rpc_error \
	error.code -32602 error.message "unknown tool"

# ---- types and checks ----

peer handshake 'expect tools/list' "$tools" 'expect tools/call' \
	'reply {"content":[{"type":"text","text":"$env:HOME"}],"structuredContent":{"n":$params}}'
run_matins call sum a=1.50 list=1 list=2 flag=true name=7 --json -- "${server[@]}"
exit_is "arguments become what the schema says they are" 0
json_is "types: as the schema says, numbers as they were written" \
	structuredContent.n.arguments \
	'{"a":1.50,"list":[1,2],"flag":true,"name":"7"}'
err_like "SC-5: a result that breaks the outputSchema is a warning" \
	'warning: structuredContent: /n: '
run_matins call sum a=1 --strict -- "${server[@]}"
exit_is "SC-5: --strict makes an error of an answer that breaks its schema" 1
peer 'log calls' handshake 'expect tools/list' "$tools" 'expect tools/call' \
	'text done'
run_matins call sum a=x lst=1 -- "${server[@]}"
exit_is "TC-2: arguments that break the schema are sent" 0
err_like "TC-2: the warning points to the argument of the wrong type" 'arguments: /a: is a string'
err_like "TC-2: the warning names the argument that is nearest" 'no argument lst; did you mean list'
run_matins call sum nam=x --strict -- "${server[@]}"
exit_is "TC-2: --strict refuses arguments that break the schema" 1
err_like "TC-2: the refusal names the missing argument" 'arguments: missing required "a"'
rm -f calls
run_matins call sum flag=true --json -- "${server[@]}"
exit_is "a missing required argument: the call is not made" 1
json_is "the error names the missing argument" error.kind syntax \
	error.message '~missing required "a"; the tool was not called'
not_ok "the server saw no call" grep -q tools/call calls
printf '%s\n' '{"tool":"sum"}' '{"tool":"sum","arguments":{"a":1}}' >lacks
peer 'log calls' handshake 'expect tools/list' "$tools" 'expect tools/call' \
	'text done'
run_matins call --batch lacks -- "${server[@]}"
exit_is "a missing required argument in a batch: 1" 1
out_like "the line of that call names the missing argument" 'missing required .*"a.*not called.*"line":1'
out_like "the other is called" '"text":"done"'
run_matins call sum flag=true --no-check -- "${server[@]}"
exit_is "--no-check: the call is made" 0
err_like "--no-check: with a warning" 'warning: arguments: missing required "a"'
out_is "a call with --no-check is answered" "done"
run_matins call sum --strict --no-check -- "${server[@]}"
exit_is "--strict and --no-check: 64" 64
peer handshake 'expect tools/list' \
	'reply {"tools":[{"name":"php","inputSchema":{"type":"object","properties":[]}}]}' \
	'expect tools/call' 'text done'
run_matins call php --strict -- "${server[@]}"
exit_is "a schema of PHP, [] for an object without members" 0
err_is "is said nothing of" ""
peer handshake 'expect tools/list' 'fail -32603 no list' 'expect tools/call' \
	'text done'
run_matins call sum a=1 -- "${server[@]}"
exit_is "call: a list that fails is a warning" 0
err_like "the warning names the list that failed" 'warning: tools/list: .*no list'

# ---- what a terminal must not get ----

peer handshake 'expect tools/call' \
	'reply {"content":[{"type":"text","text":"\u001b[31mred"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"text/html"},{"type":"audio","data":"Zm9v!"},{"type":"what"}]}'
blocks=("${server[@]}")
run_matins call x --no-list -- "${blocks[@]}"
file_has "a pipe gets text as it is" "$out" $'\e[31mred'
out_like "CB-2: other blocks are a line each" '^\[image text/html'
if "$PYTHON" -c 'import os; os.openpty()' 2>/dev/null; then
	cat >term.py <<-'END'
		import os, pty, sys
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], sys.argv[1:])
		while True:
		    try:
		        data = os.read(fd, 65536)
		    except OSError:
		        break
		    if not data:
		        break
		    os.write(1, data)
		    if data.endswith(b": ") and len(sys.stdin.buffer.peek(1)):
		        os.write(fd, sys.stdin.buffer.readline())
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	run_program /dev/null "$PYTHON" term.py "$BIN" call x --no-list -- \
		"${server[@]}"
	out_like "SEC-1: a terminal gets controls made visible" '\\x1b\[31mred'

	# a person answers
	: >answers
	chmod 666 answers
	ask='send {"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":'
	peer "log $T/answers" handshake 'expect tools/call' \
		"$ask"'{"message":"Who\u001b[2J?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Your name"},"age":{"type":"integer","minimum":1,"default":7}},"required":["name"]}}}' \
		expect-response 'text done'
	printf '%s\n' '' Ann x '' y >typed
	run_program typed "$PYTHON" term.py "$BIN" call x --no-list \
		--write "$T/answers" -- "${server[@]}"
	exit_is "EL-9: a person answers a question in a dialogue" 0
	out_like "EL-9: the dialogue names the server that asks" 'The server peer .* asks:'
	out_like "SEC-1: a control character of the server is shown escaped" 'Who\\x1b\[2J\?'
	out_like "EL-5: what is required is asked again" 'an answer is required'
	out_like "EL-7: what does not fit, too" 'age: must be'
	file_has "EL-4: the answer, after a review" answers \
		'"id":"e","result":{"action":"accept","content":{"name":"Ann","age":7}}'
	printf '%s\n' :d >typed
	run_program typed "$PYTHON" term.py "$BIN" call x --no-list \
		--write "$T/answers" -- "${server[@]}"
	file_has "EL-9: declined in the middle" answers '"action":"decline"'
	peer "log $T/answers" handshake 'expect tools/call' \
		"$ask"'{"mode":"url","message":"Go","elicitationId":"1","url":"https://xn--e1awd7f.example/a?b=c"}}' \
		expect-response 'text done'
	printf '%s\n' c >typed
	run_program typed "$PYTHON" term.py "$BIN" call x --no-list \
		--write "$T/answers" -- "${server[@]}"
	out_like "EL-11: the whole URL is shown" 'example.*/a\?b=c'
	out_like "EL-11: a Punycode host is called one" 'Punycode'
	file_has "EL-4: a URL that is declined is answered by cancel" answers '"action":"cancel"'
else
	skip "SEC-1: a terminal gets controls made visible" "no terminals here"
fi

# ---- files ----

run_matins call x --no-list --save files -- "${blocks[@]}"
exit_is "--save: a block that is no Base64 is status 1" 1
err_like "CB-4: the block is named that cannot be saved" 'cannot be saved: .*invalid Base64 at byte 5'
hash=4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6
ok "--save: named by hash and by what the bytes are" test -f "files/$hash.png"
is "--save: for the user only" "$(stat -c %a "files/$hash.png")" 600
out_like "--save: the path is printed" "^files/$hash.png\$"
run_matins call x --no-list --save files -- "${blocks[@]}"
is "--save: again, and there is one file" "$(find files -type f | wc -l)" 1
echo precious >precious
ln -sf "$T/precious" "files/$hash.png"
run_matins call x --no-list --save files -- "${blocks[@]}"
err_like "--save: a link of that name is left alone" 'cannot be saved: .*File exists'
is "--save: and what it leads to as well" "$(<precious)" precious

# ---- many calls ----

peer serve
cat >calls.jsonl <<-'END'
	{"tool":"echo","arguments":{"n":1}}

	{"tool":"echo" "arguments"
	{"tool":"ecko"}
	{"tool":"fail","arguments":{"n":2}}
	{"tool":"echo","argument":{}}
	{"tool":"echo","arguments":{"n":3}}
END
for jobs in 1 3; do
	run_matins call --batch calls.jsonl -j $jobs -- "${server[@]}"
	exit_is "--batch -j $jobs: an error is status 1" 1
	is "--batch -j $jobs: one line for each" "$(wc -l <"$out")" 6
	is "--batch -j $jobs: in their order" \
		"$(sed -n '1p;6p' "$out" | tr -d '\n')" \
		'{"content":[{"type":"text","text":"{\"n\":1}"}]}{"content":[{"type":"text","text":"{\"n\":3}"}]}'
	sed -n 2p "$out" >line
	json_file_is "--batch -j $jobs: a bad line has its number" line \
		error.kind syntax error.line 3 \
		error.message 'line 3 is not JSON (column 16)'
	sed -n 3p "$out" >line
	json_file_is "--batch -j $jobs: an unknown tool" line \
		error.kind unknown_tool error.message '~did you mean echo' error.line 4
	sed -n 5p "$out" >line
	json_file_is "--batch -j $jobs: a member that is none" line \
		error.message '~did you mean .arguments' error.line 6
done
grep -v -e ecko -e 'argument"' -e '"echo" ' calls.jsonl >good
run_matins call --batch good -- "${server[@]}"
exit_is "--batch: isError is status 2" 2
grep -v fail good >better
run_matins_stdin better call --batch - -- "${server[@]}"
exit_is "--batch -: all fine is status 0" 0
# has_lines N FILE
has_lines() {
	(($(wc -l <"$2") == $1))
}

mkfifo lines
"${WRAP[@]}" "$BIN" call --batch - -- "${server[@]}" <lines >answers 2>why &
asker=$!
exec 9>lines
for n in 1 2 3; do
	head -n 1 better >&9
	ok "--batch -: answer $n is there before line $((n + 1))" \
		wait_for 20 has_lines "$n" answers
done
exec 9>&-
wait "$asker"
run_matins call --batch /dev/null -- "${server[@]}"
exit_is "--batch: nothing to do is no success" 2
err_like "an empty batch is named in a message" '/dev/null holds no calls'
run_matins call --batch better --data -- "${server[@]}"
exit_is "--batch --data is wrong usage" 64
err_like "--batch --data: and what does it" 'jq -c .structuredContent'
seq 1 2000 | sed 's/.*/{"tool":"echo","arguments":{"n":&}}/' >long
run_matins call --batch long -j 16 -- "${server[@]}"
is "--batch: 2000 calls in one session, in order" \
	"$(grep -o '[0-9][0-9]*}' "$out" | tr -d '}' | cksum)" \
	"$(seq 1 2000 | cksum)"
peer 'handshake' 'expect tools/call' 'text one' 'expect tools/call' 'exit 4'
head -n 3 long >three
run_matins call --batch three --no-list -- "${server[@]}"
exit_is "--batch: the server dies" 1
sed -n 2p "$out" >line
json_file_is "RW-25: the call in flight has no known outcome" line \
	error.kind server_exit error.message '~not repeated'
is "--batch: each line has an answer all the same" "$(wc -l <"$out")" 3
sed -n 3p "$out" >line
json_file_is "--batch: the one behind by another server" line \
	content[0].text one

# ---- how it can go wrong ----

peer handshake 'expect tools/call' 'reply {}'
run_matins call t --no-list --json -- "${server[@]}"
exit_is "a result with nothing in it: 1" 1
json_is "a result with nothing in it is none" error.kind not_call_tool_result \
	error.message '~neither content nor structuredContent'
head -n 1 long >one
run_matins call --batch one --no-list -- "${server[@]}"
exit_is "a result with nothing in it, in a batch: 1" 1
json_is "a result with nothing in it, in a batch" \
	error.kind not_call_tool_result error.line 1
cat >known.toml <<-END
	[servers.known]
	command = "$PEER"
	args = ["-e", "serve"]
	[[routines.r.steps]]
	name = "s"
	type = "script"
	command = "true"
END
# unknown KIND ARGS...: of something that is named and is not there
unknown() {
	local kind=$1

	shift
	run_matins "$@" --json -c known.toml
	exit_is "the failure of $kind ends with status 1" 1
	json_is "$kind: the word of it" error.kind "$kind"
}
unknown unknown_server call echo -s knwon
unknown unknown_server auth login knwon
unknown unknown_tool call ecko -s known
unknown unknown_routine run q
unknown unknown_routine doctor q
unknown unknown_step step r q
unknown unknown_run show 7
run_matins call echo
exit_is "no server is wrong usage" 64
run_matins call echo --server x -- true
exit_is "two servers are wrong usage" 64
run_matins tools --server x --json
exit_is "a server named without a configuration is an error" 1
json_is "no configuration, as JSON" error.kind unknown
cat >servers.toml <<-END
	[servers.good]
	command = "$PEER"
	args = ["-e", "serve"]
	env = { TOKEN = { env = "MY_TOKEN" } }
	[servers.far]
	url = "http://127.0.0.1:1/mcp"
END
run_matins list --servers -c servers.toml
out_is "list --servers, for completion" 'good
far'
run_matins __complete call -c servers.toml --server ''
out_is "completion: servers are offered by name" 'good
far'
run_matins call echo a=b -c servers.toml --server god
err_like "a server that is not there, and the nearest" 'did you mean good'
run_matins call echo a=b -c servers.toml --server far --json
exit_is "a call to a remote server that is out of reach fails" 1
err_like "a remote server that nobody answers for, by its address" '127\.0\.0\.1:1'
run_matins call echo a=b -c servers.toml -s good
exit_is "a credential that is not there" 1
err_like "the variable of the missing credential is named" 'TOKEN: variable MY_TOKEN is not set'
MY_TOKEN=abcdefgh12 run_matins call echo a=abcdefgh12 -c servers.toml -s good -v
exit_is "--server calls a server of the configuration" 0
out_is "a credential does not come out" '{"a":"***"}'
file_lacks "a credential does not come out on stderr" "$err" abcdefgh12
run_matins call echo --json -- /no/such
exit_is "a program that does not exist is an error" 1
json_is "no such program, as JSON" error.kind not_found
run_matins call echo --json -- /bin/echo hello
json_is "a server that prints something else" error.kind server_exit \
	error.message '~not MCP messages'
run_matins call echo -q -- /bin/echo hello
err_like "the line that a program printed is quoted" 'a line that is not an MCP message: hello$'
run_matins call echo -q -- /bin/cat /no/such/file
exit_is "a server that fails" 1
err_like "the end of the server's stderr is quoted" \
	'its stderr ends with: /bin/cat: /no/such/file: No such'
peer 'expect initialize' hang
run_matins call echo --timeout 500ms --json -- "${server[@]}"
json_is "a silent server misses the deadline of initialize" error.kind deadline_initialize
file_lacks "of which there is nothing more to say" "$err" 'ends with'
peer handshake 'expect tools/call' hang
run_matins call x --no-list --timeout 500ms --json -- "${server[@]}"
json_is "a silent tool misses the deadline of the call" error.kind deadline_call
nothing_left "a silent server leaves no process behind" "expect tools/call"
for signal in INT:130 TERM:143; do
	peer "log $T/$signal" handshake 'expect tools/call' hang
	: >"$T/$signal"
	chmod 666 "$T/$signal"
	env --default-signal=INT "$BIN" call x --no-list --json \
		--write "$T/$signal" -- "${server[@]}" >"$out" 2>"$err" &
	wait_for 10 grep -q tools/call "$T/$signal"
	kill -"${signal%:*}" $!
	status=0
	wait $! || status=$?
	exit_is "${signal%:*} is an orderly end" "${signal#*:}"
	json_is "the report of an end by ${signal%:*} says cancelled" error.kind cancelled
done
peer serve
run_program /dev/null bash -c '{ sleep 0.5; "$@"; } | true; exit ${PIPESTATUS[0]}' - \
	"$BIN" tools -- "${server[@]}"
exit_is "a closed pipe is quiet" 141
err_is "a closed pipe is quiet, indeed" ""

# ---- lists ----

peer handshake 'expect tools/list' \
	'reply {"tools":[{"name":"b","x":1.0},{"nom":"c"}],"nextCursor":""}' \
	'expect tools/list' 'reply {"tools":[{"name":"a\u001b[1m"},{"name":"b"}]}'
run_matins tools --json -- "${server[@]}"
exit_is "the list of tools can be JSON" 0
out_is "tools: whole over all pages, the server's own bytes" \
	'{"tools":[{"name":"b","x":1.0},{"name":"a\u001b[1m"}]}'
err_like "TL-2: what is unusable is left out and said" 'left out'
run_matins tools -- "${server[@]}"
out_like "tools: names have no controls, in a pipe neither" '^a\\x1b\[1m'
peer handshake 'expect tools/list' "$tools"
run_matins tools -- "${server[@]}"
out_is "tools: a table for people" 'sum — Sum it
  Adds.
    a     number, required
    list  array of integer
    flag  boolean
    name  string'
run_matins tools sum -- "${server[@]}"
out_like "tools TOOL: what it gives" '^  gives'
run_matins tools sun -- "${server[@]}"
err_like "tools TOOL: the nearest" 'did you mean sum'
peer handshake 'expect resources/list' 'fail -32601 none of these'
run_matins resources --json -- "${server[@]}"
exit_is "CAP-3: what is not declared is asked once" 1
json_is "CAP-3: the answer is the error of the server itself" error.code -32601

# ---- resources, prompts, completion ----

peer handshake 'expect resources/read' \
	'reply {"contents":[{"uri":"$env:HOME","text":"é\u0000"}],"was":$params}'
run_matins read 'x:/{a}{?b*}' a='ü/' b:='["1","2"]' --json -- "${server[@]}"
json_is "RES-2: a template is filled in here" was.uri 'x:/%C3%BC%2F?b=1&b=2'
run_matins read 'x:%zz {' --json -- "${server[@]}"
json_is "RES-3: a URI goes as it is" was.uri 'x:%zz {'
err_unlike "RES-3: a URI with braces in it gives no warning" template
run_matins read 'x:/{id}' --json -- "${server[@]}"
json_is "a template without values goes as it is, too" was.uri 'x:/{id}'
err_like "a message says how values of a template are given" 'is a template .*, add id=TEXT'
run_matins read x:y -- "${server[@]}"
is "read: text byte for byte" "$(od -An -tx1 <"$out")" " c3 a9 00"
run_matins read 'x:/{id}' di=1 -- "${server[@]}"
exit_is "read: a value that the template has not" 64
peer handshake 'expect resources/read' \
	'reply {"contents":[{"uri":"a:b","blob":"AP8="}]}'
run_matins read a:b -- "${server[@]}"
is "read: bytes to a pipe" "$(od -An -tx1 <"$out")" " 00 ff"
run_matins read a:b -o bytes -- "${server[@]}"
is "read -o writes the bytes to a file" "$(od -An -tx1 <bytes)" " 00 ff"
prompts='reply {"prompts":[{"name":"greet","arguments":[{"name":"who","required":true},{"name":"how"}]}]}'
peer handshake 'expect prompts/list' "$prompts" 'expect prompts/get' \
	'reply {"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"was":$params}'
run_matins prompt greet who=me -- "${server[@]}"
out_is "prompt: messages with their roles" 'user:
Hi'
run_matins prompt great who=me --json -- "${server[@]}"
json_is "a prompt that is not there" error.kind unknown_prompt \
	error.message '~did you mean greet'
run_matins prompt greet how=so -- "${server[@]}"
exit_is "PRM-4: what is missing is not sent" 1
err_like "PRM-4: the missing argument is named" 'needs a value for who'
run_matins prompt greet who:=1 -- "${server[@]}"
exit_is "PRM-2: an argument that is no string is refused" 64
run_matins prompts -- "${server[@]}"
out_like "prompts shows the arguments of each prompt" '^    who  required'
init='reply {"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"1"}}'
lacks=('expect initialize' "$init" 'expect notifications/initialized')
peer "${lacks[@]}" 'expect prompts/list' 'fail -32601 Method not found'
for words in prompts 'prompt greet'; do
	# shellcheck disable=SC2086
	run_matins $words -- "${server[@]}"
	exit_is "a server without prompts: status: $words" 1
	is "a server without prompts: one sentence: $words" \
		"$(sed 's/.* offers/offers/' "$err")" 'offers no prompts'
done
peer "${lacks[@]}" 'expect resources/list' 'fail -32601 Method not found'
run_matins resources -- "${server[@]}"
is "a server without resources: one sentence" \
	"$(sed 's/.* offers/offers/' "$err")" 'offers no resources'
peer 'expect initialize' "${init/tools/prompts}" 'expect notifications/initialized' \
	'expect prompts/list' 'fail -32601 Method not found'
run_matins prompts -- "${server[@]}"
err_like "a server that offers prompts, and refuses: its error" '-32601'
printf '[servers.%s]\ncommand = "true"\n' blue red gold >few.toml
run_matins servers test nosuch -c few.toml
err_like "a few servers are all named" 'no server nosuch; it has blue, red, gold$'
printf '[servers.%s]\ncommand = "true"\n' more most >>few.toml
run_matins servers test nosuch -c few.toml
err_like "of many some are" 'it has blue, red, gold, more and others'
peer handshake 'expect completion/complete' \
	'reply {"completion":{"values":["a","b"],"hasMore":true},"was":$params}'
run_matins complete prompt:p arg v --context k=w --json -- "${server[@]}"
json_is "COM-1: complete sends the reference, the argument and the context" was.ref '{"type":"ref/prompt","name":"p"}' \
	was.argument '{"name":"arg","value":"v"}' was.context.arguments.k w
run_matins complete "resource:x:/{a}" a -- "${server[@]}"
out_is "complete: a line for each" 'a
b'
err_like "complete: that there are more" 'the server has more values'
run_matins complete p a -- "${server[@]}"
exit_is "complete: a reference that is none" 64

# ---- the built-in server; official ones ----

run_matins call host -- matins brief
exit_is "matins brief is a server" 0
if [[ -n $NODE && -d $modules ]]; then
	everything=("$NODE" "$modules/server-everything/dist/index.js" stdio)
	run_matins call get-sum a=2 b=40 -- "${everything[@]}"
	out_is "everything: numbers by the schema" "The sum of 2 and 40 is 42."
	run_matins call get-structured-content location=Chicago --data -- \
		"${everything[@]}"
	json_is "a tool of server-everything answers with data" temperature present
	run_matins call trigger-elicitation-request --elicit accept \
		--elicit-content '{"name":"Ann"}' -- "${everything[@]}"
	out_like "EL-6: the answer has values and defaults" '"integer": 42'
	out_like "EL-8: a question is answered by the policy" '^- Name: Ann'
	run_matins call trigger-elicitation-request --elicit decline -- \
		"${everything[@]}"
	out_like "EL-4: a question is declined by the policy" 'declined'
	run_matins tools --json -- "${everything[@]}"
	file_lacks "CAP-5: without a policy nothing is declared" "$out" \
		trigger-elicitation
	run_matins call get-roots-list --root "$T/files" --read "$T/files" -- \
		"${everything[@]}"
	out_like "ROOT-1: the roots that were given" "URI: file://$T/files"
	run_matins call get-roots-list --root "$T/files" -- "${everything[@]}"
	exit_is "ROOT-4: a root that is not granted" 64
	err_like "ROOT-4: its grant is named" "with read = ..$T/files.. or --read $T/files\$"
	mkdir -p 'a"]' && run_matins call get-roots-list --root 'a"]' -- \
		"${everything[@]}"
	err_like "a name that cannot be pasted is in no grant" \
		'with read = \["FOLDER"\] or --read FOLDER$'
	LIMIT_S=30 run_matins call simulate-research-query topic=x -- \
		"${everything[@]}"
	exit_is "TK-2: a tool that must be a task" 0
	out_like "TK-5: the result of a task is printed" 'x'
	mkdir data
	echo hello >data/file
	chmod 755 data
	run_matins call read_text_file path="$T/data/file" --read "$T/data" -- \
		"$NODE" "$modules/server-filesystem/dist/index.js" "$T/data"
	out_is "server-filesystem reads a file that is granted" hello
	run_matins call read_text_file path=/etc/shadow --read "$T/data" -- \
		"$NODE" "$modules/server-filesystem/dist/index.js" "$T/data"
	exit_is "filesystem: one that is not its own" 2
	run_matins call create_entities entities:='[{"name":"a","entityType":"t","observations":["o"]}]' \
		--env MEMORY_FILE_PATH=/tmp/m.json -- \
		"$NODE" "$modules/server-memory/dist/index.js"
	exit_is "server-memory creates an entity in its file" 0
else
	skip "the official servers answer calls" "they are not installed: make check"
fi

# ---- an ordinary user ----

if [[ $(id -u) == 0 ]]; then
	as_user run_matins call echo a=b -- "$T/.bin/peer" -e serve
	out_is "an ordinary user can make a call" '{"a":"b"}'
else
	skip "an ordinary user can make a call" "all of this ran as one"
fi

# a program that prints other things, and stays, is told before its time is over
env --default-signal=INT "$BIN" tools -- "$PYTHON" -uc \
	'import time; print("hello, I am no server"); time.sleep(4321)' \
	>"$out" 2>"$err" </dev/null &
pid=$!
ok "a program that is no server is doubted" wait_for 60 grep -q 'no MCP message' "$err"
kill -INT $pid
wait $pid
err_like "with what it printed" 'printed "hello, I am no server", which is no MCP message; its answer is waited for'

done_testing
