#!/usr/bin/env bash
# The step types and both modes of mcp-client, when all goes well.
# shellcheck disable=SC2016,SC2028
. "${BASH_SOURCE%/*}/lib.sh"

# What must survive byte for byte: large and odd numbers, \u0000, order and
# repetition of keys, escapes, white space inside.
exact='[{"type":"text","text":"a\u0000b \ud83d\ude00 é \/ \u00e9","_meta":{"z":1,"a":9223372036854775807,"n":-0,"f":1.0,"e":1E+3,"big":123456789012345678901234567890,"t":0.1000}},  {"type":"vendor/new","x":[ 1,2 ]}]'

# run_one LINES...: a routine with the one step `one`
run_one() {
	peer_step one t "$@" >r.toml
	run_matins run -c r.toml r --json
}

# ---- subprocess-JSON ----

echo "raw {\"isError\":false,\"content\":$exact}" |
	sed 's/\\/\\\\/g' | script t
run_one
exit_is "subprocess: exit status 0" 0
json_is "subprocess: the step is ok with its data" step_results[0].state ok step_results[0].success true \
	step_results[0].step_type mcp-client \
	step_results[0].data.schema mcp-client/1 \
	step_results[0].data.isError false
out_has_content() {
	file_has "$1: content byte for byte" "$out" "\"content\":$exact"
}
out_has_content "subprocess: a result of a program"

echo "raw {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"content\":$exact}}" |
	sed 's/\\/\\\\/g' | script t
run_one
out_has_content "subprocess, wrapped in a JSON-RPC response"

echo 'raw \n {"structuredContent":{"n":18446744073709551615,"b":[]}} \n' |
	script t
run_one
json_is "subprocess: structuredContent needs no content beside it" step_results[0].state ok \
	step_results[0].data.content '[]'
file_has "subprocess: structuredContent byte for byte" "$out" \
	'"structuredContent":{"n":18446744073709551615,"b":[]}'

echo 'raw {"content":[{"type":"text","text":"two\\nlines"},{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"text","text":"end"}],"isError":true}' |
	script t
run_one
exit_is "subprocess: isError is exit status 2" 2
json_is "subprocess: a result with isError fails the step" step_results[0].state tool_error \
	step_results[0].reason is_error step_results[0].success false \
	step_results[0].data.isError true \
	step_results[0].output '~^two\nlines\n\[image image/png.*\]\nend$'

# ---- stdio ----

# served NAME TRANSCRIPT-LINES: one call over stdio
served() {
	printf '%s\n' "$2" | script t
	run_one 'tool = "t"' 'params = { a = 1 }'
	json_is "$1" step_results[0].state ok
}

printf 'handshake\nexpect tools/call\nreply {"content":%s}\n' "$exact" |
	script t
run_one 'tool = "t"'
exit_is "stdio: exit status 0" 0
out_has_content "stdio: a result of a server"

for revision in 2024-11-05 2025-03-26 2025-06-18 2025-11-25; do
	served "stdio: revision $revision" "handshake $revision
call hello from $revision"
	json_is "stdio: revision $revision is in the report" \
		step_results[0].output "hello from $revision" \
		step_results[0].run.mcp.protocol "$revision"
done

served "stdio: ping and an unknown request during the call" 'handshake
expect tools/call
send {"jsonrpc":"2.0","id":"p1","method":"ping"}
expect-response
send {"jsonrpc":"2.0","id":99,"method":"x/unheard-of","params":{}}
expect-response
send {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}
send {"jsonrpc":"2.0","method":"notifications/unheard-of"}
text answered'
json_is "stdio: the answer came in the end" step_results[0].output answered

mkdir logs
chmod 777 logs
printf '%s\n' "log $T/logs/wire" handshake 'expect tools/call' \
	'send {"jsonrpc":"2.0","id":"p1","method":"ping"}' expect-response \
	'send {"jsonrpc":"2.0","id":99,"method":"x/unheard-of"}' \
	expect-response 'text ok' | script t
run_one 'tool = "do it"' 'params = { q = "ä\u0000", n = 9007199254740993 }' \
	"sandbox = { write = [\"$T/logs\"] }"
exit_is "stdio: what we send: the run works" 0
file_has "stdio: the tool's name" logs/wire '"name":"do it"'
file_has "stdio: integers of 64 bits are sent exactly" logs/wire '"n":9007199254740993'
file_has "stdio: NUL in arguments" logs/wire '\u0000'
file_like "stdio: answers a ping with an empty result" logs/wire \
	'"id":"p1".*"result":\{\}'
file_like "stdio: an unknown request is -32601" logs/wire \
	'"id":99.*-32601|-32601.*"id":99'
is "stdio: one message a line, nothing else" \
	"$(grep -vc '^{"jsonrpc":"2.0".*}$' logs/wire)" 0
is "stdio: the order of the handshake" \
	"$(grep -o '"method":"[^"]*"' logs/wire | head -n 3 | tr '\n' ' ')" \
	'"method":"initialize" "method":"notifications/initialized" "method":"tools/call" '

served "stdio: noise on stdout is skipped" 'banner
handshake
lines 500 noise
call still understood'
json_is "stdio: noise is counted" step_results[0].output "still understood" \
	step_results[0].run.mcp.skipped_lines '!0'
served "stdio: answers in small pieces" 'split 1
handshake
call piece by piece'
json_is "stdio: pieces are joined" step_results[0].output "piece by piece"
served "stdio: stderr is kept and no error" 'stderr starting up
handshake
stderr \x1b[31mred\x1b[0m
call fine'
json_is "stdio: stderr is in the report" step_results[0].run.stderr.tail '~starting up'
served "stdio: 5 MiB on stderr block nothing" 'flood-stderr 5000000
handshake
flood-stderr 5000000
call fine'
json_is "stdio: the end of stderr is kept, the rest counted" \
	step_results[0].run.stderr.dropped '!0'
served "stdio: an answer without a last newline" 'handshake
expect tools/call
raw {"jsonrpc":"2.0","id":$id,"result":{"content":[]}}
exit 0'
served "stdio: CR LF and a BOM" 'expect initialize
raw \xef\xbb\xbf{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"$version","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}\r\n
expect notifications/initialized
call fine'

printf 'handshake\nexpect tools/call\nraw {"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"\nflood 10485760 y\nraw "}]}}\\n\n' |
	script t
run_one 'tool = "t"'
json_is "stdio: 10 MiB in one message" step_results[0].state ok \
	step_results[0].output '#10485760'

cat >r.toml <<-END
	[servers.s]
	command = "$PEER"
	args = ["$T/t.peer"]

	[[routines.r.steps]]
	name = "one"
	type = "mcp-client"
	server = "s"
	tool = "echo"
	params = { text = "\$input.text", n = "\$input.n" }

	[[routines.r.steps]]
	name = "two"
	type = "mcp-query"
	server = "s"
	tool = "echo"
	arguments = { old = "spelling" }
END
echo serve | script t
run_matins run -c r.toml r --json -p text=hello -p n=12
json_is "servers and \$input: typed values" step_results[0].output \
	'{"text":"hello","n":12}' step_results[1].output '{"old":"spelling"}'
run_matins run -c r.toml r --json -p text=hello
exit_is "a missing \$input is a usage error" 64
err_like "a missing \$input is named" '\bn\b'
run_matins run -c r.toml r -p text=true -p n=12 -p txet=1 --json
exit_is "a -p that no step uses: the run goes on" 0
err_like "a -p that no step uses: a warning with the nearest" \
	'warning: -p txet: no step uses \$input\.txet; did you mean text\?'
json_is "a -p that no step uses: in the report, too" \
	'run.warnings[0]' '~^-p txet: no step uses'
run_matins run -c r.toml r -p text=true -p n=12
err_unlike "a -p that a step uses: no warning" 'no step uses'
run_matins step -c r.toml r two -p text=true
err_unlike "a -p that another step uses: no warning with step" 'no step uses'
sed 's/"\$input.text"/"see $input.text!"/' r.toml >embedded.toml
run_matins check embedded.toml
exit_is "a reference within a text: check is no error" 0
err_like "a reference within a text: check warns, with the place" \
	'^embedded\.toml:[0-9]+:[0-9]+: warning: "\$input\.text" is passed on as it is'
run_matins run -c embedded.toml r -p text=true -p n=12
err_like "a reference within a text: the run warns" 'warning: embedded\.toml:.*"\$input\.text" is passed'
err_like "a reference within a text: its -p is not used" '-p text: no step uses'

# ---- script and harness ----

cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "plain"
	type = "script"
	command = "/bin/echo"
	args = ["  some text  "]

	[[routines.r.steps]]
	name = "shell"
	type = "script"
	command = "/bin/sh"
	args = ["-c", "echo out; echo err >&2; exit 4"]
END
run_matins run -c r.toml r --json
exit_is "script: exit status 2 when one failed" 2
json_is "script: trimmed stdout is the body" \
	step_results[0].output "some text" step_results[0].step_type script \
	step_results[0].data '{"exit_code":0}'
json_is "script: a failure keeps what was printed" \
	step_results[1].reason exit_status step_results[1].output out \
	step_results[1].data '{"exit_code":4}' \
	step_results[1].run.stderr.tail '~err'
run_matins run -c r.toml r --data
out_is "script: the exit code with --data" \
	'{"plain":{"exit_code":0},"shell":{"exit_code":4}}'
cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "slow"
	type = "script"
	command = "/bin/sh"
	args = ["-c", "echo first; exec sleep 30"]
	sandbox = { exec = ["sleep"] }
	timeout = 1
	[[routines.r.steps]]
	name = "absent"
	type = "script"
	command = "no-such-program"
END
run_matins run -c r.toml r --json
json_is "script: no exit code where a deadline ended it" \
	step_results[0].state timeout step_results[0].output first \
	step_results[0].data '{"exit_code":null}'
json_is "script: and no data where nothing ran" \
	step_results[1].state skipped step_results[1].data absent

harness() {
	cat >r.toml <<-END
		[[routines.r.steps]]
		name = "h"
		type = "harness"
		command = "$PEER"
		args = ["$T/t.peer"]
	END
	printf 'raw %s\n' "$1" | script t
	run_matins run -c r.toml r --json
}
harness '{"summary":"s","text":"t","n":10000000000000000001}'
json_is "harness: text before summary" step_results[0].output t \
	step_results[0].data.n 10000000000000000001 \
	step_results[0].step_type harness
harness '{"output":"o","summary":7}'
json_is "harness: the first that is a string" step_results[0].output o
harness '"just a string"'
json_is "harness: any JSON value is data" step_results[0].state ok \
	step_results[0].output 'just a string' \
	step_results[0].data '"just a string"'
harness ' {"city":"Rome","celsius":21} '
json_is "harness: without a text the body is the value" \
	step_results[0].output '{"city":"Rome","celsius":21}'
harness '{"text":"","n":1}'
json_is "harness: an empty text is the body" step_results[0].output ''
harness '{} {}'
json_is "harness: two JSON values are no result" step_results[0].reason not_json

# ---- what the report shows ----

cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "one"
	type = "script"
	command = "/bin/echo"
	args = ["first"]

	[[routines.r.steps]]
	name = "off"
	type = "script"
	command = "/bin/echo"
	enabled = false

	[[routines.r.steps]]
	name = "bad"
	type = "script"
	command = "/bin/sh"
	args = ["-c", "echo kept; exit 1"]

	[[routines.r.steps]]
	name = "mute"
	type = "script"
	command = "/bin/true"
END
run_matins run -c r.toml r
exit_is "text: exit status 2" 2
out_like "text: heading with the generation" '^# r — .*, run [0-9]+\)$'
out_like "text: a step has a heading" '^## one$'
out_like "text: a skipped step says why" '^\(skipped: .+\)$'
out_like "text: an error is marked ERROR" '^ERROR: .+'
out_like "text: output of a failed step is kept" '^  kept$'
out_like "text: a step without output is marked" '^\(no output\)$'
is "text: the last line is the summary" "$(tail -n 1 "$out")" \
	"r: 3 ran, 1 skipped, 1 failed"

run_matins run -c r.toml r --md
out_like "Markdown has a heading for each step" '^## one'
run_matins run -c r.toml r --only one --json
exit_is "--only: exit status 0" 0
json_is "--only: others are skipped" step_results[0].state ok \
	step_results[1].reason disabled step_results[2].reason only_filter
run_matins run -c r.toml r --skip bad,off --json
exit_is "--skip: exit status 0" 0
json_is "--skip: those are skipped" step_results[2].state skipped \
	step_results[2].reason only_filter step_results[3].state ok
run_matins run -c r.toml r --dry-run --json
exit_is "dry run: exit status 0" 0
json_is "dry run: nothing ran" dry_run true step_results[0].state skipped \
	step_results[0].reason dry_run step_results[2].reason dry_run
run_matins step -c r.toml r one --json
exit_is "step: exit status 0" 0
json_is "step: the one step" step_results[0].output first
run_matins run -c r.toml r --only one -o report.txt
exit_is "-o: exit status 0" 0
out_is "-o: nothing on stdout" ""
file_like "-o: the report is in the file" report.txt '^  first$'

harness '{"text":"t","n":1}'
run_matins run -c r.toml r --data
out_is "--data: by step name" '{"h":{"text":"t","n":1}}'
run_matins step -c r.toml r h --data
out_is "step --data: the bare value" '{"text":"t","n":1}'
run_matins run -c r.toml r --json --view golden
json_is "--view golden: nothing that varies" run absent generation absent \
	schema matins-report/1
cp "$out" first
run_matins run -c r.toml r --json --view golden
file_is "--view golden: equal runs are equal byte for byte" "$out" first
run_matins run -c r.toml r --json
first=$(json_get generation)
run_matins run -c r.toml r --json
is "generations count up by one" "$(json_get generation)" $((first + 1))
run_matins run -c r.toml r --dry-run --json
run_matins run -c r.toml r --json
is "a dry run takes no generation" "$(json_get generation)" $((first + 2))

# ---- secrets ----

echo 'tok"en/with+odd chars' >token
chmod 600 token
printf '%s\n' 'stderr err $env:TOKEN' \
	'raw {"content":[{"type":"text","text":"plain text"},{"type":"text","text":"' \
	'raw $env:PLAIN"}]}' | script t
cat >r.toml <<-END
	[[routines.r.steps]]
	name = "one"
	type = "mcp-client"
	command = "$PEER"
	args = ["$T/t.peer"]
	env = { TOKEN = { file = "$T/token" }, PLAIN = { env = "MY_PLAIN_SECRET" } }
END
MY_PLAIN_SECRET=plain-secret-value run_matins run -c r.toml r --json
exit_is "secrets: exit status 0" 0
json_is "secrets: the rest is untouched" \
	step_results[0].data.content[0].text "plain text" \
	step_results[0].data.content[1].text '***'
file_lacks "secrets: none on stdout" "$out" plain-secret-value
file_lacks "secrets: none in the tail of stderr" "$out" 'en/with+odd'
not_ok "secrets: none on disk" grep -rqaF -e plain-secret-value \
	-e 'en/with+odd' "$XDG_STATE_HOME"

done_testing
