#!/usr/bin/env bash
# `matins serve`: routines for other clients, over stdio.
. "${BASH_SOURCE%/*}/lib.sh"

cat >matins.toml <<-END
	[routines.two]
	description = "says hello twice"
	params.city = { type = "string", description = "where" }
	params.times = { type = "integer", default = 2, maximum = 5 }
	[[routines.two.steps]]
	name = "a"
	type = "script"
	command = "echo"
	args = ["hello", "\$input.city"]
	[[routines.two.steps]]
	name = "b"
	type = "script"
	command = "echo"
	args = ["times", "\$input.times"]
	[routines.red]
	[[routines.red.steps]]
	name = "a"
	type = "script"
	command = "false"
	[routines.slow]
	[[routines.slow.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", ": >$T/begun; sleep 987; :"]
	timeout = 990
	sandbox = { write = ["."], exec = ["sleep"] }
END

scene() {
	serve_scene "$1" --routines
}
call() {
	serve_one "tools/$1" "$2" --routines
}

# ---- parameters that are not declared ----

cat >open.toml <<-END
	[routines.greet]
	[[routines.greet.steps]]
	name = "a"
	type = "script"
	command = "echo"
	args = ["hello", "\$input.city"]
	[routines."odd n.äme"]
	[[routines."odd n.äme".steps]]
	name = "a"
	type = "script"
	command = "echo"
END
serve_one tools/list '{}' --routines -c open.toml
json_file_is "a name is one that models take" one.json \
	result.tools[0].name routine__greet \
	result.tools[1].name '~^routine__odd_n___me_[0-9a-f]{16}$' \
	result.tools[1].title 'odd n.äme'
MATINS_STATE=$T/odd serve_one tools/call "{\"name\":\"$(_json_at --get one.json result.tools[1].name)\"}" \
	--routines -c open.toml
json_file_is "and can be called by" one.json result.isError false
run_matins serve --servers '' -c open.toml
exit_is "no server at all: status 64" 64
err_like "no server at all: it says so" '--servers: "" is not a name'
serve_one tools/list '{}' --routines -c open.toml
json_file_is "what the steps refer to are the parameters" one.json \
	result.tools[0].inputSchema.required '["city"]' \
	result.tools[0].inputSchema.additionalProperties false
serve_one tools/call '{"name":"routine__greet","arguments":{"city":"Ulm"}}' \
	--routines -c open.toml
json_file_is "and can be given" one.json result.isError false
serve_one tools/call '{"name":"routine__greet","arguments":{"town":"Ulm"}}' \
	--routines -c open.toml
json_file_is "another one is refused" one.json result.isError true

# ---- tools ----

call list '{}'
exit_is "the client's end is a good end" 0
json_file_is "a routine is a tool" one.json \
	result.tools[0].name routine__two \
	result.tools[0].description 'says hello twice' \
	result.tools[0].annotations.readOnlyHint false
json_file_is "its parameters are the schema" one.json \
	result.tools[0].inputSchema.properties.city.type string \
	result.tools[0].inputSchema.required '["city"]' \
	result.tools[0].inputSchema.additionalProperties false \
	result.tools[1].inputSchema.additionalProperties false
json_file_is "the tools beside the routines" one.json \
	result.tools[3].name routine_list result.tools[4].name step_run \
	result.tools[5].name report_get result.tools[6].name history \
	result.tools[7].name doctor result.tools '#8' \
	result.tools[5].annotations.readOnlyHint true

call call '{"name":"routine__two","arguments":{"city":"Ulm","times":3}}'
json_file_is "a run gives its report" one.json \
	result.isError false \
	result.structuredContent.schema matins-report/1 \
	result.structuredContent.step_results[0].output 'hello Ulm' \
	result.structuredContent.step_results[1].output 'times 3' \
	result.content[0].text '~hello Ulm'
call call '{"name":"routine__two","arguments":{"city":"Ulm","times":9}}'
json_file_is "arguments are judged by the schema" one.json \
	result.isError true result.content[0].text '~times: is 9, must be at most 5'
call call '{"name":"routine__two","arguments":{}}'
json_file_is "a missing argument is named" one.json \
	result.isError true result.content[0].text '~city'
call call '{"name":"routine__red"}'
json_file_is "a run with a failed step is an error, with its report" one.json \
	result.isError true result.structuredContent.success false
call call '{"name":"routine__tow"}'
json_file_is "an unknown tool: the nearest is offered" one.json \
	error.code -32602 error.message '~did you mean routine__two'
call call '{"name":"step_run","arguments":{"routine":"two","step":"a","params":{"city":"Rome"}}}'
json_file_is "one step runs" one.json result.isError false \
	result.structuredContent.step_results '#1' \
	result.structuredContent.step_results[0].output 'hello Rome'
call call '{"name":"step_run","arguments":{"routine":"two","step":"z"}}'
json_file_is "an unknown step is told" one.json result.isError true \
	result.content[0].text '~no step z'
call call '{"name":"step_run","arguments":{"routine":"--config=x","step":"a"}}'
json_file_is "an argument is never an option" one.json result.isError true \
	result.content[0].text '~pattern'
call call '{"name":"history","arguments":{"limit":2}}'
json_file_is "past runs are listed" one.json \
	result.structuredContent.runs '#2'
call call '{"name":"report_get","arguments":{"generation":2}}'
json_file_is "a past report is read" one.json \
	result.structuredContent.generation 2
cat >"$HOME/elsewhere.toml" <<-'END'
	[routines.other]
	[[routines.other.steps]]
	name = "a"
	type = "script"
	command = "echo"
	args = ["of another file"]
END
"$BIN" run -c "$HOME/elsewhere.toml" other --json >other.json 2>/dev/null
other=$(grep -o '"generation":[0-9]*' other.json | head -n1)
call call "{\"name\":\"report_get\",\"arguments\":{${other}}}"
json_file_is "a report of another configuration is none of the client's" one.json \
	result.isError true result.content[0].text '~is none of .*/matins\.toml'
call call '{"name":"history","arguments":{"limit":1}}'
json_file_is "nor is its run" one.json result.structuredContent.runs '#1' \
	result.structuredContent.runs[0].routine two/a
call call '{"name":"history","arguments":{"routine":"other"}}'
json_file_is "nor by its name" one.json result.structuredContent.runs '#0'
call call '{"name":"report_get","arguments":{"generation":2.0e0}}'
json_file_is "a whole number in another spelling" one.json \
	result.structuredContent.generation 2
call call '{"name":"report_get","arguments":{"generation":1.5}}'
json_file_is "a number that is none" one.json result.isError true \
	result.content[0].text '~integer'
call call '{"name":"routine__red","arguments":{"x":1}}'
json_file_is "an argument of a routine that takes none" one.json \
	result.isError true result.content[0].text '~x'
call call '{"name":"report_get","arguments":{"generation":999}}'
json_file_is "a report that is not there" one.json result.isError true \
	result.content[0].text '~no generation 999'
call call '{"name":"doctor","arguments":{"routine":"two"}}'
json_file_is "the doctor answers" one.json \
	result.isError false result.structuredContent.ok true

# ---- conversations ----

is "both eras are spoken in one session" "$(scene eras)" ""
is "progress is told as steps end" "$(scene progress)" ""
is "a cancelled run is not answered, and nothing of it is left" "$(scene cancel)" ""
is "a client that goes takes along all of its run" "$(scene killed)" ""
is "matins killed: all of the run goes, too" "$(scene shot)" ""
is "hostile lines are errors, and the session goes on" "$(scene hostile)" ""
is "a client that does not read is not read" "$(scene flood)" ""
is "too many calls are refused, and nothing of the others is left" "$(scene many)" ""

# ---- usage ----

run_matins serve --servers nope
exit_is "an unknown server cannot be served" 1
err_like "an unknown server is named" 'nope'
run_matins serve --routines -c none.toml
exit_is "a configuration that is not there" 1
unset MATINS_ALLOW
run_matins serve --routines
exit_is "a file that nobody allowed is not served" 1
err_like "not allowed: the command is named" 'matins allow'

done_testing
