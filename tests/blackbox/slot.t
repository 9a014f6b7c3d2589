#!/usr/bin/env bash
# run --slot: a routine runs once for a time, whoever starts it.
. "${BASH_SOURCE%/*}/lib.sh"

cat >matins.toml <<'END'
[[routines.r.steps]]
name = "s"
type = "script"
command = "date"
[[routines.other.steps]]
name = "s"
type = "script"
command = "date"
[[routines.waits.steps]]
name = "s"
type = "script"
command = "sh"
args = ["-c", "until [ -e go ]; do sleep 0.05; done"]
sandbox.read = ["."]
[routines.busy]
on_busy = "fail"
[[routines.busy.steps]]
name = "s"
type = "script"
command = "sleep"
args = ["0.3"]
[[routines.bad.steps]]
name = "s"
type = "script"
command = "false"
END

runs() { # of a routine
	"$BIN" history "$1" --json |
		$PYTHON -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))'
}

# ---- a time ----

run_matins run r --slot 2026-01-05T07:00 -o page
exit_is "a slot is run" 0
err_unlike "and says nothing of slots" 'slot'
run_matins run r --slot 2026-01-05T07:00 --data
exit_is "whoever comes later gets 0" 0
err_like "and is told by which run" '^matins: slot 2026-01-05T07:00 ran already \(run 1\)$'
out_is "and gets no report" ''
run_matins run r --slot 2026-01-05T07:00:00 --json
json_is "seconds of 0 are the same slot" ran 1
run_matins run r --slot 2026-01-06T07:00 --data
out_like "another slot is run" '"s"'
run_matins run other --slot 2026-01-06T07:00 --data
out_like "and that of another routine" '"s"'
run_matins run bad --slot 2026-01-06T07:00
exit_is "a slot whose run fails has its status" 2
run_matins run bad --slot 2026-01-06T07:00
exit_is "and is not run again" 0
is "so there is one run" "$(runs bad)" 1
run_matins run r --slot 2026-01-06T07:00 --dry-run
exit_is "a dry run looks at no slot" 0
err_unlike "and says none" 'ran already'
run_matins run r
exit_is "a run without a slot runs" 0
run_matins history r --json
json_is "history knows slots" runs[1].slot 2026-01-06T07:00
out_unlike "and shows none where there is none" '"slot":""'

# ---- an expression: its last time ----

run_matins run r --slot 'Mon *-*-* 07:00' --json
exit_is "the last time of an expression is run" 0
run_matins run r --slot 'Mon 7:0' --json
json_is "once, however it is written" ran 6

# ---- usage ----

for bad in 2999-01-01T00:00 2026-02-30T07:00 '25:00' 'Mon 07:00 Mars/Base' ''; do
	run_matins run r --slot "$bad"
	exit_is "--slot '$bad' is refused" 64
done
run_matins run r --slot 2026-01-05T07:00 --only s
exit_is "--slot and --only are refused" 64
run_matins step r s --slot 2026-01-05T07:00
exit_is "a step has no slot" 64

# ---- a ledger is needed ----

MATINS_STATE=/dev/null/state run_matins run r --slot 2026-01-07T07:00
exit_is "without a ledger nothing is run" 1
err_like "and the reason is said" '--slot needs the ledger'

# ---- a run that was lost did not do it ----

printf '%s\n' '{"event":"started","generation":900,"routine":"r","file":"'"$T"'/matins.toml","whole":true,"slot":"2026-01-08T07:00","at":"2026-01-08T07:00:01.000Z","pid":1,"pid_start":1,"boot":"gone"}' \
	>>"$XDG_STATE_HOME/matins/ledger.jsonl"
run_matins run r --slot 2026-01-08T07:00 --data
out_like "the slot of a lost run is run" '"s"'
run_matins run r --slot 2026-01-08T07:00
err_like "once" 'slot 2026-01-08T07:00 ran already \(run 901\)'

# ---- whatever becomes of the ledger ----

ledger=$XDG_STATE_HOME/matins/ledger.jsonl
rm "$XDG_STATE_HOME"/matins/slots/*
run_matins run r --slot 2026-01-08T08:00 -q
mv "$ledger" kept
run_matins run r --slot 2026-01-08T08:00
err_like "the last slot of a routine is known without the ledger" \
	'slot 2026-01-08T08:00 ran already \(run 902\)'
mv kept "$ledger"
run_matins run r --slot 2026-01-08T06:00 -q
run_matins run r --slot 2026-01-08T06:00
err_like "an earlier slot, run later, is known by the ledger" 'T06:00 ran already \(run 903\)'
mv "$ledger" kept
run_matins run r --slot 2026-01-08T08:00
err_like "and takes nothing from the last one" 'T08:00 ran already \(run 902\)'
mv kept "$ledger"
rm "$XDG_STATE_HOME"/matins/slots/*
run_matins run r --slot 2026-01-08T08:00
err_like "a ledger of an earlier version tells by itself" 'T08:00 ran already \(run 902\)'
run_matins run r --slot 2026-01-08T09:00 -q
sed -i 's/"event":"finished"/"event":"started"/' "$XDG_STATE_HOME"/matins/slots/*
head -n -1 "$ledger" >kept
mv kept "$ledger"
run_matins run r --slot 2026-01-08T09:00 --data
out_like "a run that was killed is run anew" '"s"'
run_matins run r --slot 2026-01-08T09:00
err_like "once" 'T09:00 ran already'
rm "$XDG_STATE_HOME"/matins/slots/*
ln -s /dev/null "$XDG_STATE_HOME/matins/slots/$(printf '%s/r' "$T/matins.toml" | sha256sum | cut -c1-32)"
run_matins run r --slot 2026-01-08T09:00
err_like "a link in its place is not followed" 'T09:00 ran already'
rm -r "$XDG_STATE_HOME"/matins/slots

: >"$XDG_STATE_HOME/matins/slots"
run_matins run r --slot 2026-01-08T10:00
exit_is "a slot that cannot be kept is not run" 1
rm "$XDG_STATE_HOME/matins/slots"
run_matins run r --slot 2026-01-08T10:00 --data
out_like "and is run when it can" '"s"'
rm -r "$XDG_STATE_HOME/matins/slots"

# ---- one ends while the next begins ----

"$BIN" run waits --slot 2026-01-08T07:00 2>"$err" &
ok "a slot begins" wait_for 20 grep -rqs '"started"' "$XDG_STATE_HOME/matins/slots"
# another process looks at the slots of the routine
exec 8>"$XDG_STATE_HOME/matins/locks/$(printf '%s/waits/slot' "$T/matins.toml" | sha256sum | cut -c1-32)"
flock 8
touch go
wait $!
is "and ends while another process looks at the slots" $? 0
file_like "which may write a later one" "$(ls "$XDG_STATE_HOME"/matins/slots/*)" '"started"'
exec 8>&-
run_matins run waits --slot 2026-01-08T07:00
err_like "it ran all the same" 'T07:00 ran already'
rm -r "$XDG_STATE_HOME"/matins/slots

# ---- ten starters at once ----

for routine in r busy; do
	before=$(runs $routine)
	rm -f status.*
	for i in 1 2 3 4 5 6 7 8 9 10; do
		{
			"$BIN" run $routine --slot 2026-01-09T07:00 \
				>"out.$i" 2>"err.$i"
			echo $? >"status.$i"
		} &
	done
	wait
	is "ten starters of $routine all end with 0" "$(sort -u status.*)" 0
	is "and it ran once" $(($(runs $routine) - before)) 1
	is "nine were told so" "$(cat err.* | grep -c 'ran already')" 9
done

done_testing
