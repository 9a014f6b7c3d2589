#!/usr/bin/env bash
# The key `strict`: what a tool says of its arguments and of its result holds.
# And how often the tools are listed: once for a session, and again when
# something shows that the list is wrong.
. "${BASH_SOURCE%/*}/lib.sh"

cp "$TOP/tests/blackbox/lister.py" lister.py
mkdir seen
chmod 777 seen
LOG=$T/seen/log
TEN_MINUTES=ttl=600000

# server WORDS...: k.toml with [servers.s] of such a lister; $keys are lines
server() {
	local words

	words=$(printf ', "%s"' "$LOG" "$@")
	rm -f "$LOG"
	cat >k.toml <<-EOF
		[servers.s]
		command = "$PYTHON"
		args = ["$T/lister.py"$words]
		sandbox = { write = ["$T/seen"] }
		${keys-}
	EOF
}

# step NAME TOOL PARAMS [LINES...]: a step of the routine r that uses it
step() {
	printf '%s\n' '[[routines.r.steps]]' "name = \"$1\"" \
		'type = "mcp-client"' 'server = "s"' "tool = \"$2\"" \
		"params = $3" "${@:4}" >>k.toml
}

run_r() {
	rm -f "$LOG"
	run_matins run -c k.toml r --json
}

# call_s ARGS...: `call` on that server
call_s() {
	rm -f "$LOG"
	run_matins call "$@" -c k.toml --server s
}

# count METHOD: how often it was sent
count() {
	grep -cx "$1" "$LOG"
}

GOOD='{ alpha = 1, beta = 2 }'
BAD='{ alpha = "x", betta = 2 }'

# ---- arguments ----

server
step plain add "$BAD"
run_r
json_is "without strict the server decides" step_results[0].state ok
is "a step without strict asks for no list of tools" "$(count tools/list)" 0

server
step misspelt ad '{}'
step failing failing '{}'
run_r
json_is "without strict: an unknown tool leads to the list" \
	step_results[0].advice[0].text '~tools of this server: matins tools -c [^ ]+ -s s' \
	step_results[0].advice[0].toml ''
json_is "a tool that fails does not" step_results[1].advice absent
run_matins tools -c k.toml -s s
run_r
json_is "the nearest of a list that was seen is named" \
	step_results[0].advice[0].text \
	'~^did you mean add[?] tools of this server: matins tools -c [^ ]+ -s s$'

server
step good add "$GOOD" 'strict = true'
step bad add "$BAD" 'strict = true'
step unknown ad '{}' 'strict = true'
step lax add "$BAD"
run_r
exit_is "strict: exit status 2" 2
json_is "strict: what fits is called" step_results[0].state ok \
	step_results[0].data.structuredContent.sum 3
json_is "strict: what does not is refused" step_results[1].state failed \
	step_results[1].reason rpc_error step_results[1].data absent \
	step_results[1].error '~arguments: /alpha: .*must be an integer'
json_is "strict: every violation is told, with its place" \
	step_results[1].error '~beta.*; .*betta'
json_is "strict: the nearest name" \
	step_results[1].error '~no argument betta; did you mean beta\?'
json_is "strict: an unknown tool, and the nearest" \
	step_results[2].state failed step_results[2].reason rpc_error \
	step_results[2].error 'the server has no tool ad; did you mean add?'
json_is "strict: another step of the session is not" \
	step_results[3].state ok
is "strict: neither refused call was sent" "$(count tools/call)" 2

keys='strict = true'
server
step a add "$BAD"
run_r
json_is "strict of a server: its steps are" step_results[0].reason rpc_error
call_s add alpha:='"x"' betta:=2 --json
exit_is "strict of a server: so is call" 1
is "strict of a server: it was not called" "$(count tools/call)" 0
keys='strict = false'
server
step a add "$BAD" 'strict = true'
step b add "$BAD"
run_r
json_is "strict of a step alone" step_results[0].reason rpc_error \
	step_results[1].state ok
call_s add alpha:='"x"' beta:=2
exit_is "call without strict warns" 0
err_like "call without strict warns, and of what" '/alpha: '
keys=

server badschema
step a add "$BAD" 'strict = true'
run_r
json_is "a schema that cannot be used is no check" \
	step_results[0].reason rpc_error \
	step_results[0].error '~not checked, the schema cannot be used'
call_s add alpha:=1 beta:=2 --strict
exit_is "a strict call fails with a schema that cannot be used" 1
err_like "the message says that nothing was checked" 'not checked, the schema cannot be used'
is "the tool of a strict call was not called" "$(count tools/call)" 0
call_s add alpha:=1 beta:=2
exit_is "without strict it warns" 0
err_like "a call without strict warns that nothing was checked" 'not checked, the schema cannot be used'

# ---- values of -p ----

script typed <<-'END'
	handshake
	expect tools/list
	reply {"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},"maybe":{"anyOf":[{"type":"string"},{"type":"null"}]},"in":{"type":"object","properties":{"id":{"$ref":"#/$defs/id"}}},"any":{}},"$defs":{"id":{"type":"string","pattern":"^[0-9]+$"}}}}]}
	expect tools/call
	reply {"content":[],"structuredContent":$params}
END
sed 's/^expect tools.list$//; s/^reply .*tools.:.*//' typed.peer >untyped.peer
all='{ s = "$input.x", n = "$input.x", maybe = "$input.x", in = { id = "$input.x" }, any = "$input.x" }'
peer_step one typed 'tool = "t"' 'strict = true' "params = $all" >p.toml
peer_step one untyped 'tool = "t"' "params = $all" >q.toml
run_matins run -c p.toml r --json -p x=5
json_is "-p: a text where the schema wants one, else a number" \
	step_results[0].data.structuredContent.arguments \
	'{"s":"5","n":5,"maybe":"5","in":{"id":"5"},"any":5}'
run_matins run -c p.toml r --json -p x='"5"'
json_is "-p: what fits in neither way is refused, and as it was typed" \
	step_results[0].reason rpc_error \
	step_results[0].error '~/n: is a string, must be an integer'
run_matins run -c q.toml r --json -p x=5
json_is "-p: without a schema it is typed as JSON" \
	step_results[0].data.structuredContent.arguments \
	'{"s":5,"n":5,"maybe":5,"in":{"id":5},"any":5}' \
	step_results[0].advice absent
script refusing <<-'END'
	handshake
	expect tools/call
	reply {"content":[{"type":"text","text":"no"}],"isError":true}
END
peer_step one refusing 'tool = "t"' "params = $all" >q.toml
run_matins run -c q.toml r --json -p x=5
json_is "-p: a refused call says how a value is typed by a schema" \
	step_results[0].advice[0].text '~the value 5 of a -p was passed as JSON' \
	step_results[0].advice[0].toml 'strict = true'
run_matins run -c q.toml r --json -p x=five
json_is "-p: a text needs no such advice" step_results[0].state tool_error \
	step_results[0].advice absent

# ---- results ----

server
step wrong wrong '{}' 'strict = true'
step nothing nothing '{}' 'strict = true'
step failing failing '{}' 'strict = true'
step lax wrong '{}'
run_r
json_is "a result that breaks the outputSchema" step_results[0].state failed \
	step_results[0].reason bad_message \
	step_results[0].error '~structuredContent: /sum: .*integer'
json_is "a step that failed keeps the data of its result" step_results[0].data.structuredContent.sum much \
	step_results[0].data.content '#1' step_results[0].output wrong
json_is "a result without what was promised" \
	step_results[1].reason bad_message step_results[1].error '~sent none'
json_is "SC-4: an error is none" step_results[2].state tool_error
json_is "without strict it is not looked at" step_results[3].state ok

# ---- lists that do not come ----

server silent
step a add "$GOOD" 'strict = true' 'timeout = "2s"'
run_r
json_is "a list that never comes" step_results[0].state timeout \
	step_results[0].reason deadline_list
is "no tool is called before the list has come" "$(count tools/call)" 0
nothing_left "a silent list: no process is left" "$T/"
server silent
step a add "$GOOD" 'timeout = "10s"'
run_r
json_is "who does not need it does not wait" step_results[0].state ok
server refused
step a add "$GOOD" 'strict = true'
run_r
json_is "a list that is refused" step_results[0].reason rpc_error \
	step_results[0].error '~tools/list.*no list today'
server badlist
step a add "$GOOD" 'strict = true'
run_r
json_is "a list that is none" step_results[0].reason bad_message
server paged
step a forget '{}' 'strict = true'
step b add "$GOOD" 'strict = true'
run_r
json_is "the tools of all pages are known" step_results[0].error '~unknown tool' \
	step_results[1].state ok

# ---- once for a session ----

for words in "" "paged"; do
	# shellcheck disable=SC2086
	server $words
	for n in 1 2 3 4 5; do
		step "s$n" add "$GOOD" 'strict = true' 'parallel = true'
	done
	step late add "$GOOD" 'strict = true'
	run_r
	json_is "six steps${words:+, $words}: all are answered" success true
	is "six steps${words:+, $words}: each page is asked for once" \
		"$(count tools/list)" "$([[ $words ]] && echo 7 || echo 1)"
done

# ---- changes ----

for words in "watch" "modern watch $TEN_MINUTES"; do
	# shellcheck disable=SC2086
	server $words
	step a add "$GOOD" 'strict = true'
	step b change '{}'
	step c late '{ x = 1 }' 'strict = true'
	step d add "$GOOD" 'strict = true'
	run_r
	json_is "${words%% *}: CH-5: the tool that came is known" success true
	is "${words%% *}: CH-5: asked again once" "$(count tools/list)" 2
	printf '%s\n' '{"tool":"add","arguments":{"alpha":1,"beta":2}}' \
		'{"tool":"change"}' '{"tool":"late","arguments":{"x":1}}' \
		'{"tool":"late","arguments":{"y":1}}' >lines
	call_s --batch lines --strict
	is "${words%% *}: CH-5: in a batch as well" \
		"$(grep -c '"content"' "$out")/$(grep -c '"error"' "$out")" 3/1
	is "${words%% *}: CH-5: and there once" "$(count tools/list)" 2
done
is "SUB-1: a session of many calls listens" "$(count subscriptions/listen)" 1
call_s add alpha:=1 beta:=2
is "one call alone does not" "$(count subscriptions/listen)" 0
server modern "$TEN_MINUTES"
printf '%s\n' '{"tool":"add","arguments":{"alpha":1,"beta":2}}' >lines
call_s --batch lines
is "who declares no changes is not asked for them" \
	"$(count subscriptions/listen)" 0

server modern
step a add "$GOOD" 'strict = true'
step b hide '{}'
step c add '{ alpha = 1, beta = 2, gamma = 3 }' 'strict = true'
run_r
json_is "CH-7: nothing is refused by a list of before" success true
is "CH-7: the list of tools is asked for a second time" "$(count tools/list)" 2
server
step a forget '{}' 'strict = true'
step b add "$GOOD" 'strict = true'
run_r
is "CH-7: unknown tool: the list is asked for again" "$(count tools/list)" 2

# ---- titles of tools ----

server forge
step sums add "$GOOD" 'strict = true'
step plain add "$GOOD"
step bad forge '{}' 'strict = true'
run_matins run -c k.toml r
out_like "a title that is known stands in the report" '^## sums \(Add numbers\)$'
out_like "without a list, the name of the tool" '^## plain \(add\)$'
out_like "a title can neither end its bracket nor its line" \
	'^## bad \(x\| — failed\\x0a## y \|\\x1b\[31mz+…\)$'
file_lacks "a title has nothing that a terminal obeys" "$out" $'\033'
run_matins run -c k.toml r --json
json_is "titles stand in run" step_results[0].run.title "Add numbers" \
	step_results[0].run.tool add step_results[1].run.title absent

# ---- nothing between processes ----

server modern "$TEN_MINUTES"
call_s add alpha:=1 beta:=2
is "CH-9: the first process lists the tools" "$(count tools/list)" 1
call_s add alpha=1 beta=2
exit_is "CH-9: the next process is answered" 0
is "CH-9: the next process lists them again" "$(count tools/list)" 1
printf '%s\n' 'env = { A_TOKEN = { env = "TOKEN" } }' >>k.toml
TOKEN=value-two call_s add alpha:=1 beta:=2
is "CH-4: a process with another credential lists them, too" \
	"$(count tools/list)" 1
is "CH-9: no file but the catalogue holds a list" \
	"$(grep -rl --exclude-dir=catalogue inputSchema "$T/state/matins")" ""
is "CH-9: the catalogue is only for the user" \
	"$(find "$T/state/matins/catalogue" -type f ! -perm 600)" ""
server modern "$TEN_MINUTES"
call_s add alpha=x beta:=2 --strict
exit_is "arguments that break the schema are refused" 1
is "one list is enough for that" "$(count tools/list)" 1
call_s ad
err_like "an unknown tool: the nearest is offered" 'did you mean add'
is "one list is enough for that, too" "$(count tools/list)" 1
call_s forget
exit_is "a tool that the server refuses" 1

nothing_left "no process is left" "$T/"
done_testing
