#!/usr/bin/env bash
# Bounds in the steps of a run, in private places, and what is left of runs
# that are killed.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# a shell as a step: NAME SCRIPT [LINES...]
shell_step() {
	local name=$1 text=$2

	shift 2
	cat <<-END
		[[routines.r.steps]]
		name = "$name"
		type = "script"
		command = "/bin/sh"
		args = ["-c", '$text']
		parallel = true
	END
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

# matins run, as the user under test
run() {
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		run_matins run "$@"
	else
		as_user run_matins run "$@"
	fi
}

grouped() {
	gate --require cgroup -- true
	[[ $status == 0 ]]
}

# The bound of one tree is not that of its neighbour in the same run.
in_a_run() {
	local iso

	if ! grouped; then
		skip "$who: bounds of steps" "no control groups: $(<"$err")"
		return
	fi
	for iso in auto off; do
		{
			shell_step hog "exec $PROBE memory 128" \
				"sandbox = { memory = \"64MiB\", isolate = \
\"$iso\", exec = [\"$PROBE\"] }"
			shell_step same "exec $PROBE memory 128" \
				"sandbox = { isolate = \"$iso\", \
exec = [\"$PROBE\"] }"
			shell_step forks "$PROBE fork 100; true" \
				"sandbox = { processes = 20, isolate = \
\"$iso\", exec = [\"$PROBE\"] }"
		} >r.toml
		run -c r.toml r --json
		exit_is "$who: a step that wants too much ($iso)" 2
		json_is "$who: the step fails and its limit is named ($iso)" \
			step_results[0].state failed \
			step_results[0].reason signal \
			step_results[0].error \
			'~SIGKILL: memory: .* 64MiB.*sandbox.memory' \
			step_results[0].run.limits '#1'
		json_is "$who: one that may have it does not ($iso)" \
			step_results[1].state ok step_results[1].run.limits '#0'
		json_is "$who: a bound that did not end it ($iso)" \
			step_results[2].state ok step_results[2].run.limits[0] \
			'~^processes: .* 20, .*sandbox.processes'
	done
}

# Private places end where the bound of memory does.
private_places() {
	local place fill

	for place in /tmp /dev/shm; do
		# shellcheck disable=SC2016
		fill="dd if=/dev/zero of=$place/f bs=1M count=\$0"
		gate --memory 64MiB --exec dd -- sh -c "$fill" 16
		exit_is "$who: 16 MiB in $place" 0
		gate --memory 64MiB --exec dd -- sh -c "$fill" 200
		isnt "$who: 200 MiB are too much" "$status" 0
		err_like "$who: and it is said" \
			'No space left on device|^matins: memory: '
	done
}

both_users in_a_run
both_users with_view "private places" private_places

# ---- runs that are killed ----

# Programs of this copy are ours, its owners of trees and proxies too.
ours() {
	local exe

	for exe in /proc/[0-9]*/exe; do
		[[ $(readlink "$exe") != "$T/killed/"* ]] || echo "$exe"
	done
}

none_of_ours() {
	[[ -z $(ours) ]]
}

groups_of_killed() {
	local pid

	for pid in "${pids[@]}"; do
		find /sys/fs/cgroup -maxdepth 8 -type d \
			-name "matins-$pid-*" 2>/dev/null
	done
}

folder_is_there() {
	[[ -n $(find "$W/runtime" -mindepth 1 -name 'matins-*') ]]
}

kill_runs() {
	local cmd=("$T/killed/matins") i
	local mark=killed-$who-$$ nets=()

	# private folders go there, where nobody else has any
	mkdir -m 711 "$W/runtime"
	export XDG_RUNTIME_DIR=$W/runtime
	[[ $who == root ]] || as_user true
	[[ $who == root || $(id -u) -ne 0 ]] ||
		cmd=("${_setpriv[@]}" "$T/killed/matins")
	has_view && nets=('sandbox = { net = ["api.example.com"] }')
	{
		shell_step one "sleep 60 & exec $PROBE sleep $mark" \
			"sandbox = { exec = [\"$PROBE\", \"sleep\"] }"
		shell_step two "sleep 60 & exec $PROBE sleep $mark" \
			"sandbox = { isolate = \"off\", \
exec = [\"$PROBE\", \"sleep\"] }"
		shell_step three "while :; do :; done" "${nets[@]}"
	} >r.toml
	pids=() made=0
	for ((i = 0; i < 20; i++)); do
		"${cmd[@]}" run -q -c r.toml r >"$T/said" 2>&1 </dev/null &
		pids+=($!)
		# the first one is waited for, however slow the machine is
		if ((i == 0)); then
			wait_for 10 folder_is_there
		else
			sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		fi
		kill -KILL $!
		wait $! 2>/dev/null
		made=$((made + $(find "$W/runtime" -maxdepth 1 -name 'matins-*' |
			wc -l)))
	done
	ok "$who: 20 runs that were killed leave no process" \
		wait_for 10 none_of_ours
	nothing_left "$who: nor one of their programs" "$mark"
	"${cmd[@]}" exec --isolate off -- true >"$T/said" 2>&1 </dev/null
	is "$who: after the next start no group" "$(groups_of_killed)" ''
	isnt "$who: where private folders were" "$made" 0
	is "$who: none is left" "$(find "$W/runtime" -mindepth 1)" ''
	unset XDG_RUNTIME_DIR
}

mkdir -p "$T/killed"
cp "$BIN" "$T/killed/matins"
chmod 755 "$T/killed" "$T/killed/matins"
both_users kill_runs
done_testing
