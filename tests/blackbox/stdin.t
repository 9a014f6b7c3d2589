#!/usr/bin/env bash
# What a step gave is what a program reads: `stdin`.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# program NAME COMMAND [LINES...]: a step of type script
program() {
	local name=$1 command=$2

	shift 2
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "script"\ncommand = "%s"\n' \
		"$name" "$command"
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

script made <<-'END'
	handshake
	expect tools/call
	reply {"content":[{"type":"text","text":"b\na\n"}],"structuredContent":{"n":123456789012345678901234567890,"s":"\ud800"}}
	expect-eof
END
{
	peer_step made made 'tool = "t"'
	program sort sort 'stdin = "$steps.made.output"'
	program value cat 'stdin = "$steps.made.structuredContent"'
	program text cat 'stdin = "<{{input.who}}> {{steps.made.structuredContent.n}} $steps.made {{{{x}}"'
	program number cat 'stdin = "$steps.made.structuredContent.n"'
	program literal cat 'stdin = "$$HOME"'
	program none cat
	program deaf true 'stdin = "$steps.made.output"'
	printf '[[routines.r.steps]]\nname = "h"\ntype = "harness"\ncommand = "cat"\nstdin = "$steps.value.json"\n'
} >r.toml
run_matins run -c r.toml r -p who=me --json
exit_is "every program was fed: status 0" 0
json_is "a string is its text" step_results[1].output 'a
b'
is "a value is JSON, as it came" "$(json_get step_results[2].output)" \
	'{"n":123456789012345678901234567890,"s":"\ud800"}'
json_is "a text has values in it" step_results[3].output \
	'<me> 123456789012345678901234567890 $steps.made {{x}}'
json_is "a number is as it was written" step_results[4].output \
	'"123456789012345678901234567890"'
json_is "a text may begin with a \$" step_results[5].output '$HOME'
json_is "without it there is nothing to read" step_results[6].output ''
json_is "of type harness, too" step_results[8].data.s present
run_matins run -c r.toml r -p who=me --dry-run --json
json_is "a dry run tells of it" step_results[1].error \
	'would run: sort; its stdin: $steps.made.output'

program a cat 'foreach = "$input.all"' 'max_parallel = 2' \
	'stdin = "{{index}}:{{item}}"' >r.toml
run_matins run -c r.toml r -p 'all=["x","y"]' --json
json_is "each execution reads its own" step_results[0].output '0:x
1:y'

# ---- much, and programs that do not read it ----

cat >big.py <<-'END'
	import sys
	sys.stdout.write('{"big":"' + 'z' * 52428800 + '"}')
END
{
	program big "$PYTHON" "args = [\"$T/big.py\"]" 'stdout_max = "100MiB"' 'timeout = "2m"'
	program count wc 'args = ["-c"]' 'stdin = "$steps.big.json"' 'timeout = "2m"'
	program both cat 'stdin = "$steps.big.json"' 'stdout_max = "100MiB"' 'timeout = "2m"'
	program deaf true 'stdin = "$steps.big.json"' 'timeout = "2m"'
	program first head 'args = ["-c", "3"]' 'stdin = "$steps.big.json"' 'timeout = "2m"'
	program closed sh 'args = ["-c", "exec <&-; sleep 0.1; echo on"]' 'stdin = "$steps.big.json"' 'timeout = "2m"'
	program late sleep 'args = ["60"]' 'stdin = "$steps.big.json"' 'timeout = "300ms"'
} >r.toml
run_matins run -c r.toml r --json >/dev/null
json_is "50 MiB are read" step_results[1].output 52428810
is "50 MiB are read and written" "$(json_get step_results[2].output | wc -c)" 52428811
json_is "a program need not read" step_results[3].state ok
json_is "a program may read a part" step_results[4].output '{"b'
json_is "a program may close it" step_results[5].output on
json_is "one that never reads has its time" step_results[6].reason deadline_call

# ---- data never becomes a program ----

{
	program made echo 'args = ["echo run"]'
	program shell sh 'stdin = "$steps.made.output"'
	program python "$PYTHON" 'args = ["-"]' 'stdin = "print(\"{{steps.made.output}}\")"'
	program own sh 'stdin = "echo mine"'
	program reads sh 'args = ["-c", "read -r a; echo \"got $a\""]' 'stdin = "$steps.made.output"'
} >r.toml
run_matins run -c r.toml r --json
json_is "a shell that would run data is denied" \
	step_results[1].state denied step_results[2].state denied
json_is "a program of the person is fed" step_results[3].output mine \
	step_results[4].output 'got echo run'

# ---- mistakes ----

{
	peer_step a made 'tool = "t"' 'stdin = "x"'
	program b cat 'stdin = "$steps.c.json"'
	program c cat 'stdin = 1'
	program d cat 'stdin = "{{steps.b.jsno}}"'
} >r.toml
run_matins check r.toml
err_like "a server has its own stdin" 'r.toml:7:1: .*"stdin"'
err_like "a later step is placed" 'r.toml:13:9: step "c" comes later'
err_like "a text is wanted" 'r.toml:19:9: "stdin" must be a string'
err_like "a wrong path is placed" 'r.toml:25:9: .steps.b has no "jsno"'

done_testing
