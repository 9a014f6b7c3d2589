#!/usr/bin/env bash
# Ctrl-C and the like: an orderly stop with a report, nothing left, and no
# second signal that takes the report away.
. "${BASH_SOURCE%/*}/lib.sh"

# begin ROUTINE [OPTIONS...]: start it in the background, wait until its
# first step runs (it touches "begun"). A shell starts background programs
# with SIGINT ignored, and what is ignored stays so.
begin() {
	rm -f work/begun
	env --default-signal=INT "$BIN" run -c r.toml "$@" --json >"$out" 2>"$err" </dev/null &
	pid=$!
	wait_for 10 test -e work/begun
}
end() {
	status=0
	wait "$pid" || status=$?
}

mkdir work
cat >r.toml <<END
[sandbox]
write = ["$T/work"]
exec = ["sleep"]
[[routines.r.steps]]
name = "slow"
type = "script"
command = "sh"
args = ["-c", "echo partial; : >$T/work/begun; sleep 4324"]
timeout = "8s"
[[routines.r.steps]]
name = "next"
type = "script"
command = "true"
[[routines.r.steps]]
name = "off"
type = "script"
command = "true"
enabled = false
[[routines.stubborn.steps]]
name = "slow"
type = "script"
command = "sh"
args = ["-c", "trap '' TERM INT; : >$T/work/begun; while :; do :; done"]
timeout = "8s"
[[routines.secret.steps]]
name = "a"
type = "script"
command = "true"
env = { A = { cmd = "sh -c ': >$T/work/begun; sleep 4324'" } }
END

begin r
kill -INT $pid
end
exit_is "SIGINT ends the run with status 130" 130
json_is "SIGINT: a whole report" step_results '#3' \
	step_results[0].reason cancelled step_results[1].reason cancelled \
	step_results[0].output partial run.ended_by SIGINT success false
json_is "SIGINT: a step before its turn is counted apart" \
	summary 'r: 1 ran, 1 skipped, 1 failed, 1 not begun' \
	step_results[0].begun absent step_results[1].begun false
json_is "SIGINT: one that is disabled stays so" \
	step_results[2].reason disabled step_results[2].begun absent
nothing_left "SIGINT: nothing is left" 4324
run_matins show last
out_like "SIGINT: so it stands in the kept report" '1 failed, 1 not begun$'
out_like "SIGINT: and in the heading of the step" '^## .* — not begun$'
run_matins history
out_like "SIGINT: and in the ledger" '1 ran, .*1 not begun'
run_matins history --json
like "SIGINT: recorded as finished" "$(<"$out")" 'finished'

begin r
kill -TERM $pid
end
exit_is "SIGTERM ends the run with status 143" 143
json_is "SIGTERM: a whole report" run.ended_by SIGTERM

begin stubborn
kill -INT $pid
kill -INT $pid
end
exit_is "SIGINT twice ends the run with status 130" 130
json_is "twice: still a whole report" step_results[0].reason cancelled
begin r
for _ in 1 2 3 4 5 6 7 8; do kill -INT $pid 2>/dev/null; done
end
exit_is "many times: status 130" 130
json_is "many times: still a whole report" step_results '#3'

begin secret
kill -INT $pid
end
exit_is "while a credential is asked for: status 130" 130
json_is "while a credential is asked for: cancelled, not skipped" \
	step_results[0].reason cancelled
json_is "while a credential is asked for: nothing ran, and no success" \
	summary 'secret: 0 ran, 0 skipped, 0 failed, 1 not begun — nothing ran' \
	success false
nothing_left "while a credential is asked for: nothing is left" 4324

rm -f work/begun
(
	trap '' HUP
	exec "$BIN" run -c r.toml r --json
) >"$out" 2>"$err" </dev/null &
pid=$!
wait_for 10 test -e work/begun
kill -HUP $pid
sleep 0.3
ok "what the caller ignores stays ignored (nohup)" kill -0 $pid
kill -TERM $pid
end
exit_is "SIGTERM ends a run that ignores SIGHUP" 143

# What the caller ignores a program does not, neither the first nor a later one.
for name in first second; do
	cat <<-END
		[[routines.r.steps]]
		name = "$name"
		type = "script"
		command = "grep"
		args = ["SigIgn", "/proc/self/status"]

	END
done >r.toml
trap '' HUP USR1
run_matins run -c r.toml r --json
trap - HUP USR1
none=$'SigIgn:\t0000000000000000'
json_is "what the caller ignores no program ignores" \
	step_results[0].output "$none" step_results[1].output "$none"

done_testing
