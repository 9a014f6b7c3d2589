#!/usr/bin/env bash
# The ledger: generations, history, show; what is left of a run that was lost.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

ledger=$T/state/matins/ledger.jsonl
cat >m.toml <<-'END'
	[routines.good]
	[[routines.good.steps]]
	name = "s"
	type = "script"
	command = "echo"
	args = ["hello"]
	[routines.bad]
	[[routines.bad.steps]]
	name = "s"
	type = "script"
	command = "false"
	[routines.slow]
	[[routines.slow.steps]]
	name = "s"
	type = "script"
	command = "sleep"
	args = ["30"]
	timeout = 60
	[routines.single]
	on_busy = "fail"
	[[routines.single.steps]]
	name = "s"
	type = "script"
	command = "sleep"
	args = ["30"]
	timeout = 60
END

run_matins history
exit_is "history before any run" 0
out_is "history before any run prints nothing" ""
not_ok "history before any run creates no folder" test -e "$T/state/matins"
run_matins show last
exit_is "show last before any run fails" 1

# ---- runs are counted ----

run_matins run -c m.toml good
exit_is "a run succeeds" 0
out_like "takes the first generation" '^# good — .* — 1 ok \([0-9.]+ m?s, run 1\)$'
cp "$out" first.txt
run_matins run -c m.toml bad --json
json_is "the next takes the second" generation 2
run_matins run -c m.toml good --dry-run --json
json_is "a dry run takes none" generation 0 dry_run true
is "the folder is the user's alone" "$(stat -c %a "$T/state/matins")" 700
is "the ledger is the user's alone" "$(stat -c %a "$ledger")" 600
is "one line for each event" "$(wc -l <"$ledger")" 4

run_matins history --json -v
json_is "history --json, newest first" runs '#2' \
	runs[0].generation 2 runs[0].routine bad runs[0].state finished \
	runs[0].success false runs[0].exit 2 \
	runs[1].generation 1 runs[1].success true runs[1].exit 0 \
	runs[1].summary 'good: 1 ran, 0 skipped, 0 failed' \
	runs[1].sha256 '~^[0-9a-f]{64}$'
run_matins history
out_like "history lists the run" '^ +1 .* ok +good: 1 ran, 0 skipped, 0 failed$'
out_like "a failed run is marked" '^ +2 .* failed +bad: 1 ran, 0 skipped, 1 failed$'
run_matins history good
out_unlike "history of one routine" ' bad: '
out_like "history of one routine lists its runs" ' good: '
run_matins history -n 1 --json
json_is "history -n 1 lists the newest run" runs '#1' runs[0].generation 2
run_matins history nothing
exit_is "history of what never ran" 0
out_is "history of what never ran prints nothing" ""

# ---- show ----

run_matins run -c m.toml good --json
cp "$out" ran.json
run_matins show 3 --json
file_is "show --json is the report byte for byte" "$out" ran.json
run_matins show last --json
file_is "show last --json is the last report byte for byte" "$out" ran.json
is "the ledger has its hash" "$(sha256sum <ran.json | cut -d' ' -f1)" \
	"$(sed -n 's/.*"generation":3.*"sha256":"\([0-9a-f]*\)".*/\1/p' "$ledger")"
run_matins show 1
exit_is "show takes a generation" 0
out_is "is the text of the run" "$(cat first.txt)"
run_matins show last bad --md
out_like "show last ROUTINE prints the report of that routine" '^# bad — .*, run 2\)$'
run_matins show 1 --html
out_like "show --html prints a page" '^<!DOCTYPE html>$'
run_matins show 99
exit_is "show of an unknown generation fails" 1
run_matins show frob
exit_is "no generation at all" 64
run_matins diff 1 3
exit_is "diff takes generations" 0
run_matins diff 2 last
exit_is "of different routines: cannot compare" 2

sed -i 's/hello/HELLO/' "$T"/state/matins/reports/*/1.json
run_matins show 1
err_like "a report that was changed is told" 'generation 1 was changed'

# ---- kept reports ----

{
	echo 'keep_runs = 2'
	cat m.toml
} >keep.toml
kept() {
	(cd "$T/state/matins/reports" && find . -name '*.json' -printf '%f\n' | sort)
}
run_matins run -c keep.toml good
is "keep_runs of one file leaves the reports of another" "$(kept)" \
	$'1.json\n2.json\n3.json\n4.json'
run_matins run -c keep.toml bad
run_matins run -c keep.toml good
is "only the last keep_runs reports of a file stay" "$(kept)" \
	$'1.json\n2.json\n3.json\n5.json\n6.json'
run_matins history --json
json_is "the ledger keeps its lines" runs '#6'
run_matins show 4
exit_is "a report that is gone" 1
err_like "the message says that the report is not kept" 'not kept'

# ---- files ----

run_matins history good -c keep.toml --json
json_is "history -c: the runs of that file" runs '#2' runs[0].generation 6 \
	runs[1].generation 4
run_matins history --json
is "history --json: the order of the members" \
	"$($PYTHON -c 'import json,sys; print(*json.load(sys.stdin)["runs"][0])' <"$out")" \
	"generation routine file whole state summary started finished"
run_matins history --json -v
is "history --json -v: and three more" \
	"$($PYTHON -c 'import json,sys; print(*json.load(sys.stdin)["runs"][0])' <"$out")" \
	"generation routine file whole state summary started finished success exit sha256"
json_is "history --json: file and wholeness" runs[0].file "$T/keep.toml" \
	runs[0].whole true runs[5].file "$T/m.toml"
run_matins history good
out_like "runs of several files: each is named" \
	" ok +good: 1 ran, 0 skipped, 0 failed  $T/keep\\.toml\$"
mkdir project
cp m.toml project/matins.toml
(cd project && MATINS_ALLOW=/ "$BIN" run good >/dev/null 2>&1)
(cd project && "$BIN" history good --json) >"$T/own.json" 2>/dev/null
json_file_is "a routine of the configuration that is found: its runs" own.json \
	runs '#1' runs[0].file "$T/project/matins.toml"
(cd project && "$BIN" show last good) >"$T/own.txt" 2>/dev/null
file_like "show last ROUTINE: of that file" own.txt '^# good — .*, run 7\)$'
run_matins show last good -c keep.toml
out_like "show last ROUTINE -c: of that one" '^# good — .*, run 6\)$'
run_matins show last good
out_like "show last ROUTINE without a configuration: of any" ', run 7\)$'
run_matins show last good -c gone.toml
exit_is "show -c of a file that is not there" 1
run_matins diff 3 6
exit_is "diff of runs of one name in two files: cannot compare" 2
err_like "the message names the files of both runs" 'run 3 is of .*/m\.toml, run 6 of .*/keep\.toml'
run_matins show 6 --json -o six.json
run_matins diff 3 six.json
exit_is "reports in files are compared all the same" 0

cat >parts.toml <<-'END'
	[routines.r]
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "true"
	[[routines.r.steps]]
	name = "b"
	type = "script"
	command = "true"
END
run_matins run -c parts.toml r --only a
run_matins run -c parts.toml r --skip a
run_matins step -c parts.toml r a
run_matins history -c parts.toml --json
json_is "runs of a part are no whole ones" runs '#3' runs[0].whole false \
	runs[0].routine r/a runs[1].whole false runs[2].whole false
run_matins doctor -c parts.toml r --stale 1h
exit_is "runs of a part keep no dead-man check alive" 1
out_like "doctor says why the runs do not count" \
	'FAILED +r +never finished a whole run; the run of .* was not of all steps'
MATINS_CAVEATS='{' run_matins run -c parts.toml r
exit_is "a run that could not begin" 1
run_matins doctor -c parts.toml r --stale 1h
exit_is "keeps none alive either" 1
run_matins run -c parts.toml r
run_matins doctor -c parts.toml r --stale 1h
exit_is "a whole run does" 0
run_matins golden record -c parts.toml r --report last
exit_is "golden record --report last takes the last report" 0
run_matins trace -c parts.toml r a
run_matins history -c parts.toml -n 1
out_like "a trace is marked as one" ' r/a \(trace\): 1 ran, 0 skipped, 0 failed$'
run_matins history -c parts.toml r -n 1 --json
json_is "and is no run of the routine" runs[0].routine r runs[0].whole true
run_matins run -c parts.toml r --only a
run_matins golden check -c parts.toml r --report last
exit_is "golden --report last: the last that was whole" 0
cp parts.toml twin.toml
run_matins doctor -c twin.toml r --stale 1h
exit_is "a run of another file keeps no dead-man check alive" 1
out_like "doctor names the file that the run was of" 'never finished a whole run; the run of .* was of .*/parts\.toml'
run_matins golden check -c twin.toml r
exit_is "a golden file of another file of the folder: cannot compare" 2
err_like "the message names the file that the golden belongs to" 'golden/r\.json belongs to the routine in parts\.toml; use --dir'
mv parts.toml moved.toml
run_matins doctor -c moved.toml r --stale 1h
exit_is "a file that was moved begins anew" 1
run_matins golden check -c moved.toml r
exit_is "a configuration that moved keeps its golden files" 0
ln -s moved.toml link.toml
run_matins doctor -c link.toml r --stale 1h
exit_is "a link is the file that it leads to" 0

# lines of earlier versions: nothing of a file
export MATINS_STATE=$T/old
mkdir old old/reports
chmod 700 old
at=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
cat >old/ledger.jsonl <<-END
	{"event":"started","generation":1,"routine":"r","at":"$at","pid":1,"pid_start":1,"boot":"x"}
	{"event":"finished","generation":1,"routine":"r","at":"$at","summary":"r: 1 ran, 0 skipped, 0 failed","success":true,"exit":0}
END
"$BIN" show 6 --json >old/reports/1.json 2>/dev/null
MATINS_STATE=$T/state/matins "$BIN" show 6 --json >old/reports/1.json
run_matins history -c moved.toml r --json
json_is "an old line may be of this file" runs '#1' runs[0].file absent \
	runs[0].whole absent
run_matins show last r -c moved.toml
exit_is "its report can be shown" 0
run_matins doctor -c moved.toml r --stale 1h
exit_is "a run recorded without its file keeps no check alive" 1
out_like "doctor says that the run was recorded without its file" 'recorded by an earlier version, without its file'
run_matins run -c moved.toml r --json
json_is "the next run goes on from it" generation 2
run_matins history r
out_like "the old one is shown without a file" 'failed  \(no file\)$'
unset MATINS_STATE
rm -rf old

# one lock for each file
cat >once.toml <<-'END'
	[routines.single]
	on_busy = "fail"
	[[routines.single.steps]]
	name = "s"
	type = "script"
	command = "sleep"
	args = ["30"]
	timeout = 60
END
export MATINS_STATE=$T/locks
"$BIN" run -c m.toml single >/dev/null 2>&1 &
single=$!
wait_for 10 grep -q '"generation":1' "$T/locks/ledger.jsonl"
sed -i 's/"sleep"/"true"/' once.toml
run_matins run -c once.toml single
exit_is "on_busy: one of that name in another file is another routine" 0
kill -TERM $single
wait $single 2>/dev/null
unset MATINS_STATE
rm -rf "$T/state/matins"
for routine in good bad good good; do run_matins run -c m.toml $routine; done

# ---- side by side ----

for _ in 1 2 3 4 5 6; do
	"$BIN" run -c m.toml good --json >/dev/null 2>&1 &
done
wait
run_matins history --json
json_is "runs side by side have generations of their own" runs '#10' \
	runs[0].generation 10
is "each generation is given once" \
	"$(grep -c '"event":"started"' "$ledger")" \
	"$(grep -o '"event":"started","generation":[0-9]*' "$ledger" | sort -u | wc -l)"

# ---- running, lost ----

"$BIN" run -c m.toml slow >/dev/null 2>&1 &
slow=$!
ok "started is on disk while it runs" \
	wait_for 10 grep -q '"generation":11' "$ledger"
run_matins history --json
json_is "a run under way is listed as running" runs[0].generation 11 runs[0].state running \
	runs[0].finished absent
run_matins show 11
exit_is "a running run has no report" 1
err_like "the message says that the run is still running" 'is running'
kill -KILL $slow
wait $slow 2>/dev/null
run_matins history --json
json_is "a run that vanished is listed as lost" runs[0].generation 11 runs[0].state lost
run_matins history
out_like "history marks a lost run for people" '^ +11 .* lost +slow$'
run_matins show 11
err_like "show of a lost run leads on" \
	'run 11 of slow, begun at 20[^ ]*Z, was lost: .* `matins run -c [^ ]*/m\.toml slow --resume 11`'
run_matins show last
out_like "show last is the last that finished" ', run 10\)$'
err_like "and says that a newer one was lost" \
	'run 11 of slow, newer than the one shown, was lost; `matins show 11`'
run_matins doctor -c m.toml slow --stale 1h
out_like "the dead-man check names it" \
	'never finished a whole run; run 11 of 20[^ ]*Z was lost'
run_matins show last good
err_unlike "which does not concern another routine" lost

printf '{"event":"started","generation":12,"rou' >>"$ledger"
run_matins run -c m.toml good --json
json_is "a torn line is passed over" generation 12
err_unlike "a lost run of another routine is not told by it" lost
run_matins history --json
json_is "history --json lists finished and lost runs" runs '#12' runs[0].state finished runs[1].state lost

# ---- busy ----

"$BIN" run -c m.toml single >/dev/null 2>&1 &
single=$!
wait_for 10 grep -q '"generation":13' "$ledger"
run_matins run -c m.toml single
exit_is "on_busy = fail ends the second run with 75" 75
kill -TERM $single
wait $single 2>/dev/null
is "a run ended by SIGTERM has status 143" "$?" 143
run_matins history --json -v
json_is "that run has finished in order" runs[0].generation 13 \
	runs[0].state finished runs[0].exit 143

# ---- a lost run is told by the next one of its routine ----

sed 's/"30"/"0.01"/' m.toml >quick.toml
lose_step() {
	"$BIN" step -c m.toml slow s >/dev/null 2>&1 &
	slow=$!
	wait_for 10 eval '[[ $(tail -n 1 "$ledger") == *started*slow/s* ]]'
	kill -KILL $slow
	wait $slow 2>/dev/null
}
cp m.toml kept.toml
cp quick.toml m.toml
run_matins run -c m.toml slow --json
err_like "the next run says that the one before was lost" \
	'warning: run 11 of slow, the one before this, was lost: .*`matins show 11`'
json_is "and so does its report" \
	run.warnings[0] '~^run 11 of slow, the one before this, was lost'
run_matins run -c m.toml slow
err_unlike "the one behind it does not" lost
cp kept.toml m.toml
lose_step
run_matins show "$(sed -n '$s/.*"generation":\([0-9]*\).*/\1/p' "$ledger")"
err_like "a lost step has nothing to resume" \
	'of slow/s, begun at .*, was lost: it has no report; run it again'

# ---- no place for it ----

mkdir sealed && chmod 700 sealed
echo x >sealed/file
export MATINS_STATE=$T/sealed/file/state
run_matins run -c m.toml good --json
exit_is "an unwritable state directory does not fail the run" 0
json_is "a run that cannot be recorded has no generation" generation 0 success true \
	run.warnings[0] '~not recorded'
err_like "a run that is not recorded warns" 'warning: .*not recorded.*sealed/file'
run_matins run -c m.toml good --require-ledger
exit_is "--require-ledger fails a run that cannot be recorded" 1
err_like "the message names the variable to set" 'MATINS_STATE'
out_is "a run that --require-ledger refuses starts nothing" ""
MATINS_STATE=$T/own run_matins run -c m.toml good --json
json_is "MATINS_STATE has a counter of its own" generation 1
ok "MATINS_STATE has a ledger of its own" test -f "$T/own/ledger.jsonl"

# ---- a start that does not come to the disk ----

mkdir marks
cat >marks.toml <<-'END'
	[routines.marks]
	[[routines.marks.steps]]
	name = "s"
	type = "script"
	command = "touch"
	args = ["marks/x"]
	[routines.marks.steps.sandbox]
	write = ["marks"]
END
if "$HELPERS/hide" disk -- true 2>/dev/null; then
	WRAP=("$HELPERS/hide" disk --)
	export MATINS_STATE=$T/disk
	run_matins run -c marks.toml marks --require-ledger
	exit_is "a start that is not on disk fails a run that requires it" 1
	out_like "that run says why" 'the ledger is required.*Input/output'
	not_ok "its program was made ready, and not executed" test -e marks/x
	run_matins run -c marks.toml marks --json
	exit_is "without that the run goes on" 0
	json_is "and says that it is not recorded" run.warnings[0] '~not recorded'
	ok "its program was executed" test -e marks/x
	WRAP=()
	rm marks/x
	run_matins run -c marks.toml marks --require-ledger
	exit_is "with a disk that writes it runs" 0
	ok "and the program was executed" test -e marks/x
else
	skip "a start that is not on disk" "calls cannot be hidden here"
fi

# A state folder that another user can fill is not believed.
routine=r plain a true 'cache = "1h"' >mine.toml
mkdir theirs
export MATINS_STATE=$T/theirs
run_matins run -c mine.toml r --json
json_is "a folder of one's own: is recorded" generation 1
chmod 777 theirs
run_matins run -c mine.toml r --json
exit_is "a folder that everybody may write: the run is ok" 0
err_like "and warns" 'theirs could be written by others .*MATINS_STATE'
json_is "and takes nothing from there" step_results[0].run.cached absent
run_matins run -c mine.toml r --resume last
exit_is "nor resumes a run of it" 1
run_matins show last -c mine.toml
err_like "nor shows one" 'could be written by others'
chmod 700 theirs
run_matins run -c mine.toml r --json
json_is "its twin is believed" step_results[0].run.cached 1
if [[ $(id -u) -eq 0 ]]; then
	chown -R nobody: theirs
	run_matins run -c mine.toml r --json
	json_is "a folder of another user is not" step_results[0].run.cached absent
else
	skip "a folder of another user is not" "needs root to make one"
fi
unset MATINS_STATE

# The kernel tells of a flush that failed once, and then of none.
cat >once.c <<-'END'
	#include <errno.h>
	int fdatasync(int fd)
	{
		static int n;
		errno = EIO;
		return fd >= 0 && n++ ? 0 : -1;
	}
END
sed '1d;s/"s"/"t"/;s,marks/x,marks/y,' marks.toml >second.toml
cat second.toml >>marks.toml
rm -f marks/x
if grep -aqE "__(asan|ubsan)_" "$BIN" ||
	! cc -shared -fPIC -o once.so once.c 2>once.err; then
	skip "a flush that fails once" "a sanitizer comes first, or no compiler"
else
	WRAP=(env "LD_PRELOAD=$T/once.so")
	export MATINS_STATE=$T/once
	run_matins run -c marks.toml marks --require-ledger
	exit_is "a flush that fails once fails the whole run" 1
	is "and no step of it is executed" "$(ls marks)" ''
	cat >slow.c <<-'END'
		#include <unistd.h>
		int fdatasync(int fd)
		{
			static int n;
			return n++ || fd < 0 ? 0 : (int)sleep(4);
		}
	END
	cc -shared -fPIC -o slow.so slow.c
	sed 's/^name = .*/&\ntimeout = "3s"/' marks.toml >slow.toml
	WRAP=(env "LD_PRELOAD=$T/slow.so")
	run_matins run -c slow.toml marks
	exit_is "a slow disk is not the fault of a step" 0
	WRAP=()
fi

# ---- a run that was refused before its first step ----

mkdir foreign
echo mine >foreign/programs.jsonl
MATINS_STATE=$T/refused run_matins run -c m.toml good --record foreign
exit_is "a folder that no recording has is refused" 1
MATINS_STATE=$T/refused run_matins show last
exit_is "a run without a report" 1
err_like "show says why there is none" 'run 1 has no report: .*not a file of a recording'

done_testing
