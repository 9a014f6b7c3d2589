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
out_is "is empty" ""
not_ok "and creates nothing" test -e "$T/state/matins"
run_matins show last
exit_is "there is nothing to show" 1

# ---- runs are counted ----

run_matins run -c m.toml good
exit_is "a run" 0
out_like "takes the first generation" '^# good — gen 1$'
run_matins run -c m.toml bad --json
json_is "the next takes the second" generation 2
run_matins run -c m.toml good --dry-run --json
json_is "a dry run takes none" generation 0 dry_run true
is "the folder is the user's alone" "$(stat -c %a "$T/state/matins")" 700
is "so is the ledger" "$(stat -c %a "$ledger")" 600
is "one line for each event" "$(wc -l <"$ledger")" 4

run_matins history --json
json_is "history --json, newest first" runs '#2' \
	runs[0].generation 2 runs[0].routine bad runs[0].state finished \
	runs[0].success false runs[0].exit 2 \
	runs[1].generation 1 runs[1].success true runs[1].exit 0 \
	runs[1].summary 'good: 1 ran, 0 skipped, 0 failed' \
	runs[1].sha256 '~^[0-9a-f]{64}$'
run_matins history
out_like "history" '^ +1 .* ok +good: 1 ran, 0 skipped, 0 failed$'
out_like "a failed run is marked" '^ +2 .* failed +bad: 1 ran, 0 skipped, 1 failed$'
run_matins history good
out_unlike "history of one routine" ' bad: '
out_like "has its runs" ' good: '
run_matins history -n 1 --json
json_is "history -n 1" runs '#1' runs[0].generation 2
run_matins history nothing
exit_is "history of what never ran" 0
out_is "is empty" ""

# ---- show ----

run_matins run -c m.toml good --json
cp "$out" ran.json
run_matins show 3 --json
file_is "show --json is the report byte for byte" "$out" ran.json
run_matins show last --json
file_is "so is the last" "$out" ran.json
is "the ledger has its hash" "$(sha256sum <ran.json | cut -d' ' -f1)" \
	"$(sed -n 's/.*"generation":3.*"sha256":"\([0-9a-f]*\)".*/\1/p' "$ledger")"
run_matins show 1
exit_is "show GEN" 0
out_is "is the text of the run" "$(printf '# good — gen 1\n\n## s\nhello\n\n---\ngood: 1 ran, 0 skipped, 0 failed')"
run_matins show last bad --md
out_like "show last ROUTINE" '^# bad — gen 2$'
run_matins show 1 --html
out_like "show --html" '^<!DOCTYPE html>$'
run_matins show 99
exit_is "an unknown generation" 1
run_matins show frob
exit_is "no generation at all" 64
run_matins diff 1 3
exit_is "diff takes generations" 0
run_matins diff 2 last
exit_is "of different routines: cannot compare" 2

sed -i 's/hello/HELLO/' "$T/state/matins/reports/1.json"
run_matins show 1
err_like "a report that was changed is told" 'generation 1 was changed'

# ---- kept reports ----

{
	echo 'keep_runs = 2'
	cat m.toml
} >keep.toml
run_matins run -c keep.toml good
is "only the last keep_runs reports stay" \
	"$(ls "$T/state/matins/reports")" $'3.json\n4.json'
run_matins history --json
json_is "the ledger keeps its lines" runs '#4'
run_matins show 1
exit_is "a report that is gone" 1
err_like "says so" 'not kept'

# ---- side by side ----

for _ in 1 2 3 4 5 6; do
	"$BIN" run -c m.toml good --json >/dev/null 2>&1 &
done
wait
run_matins history --json
json_is "runs side by side have generations of their own" runs '#10' \
	runs[0].generation 10
is "each once" \
	"$(grep -c '"event":"started"' "$ledger")" \
	"$(grep -o '"event":"started","generation":[0-9]*' "$ledger" | sort -u | wc -l)"

# ---- running, lost ----

"$BIN" run -c m.toml slow >/dev/null 2>&1 &
slow=$!
ok "started is on disk while it runs" \
	wait_for 10 grep -q '"generation":11' "$ledger"
run_matins history --json
json_is "running" runs[0].generation 11 runs[0].state running \
	runs[0].finished absent
run_matins show 11
exit_is "a running run has no report" 1
err_like "says so" 'is running'
kill -KILL $slow
wait $slow 2>/dev/null
run_matins history --json
json_is "lost" runs[0].generation 11 runs[0].state lost
run_matins history
out_like "lost, for people" '^ +11 .* lost +slow$'
run_matins show last
out_like "show last is the last that finished" '— gen 10$'

printf '{"event":"started","generation":12,"rou' >>"$ledger"
run_matins run -c m.toml good --json
json_is "a torn line is passed over" generation 12
run_matins history --json
json_is "and hides nothing" runs '#12' runs[0].state finished runs[1].state lost

# ---- busy ----

"$BIN" run -c m.toml single >/dev/null 2>&1 &
single=$!
wait_for 10 grep -q '"generation":13' "$ledger"
run_matins run -c m.toml single
exit_is "on_busy = fail" 75
kill -TERM $single
wait $single 2>/dev/null
is "ended by SIGTERM" "$?" 143
run_matins history --json
json_is "that run has finished in order" runs[0].generation 13 \
	runs[0].state finished runs[0].exit 143

# ---- no place for it ----

mkdir sealed && chmod 700 sealed
echo x >sealed/file
export MATINS_STATE=$T/sealed/file/state
run_matins run -c m.toml good --json
exit_is "an unwritable state directory does not fail the run" 0
json_is "which has no generation" generation 0 success true \
	run.warnings[0] '~not recorded'
err_like "but warns" 'warning: .*not recorded.*sealed/file'
run_matins run -c m.toml good --require-ledger
exit_is "with --require-ledger it fails" 1
err_like "and says what to set" 'MATINS_STATE'
out_is "before anything starts" ""
MATINS_STATE=$T/own run_matins run -c m.toml good --json
json_is "MATINS_STATE has a counter of its own" generation 1
ok "and its own ledger" test -f "$T/own/ledger.jsonl"

done_testing
