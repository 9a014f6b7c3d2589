#!/usr/bin/env bash
# A step judges its own result, by `expect`.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

script serve <<-'END'
	handshake
	expect tools/call
	reply {"content":[{"type":"text","text":"[1,2]"}],"structuredContent":{"total":12,"s":"ab"}}
	expect-eof
END
cp serve.peer again.peer
# program NAME PRINTS [LINES...]: a step of type script
program() {
	local name=$1 prints=$2

	shift 2
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "script"\ncommand = "printf"\nargs = ["%%s", %s]\n' \
		"$name" "'$prints'"
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

{
	peer_step broken serve 'tool = "t"' \
		'expect = { "$.structuredContent.total" = { maximum = 10 }, "$.structuredContent.s" = { minLength = 3, pattern = "^x" }, "$.content[1]" = true, "$.json[1]" = { const = 2 }, "$.isError" = { const = false } }'
	peer_step held again 'tool = "t"' \
		'expect = { "$" = { required = ["structuredContent"] }, "$.output" = { const = "[1,2]" }, "$.structuredContent.none" = false }'
	program fails '{"a":1}' 'expect = { "$.json.a" = { const = 2 }, "$.json.a" = { type = "string" } }'
} >r.toml
sed -i 's/, "$.json.a" = { type = "string" } }/, "$.json.b" = true, "$.data.exit_code" = { const = 0 } }/' r.toml
run_matins run -c r.toml r --json
exit_is "a result that breaks it: status 2" 2
json_is "all that is broken is listed" step_results[0].reason expect \
	step_results[0].state failed \
	step_results[0].error '~^expect \$\.structuredContent\.total: .*10.*; \$\.structuredContent\.s: .*; .*; \$\.content\[1\]: \$\.content has no \[1\]; it is an array of 1$'
json_is "the result is kept" \
	step_results[0].data.structuredContent.total 12 \
	step_results[0].output '[1,2]'
json_is "a result that holds it is ok" step_results[1].state ok
json_is "of a program: output, json, data" step_results[2].reason expect \
	step_results[2].error '~^expect \$\.json\.a: .*; \$\.json\.b: \$\.json has no "b"; it has: a$'

{
	printf '[routines.r]\norder = "needs"\n'
	program a 1 'expect = { "$.output" = { const = "2" } }'
	program b '$steps.a.output'
	program c '{{steps.a.reason}}' 'after = "failure"'
	printf '[[routines.r.steps]]\nname = "d"\ntype = "script"\ncommand = "false"\nexpect = { "$.output" = { const = "2" } }\n'
} >r.toml
run_matins run -c r.toml r --json
json_is "what needs it is skipped" step_results[1].reason needs
json_is "it counts as a failure" step_results[2].output expect
json_is "a step that failed otherwise keeps its reason" \
	step_results[3].reason exit_status

program a '$item' 'foreach = "$input.all"' \
	'expect = { "$.json" = { maximum = 2 } }' >r.toml
run_matins run -c r.toml r -p 'all=[1,2,3]' --json
json_is "each execution is judged, the whole is not" \
	step_results[0].reason items step_results[0].data.items[1].state ok \
	step_results[0].data.items[2].reason expect

{
	program a 1 'expect = { "$.structuredContent" = true, "json" = true }'
	program b 1 'expect = { "$.jsno" = true, "$[0]" = true, "$.json.[" = true }'
	program c 1 'expect = { "$.json" = { type = "strin" }, "$.output" = "x" }'
	peer_step d serve 'tool = "t"' 'expect = { "$.structuredContnt" = true }'
} >r.toml
run_matins check r.toml
exit_is "mistakes: status 1" 1
err_like "a program has no structuredContent" \
	'r.toml:6:12: the result has no "structuredContent"; there are: json, output, data'
err_like "a path begins with the result" 'r.toml:6:42: reference "json", column 1: the path begins with "\$"'
err_like "the nearest key" 'r.toml:13:12: the result has no "jsno"; did you mean "json"'
err_like "an index of a result" 'the result has no "\[0\]"'
err_like "a path that is not well-formed" 'reference "\$.json.\[", column'
err_like "a schema that is none" 'r.toml:20:.*: schema of a condition: .*strin'
err_like "a condition that is none" 'a condition is a JSON Schema such as'
err_like "a key of a CallToolResult" 'the result has no "structuredContnt"; did you mean "structuredContent"'

done_testing
