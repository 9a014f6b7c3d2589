#!/usr/bin/env bash
# Runs that are killed leave no process, no group and no folder, whatever they
# and the processes of their gate are at.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# Programs of this copy are ours, its owners of trees and proxies too; an
# ordinary user may not see the file of those that cannot be traced.
ours() {
	local lines=(/proc/[0-9]*/cmdline)

	find /proc/[0-9]*/exe -maxdepth 0 -lname "$T/killed/*" 2>/dev/null |
		sed 's|/proc/||; s|/exe||'
	grep -alFs -e "$T/killed/matins" "${lines[@]}" |
		sed 's|/proc/||; s|/cmdline||'
}

none_of_ours() {
	[[ -z $(ours) ]]
}

# A killed program may be on its way out; then it has none of these.
describe_ours() {
	local pid

	for pid in $(ours | sort -nu); do
		echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		grep -E '^(Name|State|PPid|NSpid|SigPnd|ShdPnd|SigBlk):' \
			"/proc/$pid/status" | tr '\n\t' '; '
		echo "waits in $(<"/proc/$pid/wchan"), call" \
			"$(<"/proc/$pid/syscall")"
	done 2>&1
}

# no_process_left NAME: each that is left is shown as it is, and ended
no_process_left() {
	local left

	if wait_for 10 none_of_ours; then
		_pass "$1"
		return
	fi
	left=$(describe_ours)
	_fail "$1" "$left"
	ours | xargs -r kill -KILL
}

# ---- at some moment ----

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
	no_process_left "$who: 20 runs that were killed leave no process"
	nothing_left "$who: nor one of their programs" "$mark"
	"${cmd[@]}" exec --isolate off -- true >"$T/said" 2>&1 </dev/null
	is "$who: after the next start no group" "$(groups_of_killed)" ''
	isnt "$who: where private folders were" "$made" 0
	is "$who: none is left" "$(find "$W/runtime" -mindepth 1)" ''
	unset XDG_RUNTIME_DIR
}

# ---- at each moment ----

# cut WHO CALL N MS ARGS...: kill matins ARGS at the Nth CALL of a process of
# its gate, once the others have done nothing for so long
cut() {
	local when=("${@:1:4}")

	shift 4
	"${_as[@]}" timeout 30 "$CUTOFF" "${when[@]}" -- "$T/killed/matins" \
		"$@" >"$T/said" 2>&1 </dev/null
}

# cut_each NAME WHO STRIDE TOML: ... at every so manieth of its calls. The command
# line of a process that is left says which one it was.
cut_each() {
	local name=$1 who_of=$2 stride=$3 toml=$4
	local n status=0 cuts=0

	for ((n = 1; n < 900; n += stride)); do
		cp "$toml" "cut-$who_of-$n.toml"
		cut "$who_of" any "$n" 0 run -q \
			-c "cut-$who_of-$n.toml" r
		status=$?
		((status == 0)) || break
		cuts=$((cuts + 1))
	done
	is "$who: $name: there are calls, and all were tried" \
		"$status $((cuts > 0))" "3 1"
	no_process_left "$who: $name: no process is left"
}

cut_runs() {
	local mark=cut-$who-$$ iso

	_as=() CUTOFF=$HELPERS/cutoff
	[[ $who == root || $(id -u) -ne 0 ]] || {
		_as=("${_setpriv[@]}") CUTOFF=$T/.bin/cutoff
	}
	for iso in auto off; do
		shell_step one "sleep 60 & exec $PROBE sleep $mark" \
			"sandbox = { isolate = \"$iso\", \
exec = [\"$PROBE\", \"sleep\"] }" >"$iso.toml"
	done
	[[ $who == root ]] || as_user true
	cut 0 any 1 0 run -q -c off.toml r
	if (($? == 99)); then
		skip "$who: runs that are killed at each call" \
			"no process can be traced here"
		return
	fi
	# the program waits for the flush of what says that it was started
	cut 0 fdatasync 1 200 run -q -c off.toml r
	is "$who: a run that is killed while it flushes its ledger" $? 0
	no_process_left "$who: leaves no process"
	cut_each "the owner of a tree without a namespace" 1 1 off.toml
	cut_each "the program of one" 2 "${CUT_STRIDE:-5}" off.toml
	cut_each "the owner of a tree" 1 "${CUT_STRIDE:-3}" auto.toml
	# the runner, which is asked about an exec that is recorded, is dead
	cut -1 execveat 1 0 trace --isolate off -- sleep 60
	is "$who: a trace that is killed at the exec" $? 0
	no_process_left "$who: leaves no process"
	nothing_left "$who: nor a program of all these" "$mark"
}

mkdir -p "$T/killed"
cp "$BIN" "$T/killed/matins"
chmod 755 "$T/killed" "$T/killed/matins"
both_users kill_runs
both_users cut_runs
done_testing
