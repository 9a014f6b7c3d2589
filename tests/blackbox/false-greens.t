#!/usr/bin/env bash
# Nothing that did not happen looks like a success: each way in which scheduled
# work does nothing is seen by its exit status, in the first and last line of
# the report, in JSON, in the history, and by those who are told.
. "${BASH_SOURCE%/*}/lib.sh"

unset MATINS_ALLOW
cat >server.py <<'END'
import json, sys
text = lambda t: [{"type": "text", "text": t}]
answers = {
    "nothing": {"content": []},
    "blank": {"content": text(" \n")},
    "null": {"content": [], "structuredContent": None},
    "object": {},
    "flag": {"isError": False},
    "array": {"content": None},
    "error": {"content": [], "isError": True},
    "said": {"content": text("said")},
    "data": {"content": [], "structuredContent": {"n": 0}},
}
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    answer = {"error": {"code": -32601, "message": "no such method"}}
    if m["method"] == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                             "serverInfo": {"name": "s", "version": "1"}}}
    elif m["method"] == "tools/list":
        answer = {"result": {"tools": [{"name": n, "inputSchema": {}} for n in answers if len(sys.argv) < 2]}}
    elif m["method"] == "tools/call" and m["params"]["name"] in answers:
        answer = {"result": answers[m["params"]["name"]]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **answer}), flush=True)
END
cat >m.toml <<END
[notify]
on = ["failure", "change", "lost", "recovered"]
command = ["tee", "-a", "$T/told/told"]
sandbox = { write = ["$T/told"] }
[servers.s]
command = "$PYTHON"
args = ["server.py"]
[servers.bare]
command = "$PYTHON"
args = ["server.py", "lists nothing"]
[servers.gone]
command = "no-such-server"
[servers.down]
url = "http://127.0.0.1:9/mcp"
END
mkdir told
chmod 777 told

# add ROUTINE STEP LINES...: a step of m.toml
add() {
	printf '[[routines.%s.steps]]\nname = "%s"\n' "$1" "$2"
	shift 2
	printf '%s\n' "$@"
} >>m.toml

script='type = "script"'
tool() { # ROUTINE STEP SERVER TOOL [LINES...]
	add "$1" "$2" 'type = "mcp-client"' "server = \"$3\"" "tool = \"$4\"" "${@:5}"
}

# told NAME ERE: of the last run; `untold NAME`
told() {
	file_like "$1" told/told "$2"
	rm -f told/told
}
untold() {
	[[ ! -s told/told ]]
	is "$1" $? 0
	rm -f told/told
}

# red NAME ROUTINE FIRST LAST TOLD [ARGS...]: every channel of a run says that
# it was no success
red() {
	local name=$1 routine=$2 first=$3 last=$4 said=$5

	shift 5
	run_matins run -c m.toml "$routine" "$@"
	exit_is "$name: the status" 2
	like "$name: the first line" "$(head -n1 "$out")" "— $first \("
	like "$name: the last line" "$(tail -n1 "$out")" "^$routine: $last\$"
	told "$name: somebody is told" "$said"
	run_matins run -c m.toml "$routine" --json "$@"
	json_is "$name: JSON" success false summary "~$last"
	untold "$name: once"
	run_matins run -q -c m.toml "$routine" -o report "$@"
	exit_is "$name: the status of cron" 2
	err_like "$name: the mail of cron" "^matins: $routine: $last; the report is in report\$"
	run_matins history -c m.toml "$routine" --json -v
	json_is "$name: the history" runs[2].state finished runs[2].success false \
		runs[2].summary "~$last"
	run_matins show last -c m.toml "$routine"
	like "$name: the report that was kept" "$(head -n1 "$out")" "— $first \("
}

# ---- no tool can be reached ----

tool gone s gone t
tool down s down t
tool lacks s s no_such_tool
tool listless s bare no_such_tool

run_matins run -c m.toml gone
exit_is "a server that is not installed is no success" 2
like "and nothing ran" "$(tail -n1 "$out")" ' — nothing ran$'
told "which is told" '^gone failed'
red "a server that is down" down '1 failed' '1 ran, 0 skipped, 1 failed' '^down failed'
red "a tool that is not there" lacks '1 failed' '1 ran, 0 skipped, 1 failed' '^lacks failed'
for at in "s no_such_tool" "bare said" "gone said" "down said"; do
	run_matins call -c m.toml -s "${at% *}" "${at#* }"
	exit_is "call of ${at#* } at ${at% *}" 1
	out_is "call of ${at#* } at ${at% *} prints nothing" ''
	echo "{\"tool\":\"${at#* }\"}" >calls
	run_matins call -c m.toml -s "${at% *}" --batch calls
	exit_is "and in a batch" 1
done
for server in gone down; do
	run_matins tools -c m.toml -s $server --json
	exit_is "tools of $server" 1
	json_is "is an error" tools absent error.message present
done
run_matins tools -c m.toml -s bare
exit_is "a list of no tools was asked for and is there" 0
err_like "and is said to be empty" 'bare lists none'
run_matins doctor -c m.toml lacks --deep
exit_is "the doctor misses the tool" 1
out_like "by its name" 'no_such_tool'
run_matins doctor -c m.toml listless --deep
exit_is "also where the list is empty" 1
run_matins doctor -c m.toml down --deep
exit_is "the doctor sees that a server is down" 1
run_matins doctor -c m.toml gone
exit_is "and without asking that one is missing" 1

# ---- every step is skipped ----

add missing a "$script" 'command = "no-such-program"'
add off a "$script" 'command = "true"' 'enabled = false'
add never a "$script" 'command = "true"' 'when = { "$run.date" = { const = "never" } }'
add ask a 'type = "approve"' 'message = "sure?"'
add ask b "$script" 'command = "true"' 'needs = ["a"]'
add secret a "$script" 'command = "true"' 'env = { A = { env = "NOT_SET_ANYWHERE" } }'
add outer in 'type = "routine"' 'routine = "missing"'
add half a "$script" 'command = "no-such-program"'
add half b "$script" 'command = "echo"' 'args = ["here"]'
add required a "$script" 'command = "no-such-program"' 'required = true'
add required b "$script" 'command = "true"'
echo '[routines.zero]' >zero.toml

nothing='— nothing ran'
red "a program that is missing" missing '1 skipped' "0 ran, 1 skipped, 0 failed $nothing" '^missing failed'
for routine in off never secret; do
	run_matins run -c m.toml $routine
	exit_is "$routine: skipped is no success" 2
	like "$routine: the last line" "$(tail -n1 "$out")" " $nothing\$"
done
run_matins run -c m.toml ask
exit_is "a question that nobody answered" 2
like "and what needs the answer" "$(tail -n1 "$out")" "^ask: 0 ran, 2 skipped, 0 failed $nothing\$"
run_matins run -c m.toml outer
exit_is "a routine in which nothing ran fails its step" 2
out_like "which says so" "ERROR: in: missing: 0 ran, 1 skipped, 0 failed $nothing"
run_matins run -c zero.toml zero
exit_is "a routine of no steps" 2
like "ran nothing" "$(head -n1 "$out")" "$nothing "
run_matins check zero.toml
err_like "which check says" 'routine "zero" has no steps'
run_matins run -c zero.toml zero --allow-empty
exit_is "unless that is meant" 0
rm -f told/told
run_matins run -c m.toml half
exit_is "one of two is skipped: the other succeeded" 0
like "the first line counts it" "$(head -n1 "$out")" '— 1 ok, 1 skipped \('
run_matins history -c m.toml half
out_like "and so does the history" 'half: 1 ran, 1 skipped, 0 failed$'
run_matins run -q -c m.toml half -o report
exit_is "it is a success for cron" 0
err_is "which mails what is missing" \
	"matins: half: 1 ran, 1 skipped, 0 failed (a): report says what is missing; enabled = false skips it without a word"
add parts a "$script" 'command = "no-such-program"' 'enabled = false'
add parts b "$script" 'command = "true"'
run_matins run -q -c m.toml parts -o report
err_is "but not what was switched off" ''
run_matins run -c m.toml required
exit_is "a required one is a failure" 2
run_matins doctor -c m.toml half
exit_is "the doctor misses the program" 1

# ---- --only, --skip and their like ----

tool words report s said
tool words weather s said
for option in --only --skip --from; do
	run_matins run -c m.toml words $option wether
	exit_is "$option with a typo" 64
	err_like "$option: and the nearest name" 'did you mean weather\?$'
	out_is "$option: nothing was run" ''
done
run_matins run -c m.toml words --only weather,reprt
exit_is "one of two names is wrong: none is run" 64
run_matins run -c m.toml wrds
exit_is "a routine with a typo" 1
run_matins step -c m.toml words wether
exit_is "a step with a typo" 1
run_matins run -c m.toml half --only a
exit_is "--only of a step that is skipped" 2
like "says what was left out" "$(head -n1 "$out")" '— 1 skipped, 1 left out \('
run_matins run -c m.toml words --skip report,weather
exit_is "--skip of all" 2
rm -f told/told

# ---- an answer without content ----

for word in nothing blank null object flag array error said data; do
	tool $word a s $word
done
for word in object flag array error; do
	red "an answer of $word" $word '1 failed' '1 ran, 0 skipped, 1 failed' "^$word failed"
done
for word in object flag array; do
	run_matins call -c m.toml -s s $word
	exit_is "call: an answer of $word" 1
done
run_matins call -c m.toml -s s error
exit_is "call: an error without a word" 2
err_like "has one" 'the tool reported an error'
for word in nothing blank null; do
	run_matins run -c m.toml $word
	exit_is "$word is an answer" 0
	like "$word: the first line says that it is empty" "$(head -n1 "$out")" \
		'— 1 ok, 1 without content \('
	like "$word: and so does the last" "$(tail -n1 "$out")" \
		"^$word: 1 ran, 0 skipped, 0 failed, 1 without content\$"
	run_matins history -c m.toml $word
	out_like "$word: and the history" ', 1 without content$'
	run_matins run -c m.toml $word --json
	json_is "$word: and JSON" step_results[0].state ok step_results[0].lacks content
	run_matins run -q -c m.toml $word -o report
	err_like "$word: and the mail of cron" ', 1 without content \(a\): .*`expect`'
	run_matins call -c m.toml -s s $word
	err_is "call: $word is said to be one" "matins: $word answered without content"
done
for word in said data; do
	run_matins run -q -c m.toml $word -o report
	exit_is "$word is content" 0
	err_is "$word: nothing is to be said" ''
	run_matins run -c m.toml $word --json
	json_is "$word: nor in JSON" summary "$word: 1 ran, 0 skipped, 0 failed" \
		step_results[0].lacks absent
	run_matins call -c m.toml -s s $word
	err_is "call: $word" ''
done
tool due a s nothing 'expect = { "$.output" = { minLength = 1 } }'
tool fine a s nothing 'expect = { "$.output" = { type = "string" } }'
red "content that is expected" due '1 failed' '1 ran, 0 skipped, 1 failed' '^due failed'
run_matins run -q -c m.toml fine -o report
exit_is "none that is expected" 0
err_is "is not spoken of" ''
add loop a "$script" 'command = "true"' 'foreach = "$input.all"'
run_matins run -c m.toml loop -p 'all=[]'
exit_is "a loop over nothing is ok" 0
like "and its first line says so" "$(head -n1 "$out")" '— 1 ok, 1 without items \('
like "and the last" "$(tail -n1 "$out")" ', 1 without items$'
run_matins run -c m.toml loop -p 'all=[1]'
unlike "which is not so of one" "$(tail -n1 "$out")" 'without'

# ---- results of earlier runs ----

add kept a "$script" 'command = "date"' 'cache = "1h"'
run_matins run -c m.toml kept
first=$(json_get runs[0].generation <("$BIN" history -c m.toml kept --json))
like "a result of its own" "$(head -n1 "$out")" '— 1 ok \('
run_matins run -c m.toml kept
like "a cached one is counted as such" "$(head -n1 "$out")" '— 1 ok, 1 from earlier runs \('
out_like "and says where it is from" "^## a \(taken from run $first\)\$"
run_matins run -c m.toml kept --no-cache
run_matins run -c m.toml kept --resume last
like "where nothing is left to do that is said, too" "$(head -n1 "$out")" \
	'— 1 ok, 1 from earlier runs \('

# ---- a run that is lost ----

add long a "$script" 'command = "true"'
add long b "$script" 'command = "sleep"' 'args = ["300"]' 'timeout = "10m"'
"$BIN" run -q -c m.toml long -o report &
pid=$!
lost=
begun() {
	lost=$(json_get runs[0].generation <("$BIN" history -c m.toml long --json))
	[[ -n $lost ]] && find "$XDG_STATE_HOME/matins" -name "*$lost*" | grep -q .
}
ok "a run has begun" wait_for 20 begun
kill -9 "$pid"
wait "$pid" 2>/dev/null
run_matins history -c m.toml long
out_like "a killed run is lost in the history" "^ *$lost .* lost "
run_matins history -c m.toml long --json
json_is "in JSON" runs[0].state lost runs[0].finished absent
for which in "$lost" last; do
	run_matins show "$which" -c m.toml long
	exit_is "show $which: there is no report" 1
	err_like "show $which: leads on" "(--resume|matins show) $lost"
done
run_matins doctor long -c m.toml --stale 1h
out_like "it keeps no dead-man check alive" 'FAILED +long +never finished a whole run'
rm -f told/told
run_matins run -c m.toml said
told "and the next run of anything tells of it" "^long was lost \(run $lost\)"

# ---- golden files ----

cp m.toml golden.toml
cat >>golden.toml <<END
[golden]
ignore = ["$.success", "$.summary", "$.step_results[*]", "$..state"]
match = { "$.success" = "/./" }
[[routines.g.steps]]
name = "a"
type = "script"
command = "true"
[[routines.f.steps]]
name = "a"
type = "script"
command = "false"
END
for routine in missing never; do
	run_matins golden record -c golden.toml $routine
	isnt "golden record of a run in which nothing ran: $routine" "$status" 0
	err_like "says so" "nothing ran in $routine: there is nothing to compare"
	[[ ! -e golden/$routine.json ]]
	is "and records nothing" $? 0
done
run_matins golden check -c golden.toml g
exit_is "golden check without a golden file" 2
run_matins golden record -c golden.toml g
run_matins golden check -c golden.toml g
exit_is "golden check of a run that is as it was" 0
err_like "is unchanged" "^matins: g: unchanged since $T/golden/g\\.json\$"
err_like "a rule that cannot count is a warning" \
	'warning: golden\.toml:.*\$\.success is compared all the same'
sed '/^\[\[routines.g/,/^command/s/"true"/"false"/' golden.toml >failing.toml
mv failing.toml golden.toml
run_matins golden check -c golden.toml g
exit_is "no rule hides that the run fails" 1
out_like "which is a difference" '^\$\.success '
sed '/^\[\[routines.g/,/^command/s/"false"/"no-such-program"/' golden.toml >failing.toml
mv failing.toml golden.toml
run_matins golden check -c golden.toml g
exit_is "nor that nothing ran" 2
run_matins golden record -c golden.toml f
run_matins golden check -c golden.toml f
exit_is "a failure that was recorded is the same" 0
err_like "and is called one" 'unchanged since .*, and failed as it did then$'
run_matins golden accept -c golden.toml f
isnt "nothing to accept is no success" "$status" 0

# ---- a run that waits for one that hangs ----

printf '[routines.busy]\non_busy = "skip"\n' >>m.toml
add busy a "$script" 'command = "sleep"' 'args = ["300"]' 'timeout = "10m"'
"$BIN" run -q -c m.toml busy -o report &
pid=$!
goes_on() {
	"$BIN" history -c m.toml busy | grep -q ' running '
}
ok "a run goes on" wait_for 20 goes_on
run_matins run -c m.toml busy
exit_is "another one is skipped" 0
err_like "and is told for which run" \
	'^matins: busy is running already: skipped .*; run [0-9]+ goes on since 20'
run_matins run -q -c m.toml busy -o report
err_is "-q does not speak of it" ''
ledger=$XDG_STATE_HOME/matins/ledger.jsonl
line=$(grep -n '"started".*"routine":"busy"' "$ledger" | tail -n1)
edited=$(sed "${line%%:*}s/\"at\":\"[0-9-]*T/\"at\":\"2026-01-05T/" "$ledger")
printf '%s\n' "$edited" >"$ledger" # it stays the file that the run has open
run_matins run -q -c m.toml busy -o report
err_like "but of one that hangs for days" \
	'^matins: busy is running already: .* goes on since 2026-01-05T'
run_matins doctor busy -c m.toml --stale 1h
exit_is "which keeps no dead-man check alive" 1
kill "$pid"
wait "$pid" 2>/dev/null
run_matins history -c m.toml busy
out_like "and is no success when it is ended" '^ *[0-9]+ .* failed '

# ---- calls, recordings, pins, outputs ----

for input in /dev/null blank; do
	echo >blank
	run_matins call -c m.toml -s s --batch $input
	exit_is "a batch of no calls ($input)" 2
	err_like "which is said" 'holds no calls: nothing was called'
done
mkdir empty
run_matins run -c m.toml said --replay empty
exit_is "a replay of an empty folder" 1
run_matins run -c m.toml said --record recording -o report
for file in recording/*; do
	: >"$file"
done
run_matins run -c m.toml said --replay recording
isnt "a replay of empty files is no success" "$status" 0
run_matins run -c m.toml parts --replay recording
isnt "nor of a program that is not in it" "$status" 0
sed 's/^\[servers.s\]/&\npin = true/' m.toml >pinned.toml
run_matins run -c pinned.toml said
exit_is "a pin without tools that were kept" 2
out_like "calls nothing" 'pinned.* is not there yet; it was not called'
run_matins call -c pinned.toml -s s said
exit_is "nor does call" 1
for file in no/folder "$T" /dev/full; do
	run_matins run -q -c m.toml said -o "$file"
	exit_is "a report that cannot be written: $file" 1
	err_like "is said" 'No such file|Is a directory|No space left'
done
status=0
"$BIN" run -q -c m.toml said >/dev/full 2>"$err" || status=$?
exit_is "nor to standard output" 1

done_testing
