#!/usr/bin/env bash
# Results of steps go into later ones: references, needs, conditions.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

script serve <<-'END'
	serve
END
# made NAME JSON: a transcript whose one answer is a CallToolResult
made() {
	printf 'handshake\nexpect tools/call\nreply %s\nexpect-eof\n' "$2" \
		>"$T/$1.peer"
}

# ---- bytes ----

made odd '{"content":[{"type":"text","text":"t"}],"structuredContent":{"n":123456789012345678901234567890,"e":1e400,"s":"\ud800 \u0000","a":[1.0,-0]}}'
{
	peer_step odd odd 'tool = "t"' 'params = {}'
	peer_step echo serve 'tool = "echo"' \
		'params = { n = "$steps.odd.structuredContent.n", all = "$steps.odd.structuredContent", t = "<{{steps.odd.structuredContent.s}}>", a = ["$steps.odd.structuredContent.a[-1]"] }'
} >r.toml
run_matins run -c r.toml r --json
exit_is "a result goes into arguments: status 0" 0
json_get step_results[1].output >got
is "a result goes into arguments as it came" "$(<got)" \
	'{"n":123456789012345678901234567890,"all":{"n":123456789012345678901234567890,"e":1e400,"s":"\ud800 \u0000","a":[1.0,-0]},"t":"<\ud800 \u0000>","a":[-0]}'

cat >big.py <<-'END'
	import json, sys
	for line in sys.stdin:
	    m = json.loads(line)
	    r = {"protocolVersion": "2025-11-25", "capabilities": {},
	         "serverInfo": {"name": "big", "version": "1"}}
	    if m.get("method") == "tools/call":
	        r = {"content": [], "structuredContent": {"big": "z" * 52428800}}
	    if "id" in m:
	        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}),
	              flush=True)
END
{
	cat <<-END
		[[routines.r.steps]]
		name = "big"
		type = "mcp-client"
		command = "$PYTHON"
		args = ["$T/big.py"]
		tool = "t"
		stdout_max = "100MiB"
		timeout = "2m"
	END
	peer_step echo serve 'tool = "echo"' 'stdout_max = "200MiB"' 'timeout = "2m"' \
		'params = { big = "$steps.big.structuredContent.big" }'
} >r.toml
run_matins run -c r.toml r --json
exit_is "50 MiB go from one step into the next: status 0" 0
is "50 MiB go from one step into the next" \
	"$("$PYTHON" - "$out" <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))["step_results"]
		print(r[1]["output"] == json.dumps({"big": "z" * 52428800}, separators=(",", ":")))
	END
	)" True

# ---- arguments of programs ----

{
	plain say printf 'args = ["%s", "a b; $(id)\n"]'
	plain one printf 'args = ["<%s>", "$steps.say.output", "x{{steps.say.output}}{{input.k}}", "$$HOME", "{{{{.ID}}", "$input.k", "$steps.say.state"]'
} >r.toml
run_matins run -c r.toml r -p 'k=007' --json
json_is "a value is one argument, whatever it holds" step_results[1].output \
	'<a b; $(id)><xa b; $(id)007><$HOME><{{.ID}}><007><ok>'

{
	plain dash printf 'args = ["%s", "-n"]'
	plain option echo 'args = ["$steps.dash.output"]'
	plain text echo 'args = ["{{steps.dash.output}}x"]'
	plain behind echo 'args = ["--", "$steps.dash.output"]'
	plain inside echo 'args = ["v={{steps.dash.output}}"]'
	plain allowed echo 'args = ["$steps.dash.output", "v"]' 'args_from_data = "allow"'
	plain input echo 'args = ["$input.k", "v"]'
} >r.toml
run_matins run -c r.toml r -p k=-n --json
json_is "a value that would be an option is refused" \
	step_results[1].reason reference step_results[1].state failed \
	step_results[2].reason reference
json_is "a value behind -- or within an argument is none" \
	step_results[3].output "-- -n" step_results[4].output "v=-n"
json_is "args_from_data = allow lets it pass" step_results[5].output v
json_is "a value of -p is the user's own" step_results[6].output v

made nul '{"content":[{"type":"text","text":"a\u0000b"}]}'
{
	peer_step nul nul 'tool = "t"' 'params = {}'
	plain use echo 'args = ["$steps.nul.output"]'
} >r.toml
run_matins run -c r.toml r --json
json_is "a NUL is no argument: said" step_results[1].reason reference

# a reference that a result holds stays a text
made evil '{"content":[{"type":"text","text":"$input.secret {{input.secret}} $steps.evil.output"}],"structuredContent":{"r":"$input.secret"}}'
{
	peer_step evil evil 'tool = "t"' 'params = {}'
	plain text echo 'args = ["x{{steps.evil.output}}", "$steps.evil.structuredContent.r"]'
	peer_step echo serve 'tool = "echo"' 'params = { r = "$steps.evil.structuredContent.r" }'
} >r.toml
run_matins run -c r.toml r -p secret=hidden --json
json_is "a result that looks like a reference is none" step_results[1].output \
	'x$input.secret {{input.secret}} $steps.evil.output $input.secret' \
	step_results[2].output '{"r":"$input.secret"}'

# ---- not there ----

made list '{"content":[],"structuredContent":{"total":0,"page":2}}'
{
	peer_step list list 'tool = "t"' 'params = {}'
	plain missing echo 'args = ["$steps.list.structuredContent.items[0]"]'
	plain depends echo 'args = ["{{steps.missing.output}}"]'
	plain told echo 'args = ["{{steps.missing.state}}: {{steps.missing.reason}}"]'
	plain last echo 'args = ["<{{steps.missing.output}}{{steps.depends.output}}>", "$steps.list.json.x"]' 'after = "always"'
	peer_step null serve 'tool = "echo"' 'after = "always"' \
		'params = { a = "$steps.list.json.x", b = "<{{steps.depends.output}}>" }'
	plain fine echo 'args = ["<{{steps.list.error}}{{steps.list.reason}}>", "$steps.list.error"]'
	peer_step none serve 'tool = "echo"' 'when = { "$steps.list.error" = { type = "null" } }' \
		'params = { a = "$steps.list.error", b = "<{{steps.list.reason}}>" }'
} >r.toml
run_matins run -c r.toml r --json
exit_is "a path that is not there: status 2" 2
json_is "a path that is not there says what is" \
	step_results[1].reason reference step_results[1].error \
	'steps.list.structuredContent has no "items"; it has: total, page'
json_is "what refers to it is skipped" step_results[2].reason needs \
	step_results[2].state skipped \
	step_results[2].error "needs missing, which failed"
json_is "its state can be read" step_results[3].output "failed: reference"
json_is "after all others it is empty, as a value null" \
	step_results[4].output "<>" step_results[5].output '{"a":null,"b":"<>"}'
json_is "so is the error of a step that has none" \
	step_results[6].output "<>" step_results[7].output '{"a":null,"b":"<>"}'

# ---- conditions ----

{
	plain n printf 'args = ["5"]'
	plain big echo 'when = { "$steps.n.json" = { minimum = 6 } }'
	plain small echo 'when = { "$steps.n.json" = { maximum = 6 }, "$input.mode" = { const = "full" } }'
	plain there echo 'when = { "$steps.n.data.exit_code" = true, "$steps.n.content" = false }'
	plain bad false 'when = { "$steps.big.state" = { const = "ok" } }'
	plain failed echo 'after = "failure"'
	plain fine echo 'after = "success"'
} >r.toml
run_matins run -c r.toml r -p mode=full --json
exit_is "a run in which conditions skip steps is ok" 0
json_is "a condition that does not hold skips, and is named" \
	step_results[1].state skipped step_results[1].reason condition \
	step_results[1].error 'when $steps.n.json: is 5, must be at least 6'
json_is "conditions that hold" step_results[2].state ok step_results[3].state ok
json_is "the state of a step can be asked for" step_results[4].reason condition
json_is "after: failure is for failures" step_results[5].reason condition \
	step_results[6].state ok
sed -i 's/when = .*"ok" } }//' r.toml
run_matins run -c r.toml r -p mode=full --json
exit_is "after a failure: status 2" 2
json_is "after: success is for runs without one" step_results[5].state ok \
	step_results[6].reason condition

# a guard that a long value leaves undecided is no guard that holds
guard='{ not = { pattern = "^(a|aa)+$" } }'
{
	plain n "$PYTHON" 'args = ["-c", "print(40000 * \"a\" + \"!\")"]'
	plain alert echo "when = { \"\$steps.n.output\" = $guard }"
	plain fine echo "when = { \"\$steps.n.state\" = $guard }"
	plain given echo "when = { \"\$input.v\" = $guard }"
} >r.toml
run_matins run -c r.toml r -p v=b --json
exit_is "a condition without a verdict: status 2" 2
json_is "it fails the step" step_results[1].state failed \
	step_results[1].reason reference \
	step_results[1].error '~when [$]steps.n.output: .*no verdict' \
	step_results[2].state ok step_results[3].state ok
run_matins run -c r.toml r -p "v=$(printf '%040000d' 0 | tr 0 a)!" --dry-run
out_like "a dry run says so" 'would fail: when [$]input.v: .*no verdict'

# ---- needs ----

{
	echo '[routines.r]'
	echo 'order = "needs"'
	plain c echo 'args = ["c{{steps.b.output}}"]'
	plain b echo 'args = ["b{{steps.a.output}}"]'
	plain a echo 'args = ["a"]'
	plain d false 'needs = ["c"]'
	plain e echo 'needs = ["d"]'
	plain f echo 'needs = ["e"]'
} >r.toml
run_matins run -c r.toml r --json
json_is "needs: steps run as what they need has ended, reported in file order" \
	step_results[0].step_name c step_results[0].output cba
json_is "needs: what needs a failure is skipped, and so on" \
	step_results[4].error "needs d, which failed" \
	step_results[5].error "needs e, which was skipped"
run_matins run -c r.toml r --skip a --json
json_is "needs: a step that was left out is told" \
	step_results[1].error "needs a, which was skipped"

{
	echo '[routines.r]'
	echo 'order = "needs"'
	for i in {1..12}; do
		plain "s$i" sh "args = [\"-c\", \"sleep 0.\$((RANDOM % 3)); echo $i\"]"
		plain "t$i" echo "args = [\"{{steps.s$i.output}}\"]"
	done
} >r.toml
run_matins run -c r.toml r --view golden --json
cp "$out" first
same=0
for _ in {1..5}; do
	run_matins run -c r.toml r --view golden --json
	! cmp -s first "$out" || same=$((same + 1))
done
is "needs: the report is the same, whatever ran first" $same 5

# ---- the run, and the one before ----

{
	plain day echo 'args = ["{{run.routine}} {{run.date}} {{run.generation}}"]'
	plain count sh 'args = ["-c", "echo $(($1 + 1))", "sh", "$steps.before.output"]'
	plain before printf 'args = ["%s", "{{previous.count.output}}"]'
} >r.toml
sed -i '1i [routines.r]\norder = "needs"' r.toml
sed -i 's/{{previous.count.output}}/1/' r.toml
run_matins run -c r.toml r --json
json_is "the routine and day are known" step_results[0].output \
	"r $(date +%F) $(json_get generation)"
sed -i 's/"%s", "1"/"%s", "{{previous.count.output}}"/' r.toml
run_matins run -c r.toml r --json
run_matins run -c r.toml r --json
json_is "the run before is known" step_results[1].output 4
run_matins run -c r.toml r --only day
run_matins run -c r.toml r --json
json_is "a run of a part is not the run before" step_results[1].output 5
{
	plain a echo 'args = ["{{previous.a.output}}"]'
} >new.toml
run_matins run -c new.toml r --json
json_is "without a run before: said" step_results[0].reason reference \
	step_results[0].error \
	"previous.a: there is no earlier run of the whole routine that was ok; until then when = { \"\$previous.a.output\" = true } skips this step"
run_matins check new.toml
err_like "without a run before: check notes it" \
	'^new\.toml:5:9: note: \$previous\.a is there once .* when = \{ "\$previous\.a\.output" = true \}'
cp new.toml first.toml
echo 'when = { "$previous.a.output" = true }' >>first.toml
run_matins check first.toml
err_unlike "with that condition: no note" note
run_matins run -c first.toml r
out_like "with it the first run skips it" '^\(skipped: when .* that was ok\)$'
sed 's/.*when = .*/after = "always"/' first.toml >after.toml
run_matins check after.toml
err_unlike "what is empty without a run before: no note" note
: >no-folder
XDG_STATE_HOME=$T/no-folder run_matins run -c new.toml r --json
json_is "without a record of runs: said" step_results[0].error \
	"previous.a: no record of runs can be opened here, see the warning"
err_like "there is the warning" "this run is not recorded"
run_matins run -c r.toml r --dry-run
exit_is "a dry run needs no results" 0

{
	plain text echo 'args = ["not json"]'
	plain user echo 'args = ["$steps.text.json.n"]'
} >text.toml
run_matins run -c text.toml r --json
json_is "a text that is not JSON: said" step_results[1].error \
	'steps.text has no "json", because its output is not JSON: "not json"; it has: state, reason, error, output, data'

# ---- mistakes are placed without a run ----

{
	plain a echo 'args = ["$steps.b.output"]'
	plain b echo 'needs = ["c"]' 'when = { "$steps.a.outptu" = true }'
} >r.toml
run_matins check r.toml
exit_is "mistakes: status 1" 1
err_like "a later step is placed" 'r.toml:5:9: step "b" comes later'
err_like "an unknown step is placed" 'r.toml:11:9: routine r has no step "c"'
err_like "an unknown key is placed" 'r.toml:12:10: \$steps.a has no "outptu"; did you mean "output"'
{
	echo '[routines.r]'
	echo 'order = "needs"'
	plain a echo 'needs = ["b"]'
	plain b echo 'needs = ["a"]'
} >r.toml
run_matins run -c r.toml r
exit_is "a circle: nothing runs" 1
err_like "a circle is named" "a needs b, which needs a"

# ---- questions ----

cat >ask.toml <<-'END'
	[[routines.r.steps]]
	name = "sure"
	type = "approve"
	message = "go on?"
	[[routines.r.steps]]
	name = "do"
	type = "script"
	command = "true"
END
run_matins check ask.toml
err_like "a question that no step waits for is said" \
	'ask.toml:1:1: warning: step "sure" holds nothing back: write needs = \["sure"\]'
exit_is "and is no error" 0
echo 'needs = ["sure"]' >>ask.toml
run_matins check ask.toml
err_unlike "one that holds a step back is not" 'holds nothing back'
sed -i 's/^needs.*/when = { "$steps.sure.state" = { const = "ok" } }/' ask.toml
run_matins check ask.toml
err_unlike "nor one that a condition asks for" 'holds nothing back'
head -n 4 ask.toml >last.toml
run_matins check last.toml
err_unlike "nor the last step" 'holds nothing back'

done_testing
