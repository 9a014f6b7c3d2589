#!/usr/bin/env bash
# Statistics of a routine, and lists of runs that are bounded.
. "${BASH_SOURCE%/*}/lib.sh"

ledger=$T/state/matins/ledger.jsonl
routine_file() {
	cat >"$1" <<-'END'
		[routines.r]
		[[routines.r.steps]]
		name = "fate"
		type = "script"
		command = "sh"
		args = ["fate"]
		sandbox = { read = ["."] }
		[[routines.r.steps]]
		name = "calm"
		type = "script"
		command = "true"
		[routines.never]
		steps = []
	END
}
routine_file m.toml

run_matins stats r -c m.toml
exit_is "stats before any run" 0
out_is "stats before any run prints nothing" ""
err_like "and says that there are none" "no runs of r of $T/m.toml"
run_matins stats rr -c m.toml
exit_is "a routine that is not there is an error" 1
err_like "with the nearest name" 'did you mean r\?'
run_matins stats
exit_is "stats needs a routine" 64

for fate in 0 0 3 0 3 0; do
	echo "exit $fate" >fate
	run_matins run -c m.toml r
done
run_matins run -c m.toml r --only calm
run_matins stats r -c m.toml
exit_is "stats of runs" 0
out_like "says how many were ok" '^r: 66 % of 6 runs ok$'
out_like "which outcomes" '^  runs   4 ok, 2 failed, since run 1, ... [0-9]* ... 20[0-9]*, [0-9:]*; 1 of some steps only, not counted$'
out_like "how it stands" '^  now    ok since run 6, ... [0-9]* ... 20[0-9]*, [0-9:]*$'
out_like "marks failed runs" '^ +x x$'
out_like "a step that fails by turns" '^  fate +4 +2 +0 .* flaky$'
out_like "and what that means" '^  flaky: from ok to failed or back three times or more'
out_like "and one that does not" '^  calm +6 +0 +0 '
run_matins stats r -c m.toml --json
json_is "stats as JSON" routine r file "$T/m.toml" outcomes.ok 4 \
	outcomes.failed 2 outcomes.lost 0 ok_percent 66 parts 1 \
	streak.ok true streak.runs 1 streak.since 6 runs '#6' \
	runs[0].generation 6 runs[1].outcome failed \
	duration_us.n 4 steps '#2' steps[0].name fate steps[0].flaky true \
	more false
run_matins stats r -c m.toml -n 3 --json
json_is "stats of the last three" runs '#3' runs[2].generation 4 more true
run_matins stats r -c m.toml --since 2200-01-01
out_is "stats since a time to come are none" ""
err_like "which is said" 'no runs of r .* since then'
WRAP=(env LC_ALL=C)
run_matins stats r -c m.toml
out_like "without UTF-8 the chart has plain characters" '^        0 s \|[.:#]{6}$'
out_unlike "and nothing else" '[^ -~]'
WRAP=()
run_matins stats r -c m.toml --html -o page.html
out_is "a page goes to a file" ""
file_has "a page has a chart" page.html '<figure class="chart"><svg role="img"'
file_has "headings" page.html '<section><h2>Steps, in 6 reports</h2>'
file_has "and a word on what it calls flaky" page.html '<p class="dim">flaky: from ok to failed'
not_ok "and no script" grep -qi '<script\|onload\|style="' page.html

# ---- reports that are not what their runs wrote ----

report=$(ls "$T"/state/matins/reports/*/6.json)
cp "$report" whole.json
sed -i 's/"duration_us":[0-9]*/"duration_us":99999999999/' "$report"
run_matins stats r -c m.toml --json
err_like "a report that was changed is left out" \
	'the report of run 6 is left out: it was changed after the run'
json_is "and counts for no step" reports 5 steps[0].duration_us.n 3
head -c 5000000 /dev/zero >"$report"
run_matins stats r -c m.toml
err_like "so is a large one" 'the report of run 6 is left out: it is over 4 MiB'
cp whole.json "$report"
run_matins stats r -c m.toml
out_like "of the others nothing is said" '^  fate +4 +2 +0 .* flaky$'
is "on stderr" "$(<"$err")" ""

# ---- two files ----

mkdir other
routine_file other/m.toml
cp fate other/
(cd other && "$BIN" run -c m.toml r -q >/dev/null 2>&1)
run_matins stats r -c m.toml --json
json_is "runs of another file do not count" outcomes.ok 4 outcomes.failed 2
mv other/m.toml other/gone.toml
run_matins stats r
exit_is "runs of two files are not mixed" 64
err_like "which is said with the way out" 'runs of .*m.toml and of .*m.toml; name one of them by --file'
run_matins stats r --file other/m.toml --json
json_is "a file that is gone has its runs" outcomes.ok 1 runs '#1'
run_matins history r --file other/m.toml --json
json_is "in the history, too" runs '#1' runs[0].file "$T/other/m.toml"

# ---- which runs history lists ----

run_matins history --failed --json
json_is "history --failed" runs '#2' runs[0].generation 5 runs[1].generation 3
run_matins history --failed r --file m.toml -n 1 --json
json_is "history --failed -n 1" runs '#1' runs[0].generation 5 more true
run_matins history --since 1h --json
json_is "history --since 1h" runs '#8' more false
run_matins history --since 2200-01-01T10:00
out_is "history since a time to come" ""
for since in 7 d 2999-01-01 2026-13-01 2026-02-30 2026-11-01T25:00 "" -1d; do
	run_matins history --since "$since" --json
	case $since in
	7) exit_is "seconds are a duration as elsewhere" 0 ;;
	*) exit_is "--since $since is refused" 64 ;;
	esac
done

# ---- a long ledger: only what is asked for is read ----

file=$T/m.toml
awk -v file="$file" 'BEGIN {
	for (i = 1; i <= 60000; i++) {
		at = sprintf("2026-%02d-%02dT%02d:%02d:00.000Z", 1 + int(i / 6000),
			1 + int(i / 300) % 28, int(i / 60) % 24, i % 60)
		head = "\"generation\":" i ",\"routine\":\"r\",\"file\":\"" file "\",\"whole\":true,\"at\":\"" at "\""
		print "{\"event\":\"started\"," head ",\"pid\":1,\"pid_start\":1,\"boot\":\"x\"}"
		print "{\"event\":\"finished\"," head ",\"summary\":\"r: 1 ran\",\"success\":true,\"exit\":0}"
	}
}' >"$ledger"
run_matins history
is "history lists the last hundred" "$(grep -c ' ok ' "$out")" 100
err_like "and says that there are older ones" 'there are older runs; -n N or --since'
run_matins history -n 120 -c m.toml --json
json_is "more where they are asked for" runs '#120' runs[119].generation 59881
run_matins stats r -c m.toml
out_like "stats takes the last hundred" '^r: 100 % of the last 100 runs ok$'
run_matins stats r -c m.toml -n 5000 --json
json_is "or as many as are asked for" runs '#5000' outcomes.ok 5000
name='an \"odd\" name, é'
sed -i -e "3,4s|\"routine\":\"r\"|\"routine\":\"${name//\\/\\\\}\"|" "$ledger"
run_matins history 'an "odd" name, é' --json
json_is "a run is found behind all those of another routine" runs '#1' \
	runs[0].generation 2 runs[0].state finished
run_matins history 'an "odd" name' --json
json_is "a part of its name is another routine" runs '#0'
rm -rf "$T/state/matins/reports"
if command -v strace >/dev/null; then
	for command in "history -n 3" "stats r -c m.toml -n 3" "show 59999" \
		"golden record never -c m.toml --report last" \
		"run never -c m.toml --changes"; do
		# shellcheck disable=SC2086
		strace -f -e trace=pread64,read -o trace "$BIN" $command >"$out" 2>"$err"
		is "${command%% *} reads the end alone" "$(awk -F= '{ n += $NF }
			END { print n < 500000 ? "bounded" : n }' trace)" bounded
	done
else
	skip "bounded reads" "no strace"
fi

# ---- ledgers with lines that no matins wrote ----

line='"routine":"r","file":"'$file'","whole":true,"at":"2026-11-20T10:00:00.000Z"}'
printf '{"event":"started","generation":%s,%s\n' 41 "$line" \
	18446744073709551615 "$line" >"$ledger"
run_matins run r -c m.toml --json
json_is "a number that is too large is none" generation 42
run_matins show 42 --json
json_is "so that the next run has one" generation 42
printf '{"event":"started","generation":%s,%s\n' 9223372036854775807 "$line" \
	>"$ledger"
for i in 1 2; do
	run_matins run r -c m.toml --json
	json_is "behind the largest number there is none: $i" generation 0 \
		run.warnings[0] '~has a run of number 9223372036854775807, which no matins wrote: remove that line'
done
is "and nothing is written behind it" "$(wc -l <"$ledger")" 1
if command -v strace >/dev/null; then
	head -c 8000000 /dev/zero | tr '\0' x >"$ledger"
	strace -e trace=pread64 -o trace "$BIN" history -n 3 >"$out" 2>"$err"
	is "a torn line is not read over and over" \
		"$(awk 'END { print NR < 20 ? "few reads" : NR }' trace)" \
		"few reads"
else
	skip "a torn line" "no strace"
fi

done_testing
