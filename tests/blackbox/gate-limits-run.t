#!/usr/bin/env bash
# Bounds in the steps of a run, and in private places.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

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

done_testing
