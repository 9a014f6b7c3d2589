#!/usr/bin/env bash
# A step runs once for each element: foreach, with, $item and $index.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

script serve <<-'END'
	serve
END
# listed JSON: the step `list`, whose data it is
listed() {
	plain list printf "args = ['%s', '$1']" | sed 's/"script"/"harness"/'
}

# ---- values ----

{
	listed '[{"id":1e400,"s":"a\u0000"},{"id":[ 1.0 ],"s":"$input.k"},{"s":2,"id":null}]'
	peer_step each serve 'tool = "echo"' 'foreach = "$steps.list.json"' \
		'params = { k = 1, id = "over", t = "<{{item.s}}>" }' \
		'with = { id = "$item.id", all = "$item", i = "$index", l = "$steps.list.json[2].s" }'
	plain after printf 'args = ["%s", "{{steps.each.items[-1].output}}"]'
} >r.toml
run_matins run -c r.toml r --json
exit_is "foreach: status 0" 0
json_is "foreach: the result is a list in order" \
	step_results[1].data.schema matins-items/1 \
	step_results[1].data.items[0].index 0 \
	step_results[1].data.items[0].state ok \
	step_results[1].data.items[0].reason null \
	step_results[1].data.items[0].error null \
	step_results[1].data.items[2].index 2 \
	step_results[1].data.items[0].data.schema mcp-client/1
json_is "foreach: values go in as they came, with laid over params" \
	step_results[1].data.items[0].output \
	'{"k":1,"t":"<a\u0000>","id":1e400,"all":{"id":1e400,"s":"a\u0000"},"i":0,"l":2}' \
	step_results[1].data.items[1].output \
	'{"k":1,"t":"<$input.k>","id":[1.0],"all":{"id":[1.0],"s":"$input.k"},"i":1,"l":2}'
json_is "foreach: a later step reads its items" step_results[2].output \
	'{"k":1,"t":"<2>","id":null,"all":{"s":2,"id":null},"i":2,"l":2}'
json_is "foreach: one session serves all" step_results[1].run.mcp.messages 6 \
	step_results[1].run.exit.status 0

run_matins run -c r.toml r
out_like "foreach: a person reads the outputs" '<2>'

# ---- as much as one can hold ----

mkdir -m 777 begun
{
	plain each sh "args = ['-c', 'touch $T/begun/\$1; head -c 24000000 /dev/zero | tr \\\\0 x', 'sh', '\$item']" \
		"sandbox = { write = ['$T/begun'] }" 'foreach = "$input.all"'
	plain left echo 'args = ["goes on"]'
} >big.toml
run_matins run -c big.toml r -p all='[1,2,3,4]'
out_like "results are too long together" \
	'the results of its elements are over 67108864 bytes together; raise stdout_max'
out_like "other steps go on" 'goes on'
is "the rest is not begun" "$(ls begun | tr '\n' ' ')" "1 2 3 "

# ---- order, failures ----

cat >slow.sh <<-'END'
	sleep "0.0$(($$ % 5))"
	echo "$1"
	exit "$2"
END
{
	listed '[[0,0],[1,0],[2,3],[3,0],[4,0],[5,4],[6,0],[7,0]]'
	plain each sh "args = ['$T/slow.sh', '\$item[0]', '\$item[1]']" \
		"sandbox.read = ['$T']" 'foreach = "$steps.list.json"' 'max_parallel = 4'
	plain told printf 'args = ["%s", "{{steps.each.error}}"]'
	plain left echo 'needs = ["each"]'
} >r.toml
run_matins run -c r.toml r --json --view golden
exit_is "foreach: one that fails is a failure: status 2" 2
json_is "foreach: how many failed, and which was the first" \
	step_results[1].reason items step_results[1].state failed \
	step_results[1].error '2 of 8 failed; first: [2] the program exited with status 3' \
	step_results[2].output '2 of 8 failed; first: [2] the program exited with status 3'
json_is "foreach: the others went on, each has its result" \
	step_results[1].data.items '#8' step_results[1].data.items[7].output 7 \
	step_results[1].data.items[5].reason exit_status \
	step_results[1].output "$(printf '0\n1\n2\n3\n4\n5\n6\n7')"
json_is "foreach: what needs it is skipped" step_results[3].reason needs
json_is "foreach: the summary counts the step once" \
	summary 'r: 3 ran, 1 skipped, 1 failed'
cp "$out" first
for i in 1 2 3 4 5; do
	run_matins run -c r.toml r --json --view golden -j "$i"
	cmp -s "$out" first || break
done
is "foreach: the report has the same bytes, however it is run" "$i" 5

{
	listed '[]'
	plain none echo 'foreach = "$steps.list.json"'
	plain many echo 'foreach = "$input.many"'
	plain object echo 'foreach = "$input.object"'
	plain gone echo 'foreach = "$steps.list.json[3]"'
	plain wrong echo 'args = ["$item.b"]' 'foreach = "$input.some"'
	listed '["-n"]' | sed 's/"list"/"options"/'
	plain option echo 'args = ["$item"]' 'foreach = "$steps.options.json"'
} >r.toml
run_matins run -c r.toml r --json -p object='{"a":1}' -p some='[{"b":1},{"a":2}]' \
	-p many="[$(printf '0,%.0s' {1..10000})0]"
json_is "foreach: no element" step_results[1].state ok \
	step_results[1].output '(no items)' \
	step_results[1].data '{"schema":"matins-items/1","items":[]}'
json_is "foreach: too many" step_results[2].reason reference step_results[2].error \
	'foreach $input.many: 10001 elements, and at most 10000 are possible'
json_is "foreach: no array" step_results[3].reason reference step_results[3].error \
	'foreach $input.object: the value is an object, and an array is needed'
json_is "foreach: not there" step_results[4].reason reference
json_is "foreach: an element that lacks something" step_results[5].reason items \
	step_results[5].error '1 of 2 failed; first: [1] item has no "b"; it has: a'
json_is "foreach: an element is no option" step_results[7].reason items \
	step_results[7].data.items[0].reason reference

# ---- ends ----

{
	listed '[0,9,0]'
	plain each sleep 'args = ["$item"]' 'foreach = "$steps.list.json"' 'timeout = "1s"'
} >r.toml
run_matins run -c r.toml r --json
json_is "foreach: the time is that of each" \
	step_results[1].data.items[0].state ok \
	step_results[1].data.items[1].reason deadline_call \
	step_results[1].data.items[2].state ok

mkdir work
{
	printf '[sandbox]\nwrite = ["%s/work"]\nexec = ["sleep"]\n' "$T"
	listed '[0,4322,1]'
	plain each sh "args = ['-c', 'sleep \$0; : >$T/work/begun; sleep \$0', '\$item']" \
		'foreach = "$steps.list.json"' 'timeout = "1m"'
} | sed "s/sleep \$0; :/:/" >r.toml
env --default-signal=INT "$BIN" run -c r.toml r --json >"$out" 2>"$err" </dev/null &
pid=$!
wait_for 10 test -e work/begun && rm work/begun
wait_for 10 test -e work/begun
kill -INT "$pid"
status=0
wait "$pid" || status=$?
exit_is "foreach, SIGINT: the status" 130
nothing_left "foreach, SIGINT: nothing runs on" 'sleep 4322'
json_is "foreach, SIGINT: what there was, and what there was not" \
	step_results[1].reason cancelled step_results[1].data.items[0].state ok \
	step_results[1].data.items[1].reason cancelled \
	step_results[1].data.items[2].error 'cancelled before it began'

script dies <<-'END'
	handshake
	call one
	expect tools/call
	exit 3
END
{
	listed '[1,2,3]'
	peer_step each dies 'tool = "t"' 'params = { a = "$item" }' \
		'foreach = "$steps.list.json"'
} >r.toml
run_matins run -c r.toml r --json
json_is "foreach: a server that dies is started again for the next" \
	step_results[1].data.items[0].output one \
	step_results[1].data.items[1].reason server_exit \
	step_results[1].data.items[2].output one

# ---- secrets ----

{
	listed '[1,2]'
	plain each sh "args = ['-c', 'echo \"key \$KEY\"; exit 1']" \
		'env = { KEY = { env = "SECRET_OF_TEST" } }' 'foreach = "$steps.list.json"'
} >r.toml
SECRET_OF_TEST=hunter2hunter2 run_matins run -c r.toml r --json
json_is "foreach: each has the credential, and nobody sees it" \
	step_results[1].data.items[0].output 'key ***' \
	step_results[1].data.items[1].output 'key ***'

# ---- check ----

{
	plain a echo 'foreach = "$steps.b.json"'
	plain b echo 'foreach = "x"' 'when = { "$item" = true }'
	plain c echo 'args = ["$item"]' 'max_parallel = 2'
	plain d echo 'with = { a = 1 }' 'foreach = "$input.x"'
} >r.toml
run_matins check r.toml
exit_is "foreach: mistakes are found without a run" 1
err_like "foreach: a step that comes later" 'step "b" comes later'
err_like "foreach: no reference" '`foreach` is a reference to an array'
err_like "foreach: \$item in a condition" '\$item is not there yet'
err_like "foreach: \$item without it" '\$item is there in a step with `foreach` only'
err_like "foreach: max_parallel without it" '"max_parallel" is a key of a step with "foreach"'
err_like "foreach: with without params" '"with" is laid over "params", which a step of type script lacks'

# ---- a parameter that was given as JSON ----

cat >json.toml <<-'END'
	[[routines.r.steps]]
	name = "each"
	type = "script"
	command = "echo"
	args = ["$item"]
	foreach = "$input.l"
END
run_matins run -c json.toml r -p 'l:=[1, {"a":2}]' --json
json_is "a list given as JSON is walked" \
	step_results[0].data.items[1].output '{"a":2}'
echo '{"l":[3]}' >given
run_matins_stdin given run -c json.toml r --params - --json
json_is "a list of --params is walked" step_results[0].data.items[0].output 3

done_testing
