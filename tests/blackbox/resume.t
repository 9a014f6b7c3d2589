#!/usr/bin/env bash
# A run takes results of an earlier one: --from, --resume, and `step`, whose
# references look back.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

mkdir d
chmod 777 d
: >d/log
chmod 666 d/log
# step NAME TEXT [ARGS]: sh with a log, which a test reads
step() {
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "script"\ncommand = "sh"\nargs = ["-c", "echo %s >>d/log; %s", "sh"%s]\nsandbox = { write = ["d"] }\n' \
		"$1" "$1" "$2" "${3-}"
}
ran() {
	tr '\n' ' ' <d/log
	: >d/log
}

# ---- resume ----

{
	step a 'echo A'
	step b 'test -e d/ok && echo B$1' ', "{{steps.a.output}}"'
	step c 'echo C'
	step last 'echo $1' ', "$steps.b.output"'
} >r.toml
run_matins run -c r.toml r --json
exit_is "a run with a failure: status 2" 2
is "all have run" "$(ran)" "a b c "
first=$(json_get generation)
touch d/ok
run_matins run -c r.toml r --resume "$first" --json
exit_is "the run is ok once what failed is" 0
is "only what was not ok runs" "$(ran)" "b last "
json_is "what was taken is told" run.taken_from "$first" \
	step_results[0].run.taken_from "$first" step_results[0].output A \
	step_results[2].run.taken_from "$first" step_results[3].output BA
lacks() {
	is "$1" "$("$PYTHON" -c 'import json,sys
s = json.load(open(sys.argv[1]))["step_results"][int(sys.argv[2])]
print("taken_from" in s["run"])' "$out" "$2")" False
}
lacks "and what was not" 1
json_is "inputs have a sum" step_results[1].run.inputs \
	"$(json_get step_results[1].run.inputs)"
like "of 64 digits" "$(json_get step_results[1].run.inputs)" '^[0-9a-f]{64}$'

run_matins run -c r.toml r --resume last
is "a resumed run can be resumed, and all is taken" "$(ran)" ""
out_like "people see what was taken" "a .*taken from run $first"

sed -i 's/echo C/echo CC/' r.toml
run_matins run -c r.toml r --resume last --json
is "what has other arguments runs" "$(ran)" "c "
sed -i 's/echo A/echo AA/' r.toml
run_matins run -c r.toml r --resume last --json
is "so does what refers to other values" "$(ran)" "a b last "
json_is "by their values" step_results[3].output BAA

# ---- programs and scripts that changed ----

echo 'echo one; echo script >>d/log' >s.sh
cat >s.toml <<-END
	[[routines.r.steps]]
	name = "s"
	type = "script"
	command = "sh"
	args = ["$T/s.sh"]
	sandbox = { write = ["d"] }
	[[routines.r.steps]]
	name = "p"
	type = "script"
	command = "$T/p"
	sandbox = { write = ["d"] }
END
printf '#!/bin/sh\necho program >>d/log\n' >p
chmod 755 p
run_matins run -c s.toml r
is "programs run" "$(ran)" "script program "
run_matins run -c s.toml r --resume last
is "unchanged, they are taken" "$(ran)" ""
cp -p s.sh s2 && mv s2 s.sh
run_matins run -c s.toml r --resume last
is "a script that was put there since runs" "$(ran)" "script "
chmod 755 p
run_matins run -c s.toml r --resume last
is "a program likewise" "$(ran)" "program "

{
	printf '[[routines.r.steps]]\nname = "in"\ntype = "routine"\nroutine = "within"\n\n'
	printf '[[routines.within.steps]]\nname = "in"\ntype = "routine"\nroutine = "inner"\n\n'
	sed '7,$d; s/routines.r/routines.inner/' s.toml
	routine=inner plain none echo 'args = ["$input.n"]'
	printf '[routines.inner.params]\nn = { type = "integer", default = 1 }\n'
} >w.toml
run_matins run -c w.toml r
is "a routine within runs" "$(ran)" "script "
run_matins run -c w.toml r --resume last
is "unchanged, it is taken" "$(ran)" ""
cp -p s.sh s2 && mv s2 s.sh
run_matins run -c w.toml r --resume last
is "with a script that was put there since it runs" "$(ran)" "script "

# ---- servers ----

script serve <<-'END'
	serve
END
{
	peer_step one serve 'tool = "echo"' 'params = { a = "$input.k" }'
	peer_step two serve 'tool = "echo"' 'params = { a = "$steps.one.json.a" }'
} >m.toml
run_matins run -c m.toml r -p k=1 --json
run_matins run -c m.toml r -p k=1 --resume last --json
json_is "calls are taken, with their results" step_results[0].run.taken_from \
	"$(($(json_get generation) - 1))" step_results[1].output '{"a":1}' \
	step_results[1].run.tool echo
run_matins run -c m.toml r -p k=2 --resume last --json
json_is "calls with other params are made" step_results[1].output '{"a":2}'
lacks "and are their own" 1

# ---- from ----

rm d/ok
{
	step a 'echo A'
	step b 'test -e d/ok'
	step c 'echo C$1' ', "{{steps.a.output}}"'
	step d 'echo D'
} >f.toml
run_matins run -c f.toml r --from c
exit_is "from: without an earlier run there is nothing to take" 1
err_like "from: said" "no earlier run of r has a result of a"
run_matins run -c f.toml r
ran >/dev/null
run_matins run -c f.toml r --only d
ran >/dev/null
run_matins run -c f.toml r --from c --json
is "from: what is before it does not run" "$(ran)" "c d "
json_is "from: its results are those of the last run that has them" \
	step_results[0].output A step_results[1].state failed \
	step_results[2].output CA
exit_is "from: a failure that was taken is one" 2
run_matins history --json
is "from: it is no whole run" "$(grep -o '"whole":[a-z]*' "$T/state/matins/ledger.jsonl" | tail -1)" '"whole":false'
run_matins run -c f.toml r --from nix
exit_is "from: an unknown step" 64
err_like "from: is named" "routine r has no step nix"
run_matins run -c f.toml r --from c --dry-run --json
is "from: a dry run starts nothing" "$(ran)" ""
like "from: and says what would be taken" \
	"$(json_get step_results[0].error)" "would be taken from run"
{
	printf '[routines.r]\norder = "needs"\n'
	step z 'echo Z'
	step c 'echo C$1' ', "{{steps.a.output}}"'
	step a 'echo A'
} >n.toml
run_matins run -c n.toml r
ran >/dev/null
run_matins run -c n.toml r --from c --json
is "from: before a step is what it needs" "$(ran | tr ' ' '\n' | sort | tr '\n' ' ')" "c z "
json_is "from: and is taken" step_results[1].output CA

# ---- step ----

run_matins step -c n.toml r c --json
is "step: it alone runs" "$(ran)" "c "
json_is "step: it refers to the last results" step_results[0].output CA
err_like "step: said" '\$steps.a has its value of run'
{
	step list "echo '[1,2,3]'" | sed 's/"script"/"harness"/'
	step each 'echo $1$2' ', "$item", "{{steps.list.json[0]}}"'
	echo 'foreach = "$steps.list.json"'
} >e.toml
run_matins run -c e.toml r
ran >/dev/null
run_matins step -c e.toml r each --json
is "step: each element runs" "$(ran)" "each each each "
json_is "step: each element refers to the last results" step_results[0].output \
	"$(printf '11\n21\n31')"
is "step: the last result is read once" "$(grep -c 'has its value of run' "$err")" 1

# ---- parameters ----

# of those that changed only the ones count that a step refers to
{
	step list "echo '[1,2]'"
	step each 'echo $1$2' ', "$item", "{{input.used}}"'
	echo 'foreach = "$steps.list.json"'
	step whole 'echo $1' ', "$item"'
	echo 'foreach = "$input.all"'
	printf '[[routines.r.steps]]\nname = "ask"\ntype = "mcp-client"\ncommand = "python3"\nargs = ["%s"]\ntool = "t"\nparams = { k = "$input.used" }\n' \
		"$T/ask.py"
} >p.toml
tool_server ask.py <<-'END'
	text = a["k"]
END
ran >/dev/null
run_matins run -c p.toml r -p used=x -p all='[1]' -p other=1
is "parameters: all run" "$(ran)" "list each each whole "
run_matins run -c p.toml r -p used=x -p all='[1]' -p other=2 --resume last --json
is "parameters: one that no step uses has no say" "$(ran)" ""
json_is "parameters: calls are taken, too" step_results[1].run.taken_from present \
	step_results[3].run.taken_from present
run_matins run -c p.toml r -p used=y -p all='[1]' -p other=2 --resume last --json
is "parameters: one that is used has" "$(ran)" "each each "
json_is "parameters: of a call, too" step_results[3].output y
run_matins run -c p.toml r -p used=y -p all='[2]' -p other=2 --resume last
is "parameters: so has the list" "$(ran)" "whole "

# ---- mistakes ----

run_matins run -c f.toml r --resume 99999
exit_is "an unknown run" 1
err_like "is told" "there is no run 99999 of r"
run_matins run -c r.toml r --resume 99999
run_matins run -c r.toml r --resume last --json
is "last: of a run that failed before its first step nothing is taken" "$(ran)" ""
json_is "last: but of the one before" run.taken_from present
plain a true >new.toml
run_matins run -c new.toml r --resume last
exit_is "last: without any run" 1
err_like "last: is told" "no earlier run of r in this configuration .* run the whole routine"
run_matins run -c f.toml r --resume x
exit_is "no generation" 64
run_matins run -c f.toml r --resume last --only a
exit_is "a mix of filters" 64

# ---- kill -9 ----

wait='until [ -e d/go-$1 ]; do sleep 0.05; done; echo V$1'
{
	for s in k1 k2 k3 k4; do step $s "$wait" ", \"$s\""; done
} >k.toml
await() {
	for _ in {1..600}; do
		! grep -qx "$1" d/log || return 0
		sleep 0.05
	done
	return 1
}
resume=()
for s in k2 k3 k4; do
	touch "d/go-k$((${s#k} - 1))"
	"$BIN" run -c k.toml r "${resume[@]}" >/dev/null 2>&1 &
	pid=$!
	ok "$s has begun" await "$s"
	kill -9 $pid
	wait $pid 2>/dev/null
	is "killed: what was ok runs no second time" "$(grep -c . d/log)" 2
	ran >/dev/null
	resume=(--resume last)
	ok "killed: the journal is the user's alone" \
		test "$(stat -c %a "$T"/state/matins/reports/*/*.part | sort -u)" = 600
done
touch d/go-k4
run_matins run -c k.toml r --resume last --json
exit_is "the last resumed run is ok" 0
is "and runs what is left" "$(ran)" "k4 "
json_is "with the results of the lost ones" step_results[0].output Vk1 \
	step_results[2].output Vk3
is "a run that ended has no journal" \
	"$(find state -name "$(json_get generation).part")" ""
part=$(find "$T/state" -name '*.part' | sort -t/ -k1 | tail -1)
n=${part##*/}
n=${n%.part}
head -c -3 "$part" >torn && cat torn >"$part"
run_matins run -c k.toml r --resume "$n" --json
exit_is "a torn journal is read as far as it goes" 0

# ---- a journal of a ledger that is gone ----

n=$(($(json_get generation) + 1))
cp "$part" "${part%/*}/$n.part"
run_matins run -c k.toml r
err_unlike "an old journal is in nobody's way" "cannot be resumed"
is "and goes" "$(find state -name "$n.part")" ""
ran >/dev/null
rm d/go-k1
"$BIN" run -c k.toml r >/dev/null 2>&1 &
pid=$!
ok "another run has begun" await k1
kill -9 $pid
wait $pid 2>/dev/null
cp "$part" "${part%/*}/$((n + 1)).part"
touch -d 2020-01-01 "${part%/*}/$((n + 1)).part"
run_matins run -c k.toml r --resume $((n + 1))
err_like "nor taken for that of a lost run" "nothing is kept of run $((n + 1)) of r"

# ---- a resumed run that is ended has what the one before it had ----

again='test -e d/ok1 || exit 1; until [ -e d/go-$1 ]; do sleep 0.05; done; echo V'
{
	step w 'test -e d/ok1'
	step x "$again" ', "x"'
	step a 'echo A'
	step y "$again" ', "y"'
} >e.toml
for signal in KILL INT; do
	rm -f d/ok1 d/go-?
	run_matins run -c e.toml r --json
	first=$(json_get generation)
	ran >/dev/null
	touch d/ok1
	env --default-signal=INT "$BIN" run -c e.toml r --resume last >/dev/null 2>&1 &
	pid=$!
	ok "$signal: it has begun anew" await x
	kill -$signal $pid
	wait $pid 2>/dev/null
	is "$signal: it had no turn for the others" "$(ran)" "w x "
	touch d/go-x d/go-y
	run_matins run -c e.toml r --resume last --json
	exit_is "$signal: the next one is ok" 0
	is "$signal: what either had is taken" "$(ran)" "x y "
	json_is "$signal: each from its run" step_results[2].run.taken_from "$first" \
		step_results[2].output A step_results[0].run.taken_from $((first + 1))
done

# the server of a routine that is a step
cat >server.peer <<-'END'
	handshake
	expect tools/call
	reply {"content":[{"type":"text","text":"one"}]}
	expect-eof
END
sed 's/one/two/' server.peer >other.peer
touch -d '1 hour ago' server.peer other.peer
cat >s.toml <<-END
	[servers.s]
	command = "$PEER"
	args = ["$T/server.peer"]
	[[routines.r.steps]]
	name = "in"
	type = "routine"
	routine = "within"
	[[routines.within.steps]]
	name = "call"
	type = "mcp-client"
	server = "s"
	tool = "t"
END
run_matins run -c s.toml r --json
run_matins run -c s.toml r --resume last --json
json_is "a routine with the same server is taken" \
	step_results[0].run.taken_from present
sed -i 's/server.peer/other.peer/' s.toml
run_matins run -c s.toml r --resume last --json
json_is "one with another server runs" step_results[0].output '~two'

done_testing
