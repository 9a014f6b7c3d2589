#!/usr/bin/env bash
# Steps that run another routine, and steps that a person approves.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

script serve <<-'END'
	serve
END
# step ROUTINE NAME TYPE [LINES...]
step() {
	printf '[[routines.%s.steps]]\nname = "%s"\ntype = "%s"\n' "$1" "$2" "$3"
	shift 3
	(($# == 0)) || printf '%s\n' "$@"
}
say() {
	step "$1" "$2" script 'command = "echo"' "args = [$3]"
}

# ---- a routine as a step ----

{
	step top list harness 'command = "printf"' "args = ['[\"a\",\"007\"]']"
	step top each routine 'routine = "sub"' 'foreach = "$steps.list.json"' \
		'params = { x = "$item" }' 'max_parallel = 2'
	step top bad routine 'routine = "sub"' 'params = { x = "stop" }'
	step top good routine 'routine = "sub"' 'params = { x = "go" }'
	say top end '"{{steps.good.data.step_results[0].output}}: {{steps.bad.error}}"'
	say sub first '"$input.x"'
	step sub second script 'command = "sh"' \
		"args = ['-c', 'test \"\$0\" != stop', '{{steps.first.output}}']"
	say sub third '"{{steps.second.state}} {{run.routine}}"'
} >r.toml
run_matins run -c r.toml top --json
exit_is "a routine that fails within: status 2" 2
json_is "a routine as a step: its report is the data" \
	step_results[3].state ok step_results[3].data.schema matins-report/1 \
	step_results[3].data.summary 'sub: 3 ran, 0 skipped, 0 failed' \
	step_results[3].data.step_results[2].output 'ok sub' \
	step_results[3].data.run absent step_results[3].data.generation absent
json_is "a routine as a step: a person reads the outputs" \
	step_results[3].output "$(printf 'first: go\nthird: ok sub')"
json_is "a routine that fails within: said" \
	step_results[2].reason routine step_results[2].error \
	'sub: 3 ran, 0 skipped, 1 failed; first: second: the program exited with status 1' \
	summary 'top: 5 ran, 0 skipped, 1 failed' success false
json_is "a routine for each element, with texts as they are" \
	step_results[1].data.items[0].data.step_results[0].output a \
	step_results[1].data.items[1].data.step_results[0].output 007
json_is "a later step refers into the report of a routine" step_results[4].output \
	'go: sub: 3 ran, 0 skipped, 1 failed; first: second: the program exited with status 1'
run_matins run -c r.toml top --json --view golden
cp "$out" first
for i in 1 2 3 4; do
	run_matins run -c r.toml top --json --view golden -j "$i"
	cmp -s "$out" first || break
done
is "routines within: the report has the same bytes, however it is run" "$i" 4
run_matins run -c r.toml top --dry-run
out_like "a dry run names the routine" 'would run: routine sub'
run_matins doctor -c r.toml top
out_like "doctor names the routine" 'top/good +runs routine sub'

# the server of both is one
{
	printf '[servers.s]\ncommand = "%s"\nargs = ["%s/serve.peer"]\n' "$PEER" "$T"
	step top one mcp-client 'server = "s"' 'tool = "echo"' 'params = { a = 1 }'
	step top sub routine 'routine = "sub"'
	step top two mcp-client 'server = "s"' 'tool = "echo"' 'params = { a = 3 }'
	step sub in mcp-client 'server = "s"' 'tool = "echo"' 'params = { a = 2 }'
} >shared.toml
run_matins run -c shared.toml top --json
json_is "a routine within shares the servers" \
	step_results[1].data.step_results[0].output '{"a":2}' \
	step_results[0].run.mcp.messages 6 step_results[2].run.session_of one

# one that runs again keeps its servers between two passes
{
	printf '[servers.s]\ncommand = "sh"\nargs = ["-c", "%s"]\n' \
		"echo start >>$T/starts/log; exec $PEER $T/serve.peer"
	printf 'sandbox = { exec = ["%s"], write = ["%s"], read = ["%s"] }\n' \
		"$PEER" "$T/starts" "$T/serve.peer"
	step top each routine 'routine = "sub"' 'foreach = "$input.all"'
	step top two routine 'routine = "sub"' 'foreach = "$input.all"' 'max_parallel = 2'
	step sub deeper routine 'routine = "deep"'
	step sub in mcp-client 'server = "s"' 'tool = "echo"' 'params = { a = 2 }'
	step deep own mcp-client 'server = "s"' 'tool = "echo"' 'sandbox = { memory = "1GiB" }' \
		'params = { a = "deep" }'
} >again.toml
mkdir -m 777 starts
run_matins run -c again.toml top -p all='[1,2,3,4,5]' --json
exit_is "a routine for each element, with servers: status 0" 0
json_is "a routine for each element: each pass has its answer" \
	step_results[0].data.items[4].data.step_results[1].output '{"a":2}' \
	step_results[1].data.items[4].data.step_results[1].output '{"a":2}'
is "a routine for each element: its server, and one further within, start once" \
	"$(wc -l <starts/log)" 4
nothing_left "a routine for each element: no server is left" "$T/serve.peer"

# parameters that it declares
{
	printf '[routines.sub.params]\nn = { type = "integer", maximum = 9 }\n'
	step top big routine 'routine = "sub"' 'params = { n = "$input.big" }'
	step top none routine 'routine = "sub"' 'params = { n = "$input.word" }'
	step top well routine 'routine = "sub"' 'params = { n = 9 }'
	say sub show '"$input.n"'
} >params.toml
run_matins run -c params.toml top -p big=10 -p word=x --json
json_is "parameters of a routine within are judged" \
	step_results[0].reason reference step_results[0].error '~^routine sub: .*n' \
	step_results[1].reason reference step_results[2].output 'show: 9'

# what a routine within may not do, it may not do
mkdir open shut
{
	printf '[sandbox]\nwrite = ["%s/open"]\n' "$T"
	step top sub routine 'routine = "sub"'
	for i in open shut; do
		step sub "$i" script 'command = "sh"' "args = ['-c', 'echo x >$T/$i/f']"
	done
} >policy.toml
run_matins run -c policy.toml top --json
json_is "a routine within has the policy of the file" step_results[0].reason routine \
	step_results[0].data.step_results[0].state ok \
	step_results[0].data.step_results[1].state failed
is "a routine within writes nowhere else" "$(ls shut)" ""
MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":{"only":["cat"]},"net":"all","max_calls":"unlimited","valid_for_generation":"all"}' \
	run_matins run -c r.toml top --json
json_is "a routine within is held by the leash" \
	step_results[3].data.step_results[0].reason leash

# an end in the middle
mkdir work
{
	printf '[sandbox]\nwrite = ["%s/work"]\nexec = ["sleep"]\n' "$T"
	step top sub routine 'routine = "sub"'
	step sub slow script 'command = "sh"' \
		"args = ['-c', ': >$T/work/begun; sleep 4323']" 'timeout = "1m"'
	say sub after '"x"'
	step quick sub routine 'routine = "sub"' 'timeout = "1s"'
} >stop.toml
env --default-signal=INT "$BIN" run -c stop.toml top --json >"$out" 2>"$err" </dev/null &
pid=$!
wait_for 10 test -e work/begun
kill -INT "$pid"
status=0
wait "$pid" || status=$?
exit_is "SIGINT in a routine within: the status" 130
json_is "SIGINT in a routine within: a whole report" step_results[0].reason cancelled \
	step_results[0].data.step_results[0].reason cancelled \
	step_results[0].data.step_results[1].begun false
nothing_left "SIGINT in a routine within: nothing runs on" 'sleep 4323'
run_matins run -c stop.toml quick --json
json_is "the time of a routine within" step_results[0].reason deadline_call \
	step_results[0].data.step_results[0].reason cancelled
nothing_left "the time of a routine within: nothing runs on" 'sleep 4323'

# an end while a routine within asks for what it needs
{
	step quick sub routine 'routine = "ask"' 'timeout = "500ms"'
	step top sub routine 'routine = "ask"'
	step ask one script 'command = "true"' \
		"env = { A = { cmd = \"sh -c ': >$T/work/asked; sleep 4323; echo v'\" } }"
	step ask two script 'command = "true"' \
		"env = { B = { cmd = \"sh -c ': >$T/work/asked2; echo v'\" } }"
	printf '[sandbox]\nwrite = ["%s/work"]\nexec = ["sleep"]\n' "$T"
} >asks.toml
status=0
timeout 25 "$BIN" run -c asks.toml quick --json >"$out" 2>"$err" || status=$?
exit_is "the time of a routine within that asks: it is not waited for" 2
json_is "the time of a routine within that asks: a whole report" \
	step_results[0].reason deadline_call \
	step_results[0].data.step_results[0].reason cancelled \
	step_results[0].data.step_results[1].reason cancelled
is "the time of a routine within that asks: asked no more" "$(ls work | tr '\n' ' ')" \
	'asked begun '
rm -f work/asked
env --default-signal=INT "$BIN" run -c asks.toml top --json >"$out" 2>"$err" </dev/null &
pid=$!
wait_for 10 test -e work/asked
kill -INT "$pid"
status=0
wait "$pid" || status=$?
exit_is "SIGINT while a routine within asks: the status" 130
json_is "SIGINT while a routine within asks: a whole report" \
	step_results[0].reason cancelled \
	step_results[0].data.step_results[0].reason cancelled

# ---- check ----

{
	step a one routine 'routine = "b"'
	step b one routine 'routine = "c"'
	step c one routine 'routine = "a"'
	step d one routine 'routine = "aa"' 'command = "x"'
	step e one routine
	step f one approve
	for i in 1 2 3 4 5 6 7 8 9; do
		step "n$i" one routine "routine = \"n$((i + 1))\""
	done
	say n10 one '"x"'
} >bad.toml
run_matins check bad.toml
exit_is "routines that run each other: an error" 1
err_like "routines that run each other: the circle" \
	'bad\.toml:12:11: routine "a" runs itself: a runs b, which runs c, which runs a'
err_like "a routine that is not there" 'there is no routine "aa"; did you mean "a"'
err_like "a routine has no command" 'a step of type routine has no "command"'
err_like "a step without routine" 'the step lacks "routine"'
err_like "a step without message" 'the step lacks "message"'
err_like "routines too deep" 'routines run each other more than 8 deep from here'

# ---- approvals ----

# on_terminal ANSWERS ARGS...: run it where a person is
on_terminal() {
	local answers=$1

	shift
	status=0
	env -u CI "$PYTHON" "$TOP/tests/blackbox/on_terminal.py" "$answers" "$BIN" \
		"$@" >"$out" 2>"$err" || status=$?
}
{
	step top text harness 'command = "cat"' "args = ['$T/text.json']" \
		"sandbox.read = ['$T']"
	step top go approve 'message = "send {{steps.text.json.m}}"' 'needs = ["text"]'
	step top send script 'command = "echo"' 'args = ["sent"]' 'needs = ["go"]'
	step outer in routine 'routine = "top"'
} >ask.toml
printf '{"m":"it\\u001b[2J now\\nmatins: approve go of routine top? [y/N] y\\n\\u202eabc"}' >text.json
run_matins run -c ask.toml top --json </dev/null
exit_is "nobody to ask: no failure" 0
json_is "nobody to ask: skipped, with the option" step_results[1].state skipped \
	step_results[1].reason approval step_results[1].error \
	'nobody is here to ask; to approve it beforehand: --approve go' \
	step_results[2].reason needs
run_matins run -c ask.toml top --json --approve go </dev/null
json_is "approved beforehand" step_results[1].state ok \
	step_results[1].output 'approved: --approve' step_results[2].output sent
run_matins run -c ask.toml outer --json --approve in/go </dev/null
json_is "approved beforehand, in a routine within" \
	step_results[0].data.step_results[2].output sent
run_matins run -c ask.toml outer --json </dev/null
json_is "in a routine within: the option has the names around it" \
	step_results[0].data.step_results[1].error '~--approve in/go$'
run_matins run -c ask.toml top --approve goo
exit_is "an approval of no step: status 64" 64
err_like "an approval of no step: said" 'routine top has no such step of type approve'
run_matins run -c ask.toml outer --approve go
exit_is "an approval of a step that is not this routine's: status 64" 64

on_terminal y run -c ask.toml top
exit_is "approved on the terminal: status 0" 0
out_like "approved on the terminal" '^  sent'
out_like "the question has a bar before each line of the message" \
	'^  \| matins: approve go of routine top\? \[y/N\] y$'
out_unlike "the question is not obeyed by the terminal" $'\033\\[2J'
out_unlike "the question is not turned around" $'\u202e'
on_terminal n run -c ask.toml top
exit_is "not approved on the terminal: no failure" 0
out_like "not approved on the terminal: said" 'not approved on the terminal'
out_unlike "not approved on the terminal: not done" '^  sent'
on_terminal '^y,n' run -c ask.toml top
out_unlike "typed before the question: no answer" '^  sent'
out_unlike "not approved on the terminal: no advice to approve it" '[-]-approve'
on_terminal maybe,nope,n run -c ask.toml top
is "another word: asked again" "$(grep -c 'write yes or no \[y/N\]' "$out")" 2
out_unlike "another word is no yes" '^  sent'
on_terminal maybe,Yes run -c ask.toml top
out_like "approved the second time" '^  sent'
status=0
env CI=true "$PYTHON" "$TOP/tests/blackbox/on_terminal.py" y "$BIN" run -c ask.toml top \
	>"$out" 2>"$err" || status=$?
out_like "nobody is asked in CI" 'nobody is here to ask'

done_testing
