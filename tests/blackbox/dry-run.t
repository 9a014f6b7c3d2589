#!/usr/bin/env bash
# A dry run says of each step whether it would run, as far as can be known.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

says() {
	json_get "step_results[$1].error"
}
{
	printf '[routines.r.params]\nmode = { type = "string", default = "short" }\n\n'
	plain a echo 'args = ["{{input.mode}}"]'
	plain full echo 'args = ["$steps.a.output"]' 'when = { "$input.mode" = { const = "full" } }'
	plain behind echo 'needs = ["full"]'
	plain later echo 'args = ["$steps.a.output"]' 'when = { "$steps.a.output" = { const = "full" } }'
	plain failed echo 'after = "failure"'
	plain missing no-such-program
	plain uses echo 'args = ["$steps.missing.output"]'
	plain off echo 'enabled = false'
	plain without echo 'needs = ["off"]'
} >r.toml

run_matins run -c r.toml r --dry-run --json
exit_is "a dry run is ok" 0
is "inputs are there" "$(says 0)" "would run: echo short"
is "a condition on inputs is judged" "$(says 1)" \
	'would be skipped: when $input.mode: is "short", must be "full"'
is "what needs a step that would not run is told" "$(says 2)" \
	"would be skipped: needs full, which would not run"
is "a condition on results is left to the run" "$(says 3)" \
	'would run: echo $steps.a.output (decided in the run: when $steps.a.output)'
is "so is the end of others" "$(says 4)" \
	'would run: echo (decided in the run: after = "failure")'
like "a program that is missing" "$(says 5)" "^would not run: no-such-program is not"
is "and who refers to its result" "$(says 6)" \
	"would be skipped: needs missing, which would not run"
is "a step that is disabled" "$(says 8)" \
	"would be skipped: needs off, which would not run"

run_matins run -c r.toml r -p mode=full --dry-run --json
is "other inputs, another plan" "$(says 1)" 'would run: echo $steps.a.output'
is "and for what needs it" "$(says 2)" "would run: echo"

{
	plain a echo 'args = ["a"]'
	plain b echo 'args = ["{{steps.a.output}}"]'
	plain c false
} >r.toml
run_matins run -c r.toml r
run_matins run -c r.toml r --resume last --dry-run --json
like "a result that would be taken" "$(says 0)" '^would be taken from run [0-9]+$'
like "or may be" "$(says 1)" '^would be taken from run [0-9]+, if what it refers to is the same$'
is "what would run again" "$(says 2)" "would run: false"

cat >call.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "mcp-client"
	command = "matins"
	args = ["brief"]
	tool = "repos"
	params = { paths = ["$input.x"], n = 1 }
	[[routines.r.steps]]
	name = "b"
	type = "mcp-client"
	command = "matins"
	args = ["brief"]
	tool = "repos"
	params = { paths = "$steps.a.json" }
	[[routines.r.steps]]
	name = "c"
	type = "script"
	command = "jq"
	args = ["-r", "map(.output) | join(\"; \")", "$steps.a.json", ""]
END
run_matins run -c call.toml r -p x=/tmp/v --dry-run --json
is "a call: the tool, and values that are known" "$(says 0)" \
	'would run: matins brief; would call repos with {"paths":["/tmp/v"],"n":1}'
is "a call: references that are not" "$(says 1)" \
	'would run: matins brief; would call repos with {"paths":"$steps.a.json"}'
is "an argument is one word" "$(says 2)" \
	"would run: jq -r 'map(.output) | join(\"; \")' \$steps.a.json ''"

done_testing
