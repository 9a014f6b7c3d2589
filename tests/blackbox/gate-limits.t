#!/usr/bin/env bash
# Bounds: processes, memory, files, processor time.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# Is the user under test given control groups here?
grouped() {
	gate --require cgroup -- true
	[[ $status == 0 ]]
}

# What a control group counts, and what is said when it was too much.
hits() {
	local iso=(--isolate "$isolate")

	gate "${iso[@]}" --memory 64MiB -- "$PROBE" memory 128
	exit_is "$who: too much memory ($isolate)" 137
	err_like "$who: said to be ($isolate)" \
		'^matins: memory: the tree wanted more than 64MiB, 1 process'
	gate "${iso[@]}" --memory 64MiB --report "$T/report" -- \
		"$PROBE" memory-shared 128
	exit_is "$who: shared memory counts ($isolate)" 137
	json_file_is "$who: the report names shared memory ($isolate)" "$T/report" \
		limits '#1' 'limits[0]' '~^memory: '
	expect ok "16 MiB in eight processes ($isolate)" "${iso[@]}" \
		--memory 64MiB -- memory-spread 2 8
	expect blocked "128 MiB in eight processes ($isolate)" "${iso[@]}" \
		--memory 64MiB -- memory-spread 16 8
	err_like "$who: the tree is counted ($isolate)" \
		'^matins: memory: the tree wanted more than 64MiB'
	expect blocked "many processes ($isolate)" "${iso[@]}" \
		--processes 20 -- fork 100
	err_like "$who: said to be too many ($isolate)" \
		'^matins: processes: the tree wanted more than 20, 1 start'
	gate "${iso[@]}" --memory 64MiB --report "$T/report" -- \
		"$PROBE" memory 16
	exit_is "$who: a program within its memory succeeds ($isolate)" 0
	json_file_is "$who: is not hit ($isolate)" "$T/report" limits '#0'
	gate "${iso[@]}" --require cgroup --require limits-mem \
		--require limits-pids --require tree-kill -- true
	exit_is "$who: all of that can be required ($isolate)" 0
}

# The bound of processes holds where the kernel counts them for this sandbox.
bounds() {
	expect ok "eight processes ($isolate)" --isolate "$isolate" -- fork 8
	if [[ $isolate != off ]]; then
		on limits-pids expect blocked "a thousand ($isolate)" \
			--isolate "$isolate" -- fork 1000
		expect ok "unless granted ($isolate)" --isolate "$isolate" \
			--processes 2000 -- fork 1000
	fi
	expect ok "64 MiB ($isolate)" --isolate "$isolate" --memory 256MiB \
		-- memory 64
	if grouped; then
		hits
	else
		expect blocked "512 MiB ($isolate)" --isolate "$isolate" \
			--memory 256MiB -- memory 512
		gate --isolate "$isolate" --require limits-mem -- true
		exit_is "$who: without a control group memory is not \
promised ($isolate)" 125
	fi
	expect ok "address space is not memory ($isolate)" \
		--isolate "$isolate" --memory 256MiB -- reserve
	mkdir -p "$W/out"
	[[ $who == root ]] || as_user true
	expect ok "a file of 1 MiB ($isolate)" --isolate "$isolate" \
		--write "$W/out" --file-size 2MiB -- file-size "$W/out/f" 1
	expect blocked "one of 4 MiB ($isolate)" --isolate "$isolate" \
		--write "$W/out" --file-size 2MiB -- file-size "$W/out/f" 4
	gate --isolate "$isolate" --cpu 1 -- sh -c 'while :; do :; done'
	exit_is "$who: processor time ($isolate)" 137
	err_like "$who: and said ($isolate)" '^matins: cpu: .*used up 1s'
	gate --isolate "$isolate" --cpu 3600 -- sh -c 'kill -KILL $$'
	err_unlike "$who: not of any other end ($isolate)" 'cpu:'
	gate --isolate "$isolate" --file-size 2MiB --write "$W/out" \
		--exec head -- sh -c "exec head -c 4M /dev/zero >$W/out/g"
	exit_is "$who: a file that grew too large ($isolate)" 153
	err_like "$who: is said, too ($isolate)" \
		'^matins: file_size: .*beyond 2MiB'
	gate --isolate "$isolate" -- sh -c 'ulimit -f'
	out_is "$who: none where output goes to a file ($isolate)" unlimited
	gate --isolate "$isolate" --explain -- sh
	out_like "$who: which --explain says ($isolate)" \
		'^limits.* any processor time, files of any size, since output'
	out_is_of "1 GiB where it goes into a pipe" 2097152 \
		--isolate "$isolate" -- sh -c 'ulimit -f 2>&1'
	out_is_of "--explain says that files are limited to 1 GiB" "limits up to 1GiB" \
		--isolate "$isolate" --cpu 9 --explain -- sh
	gate --isolate "$isolate" --files 16 -- sh -c 'ulimit -n'
	out_is "$who: open files are limited ($isolate)" 16
	# root could raise its own, which nobody else may
	cap='ulimit -t 20' out_is_of "what is lower stays ($isolate)" 20 \
		--isolate "$isolate" --cpu 50 -- sh -c 'ulimit -Ht'
	cap='ulimit -t 20' out_is_of "what is not limited stays, too ($isolate)" \
		20 --isolate "$isolate" -- sh -c 'ulimit -t'
}

# out_is_of NAME WANT ARGS...: with standard output and error in a pipe; of
# --explain the line of the limits. $cap is run before, for limits of matins
out_is_of() {
	local name=$1 want=$2 as=() bin=$BIN got

	shift 2
	if [[ $who == user && $(id -u) -eq 0 ]]; then
		as_user true
		as=(as_user) bin=$T/.bin/matins
	fi
	got=$(${cap-:} && "${as[@]}" "$bin" exec "$@" 2>&1 | sed -n '/^[0-9u]*$/p
		s/^limits .* 9s of processor time of each, files/limits/p')
	is "$who: $name" "$got" "$want"
}

limits() {
	local isolate

	for isolate in auto off; do
		bounds
	done
}

# ---- a part of the tree of control groups, given to the user under test ----

# Folders of version 1 in which root made one for this test, "" elsewhere
parts=()

own_v1_group() { # CONTROLLER
	local at

	at=$(sed -n "s/^[0-9]*:$1://p" /proc/self/cgroup)
	[[ -n $at && -w /sys/fs/cgroup/$1$at/tasks ]] || return 1
	at=/sys/fs/cgroup/$1${at%/}/test-$$-$who
	mkdir "$at" && parts+=("$at")
}

# within COMMAND...: in these groups
within() {
	(
		for part in "${parts[@]}"; do
			echo 0 >"$part/tasks"
		done
		"$@"
		echo "$status" >"$T/status"
	)
	status=$(<"$T/status")
}

groups_left() {
	find "${parts[@]}" -mindepth 1 -type d
}

remove_parts() {
	local part

	for part in "${parts[@]}"; do
		find "$part" -depth -type d -exec rmdir {} \;
	done
}

start_within() { # MARK
	local cmd=("$BIN")

	[[ $who == root ]] || cmd=("${_setpriv[@]}" "$T/.bin/matins")
	rm -f "$T/said"
	(
		for part in "${parts[@]}"; do
			echo 0 >"$part/tasks"
		done
		exec "${cmd[@]}" exec --isolate "$isolate" -- \
			"$PROBE" sleep "$1"
	) >"$T/said" 2>"$err" </dev/null &
	runner=$!
	wait_for 10 grep -q . "$T/said" || diag "$(<"$err")"
}

# A runner that is killed leaves its groups: the next one finds them.
sweeps() {
	local mark=sweep-$isolate-$who-$$ dead living left

	start_within "living-$mark"
	living=$runner
	start_within "dead-$mark"
	dead=$runner
	kill -KILL "$dead"
	wait "$dead" 2>/dev/null
	nothing_left "$who: the tree of a killed runner ($isolate)" \
		"dead-$mark"
	left=$(groups_left)
	like "$who: leaves its groups ($isolate)" "$left" "matins-$dead-"
	within gate --isolate "$isolate" -- true
	exit_is "$who: the next run ($isolate)" 0
	left=$(groups_left)
	unlike "$who: takes them away ($isolate)" "$left" "matins-$dead-"
	like "$who: and leaves those of a living one ($isolate)" "$left" \
		"matins-$living-"
	ok "$who: with its tree ($isolate)" _with_mark "living-$mark"
	isnt "$who: which runs ($isolate)" "$(_with_mark "living-$mark")" ''
	kill -TERM "$living"
	wait "$living"
	is "$who: until it is ended ($isolate)" $? 143
	is "$who: no group is left ($isolate)" "$(groups_left)" ''
}

# Without a pid namespace, and its owner killed: the group ends the tree.
orphans() {
	local mark=orphan-$who-$$ owner

	isolate=off
	start_within "$mark"
	owner=$(pgrep -P "$runner" | head -n 1)
	kill -KILL "$owner"
	wait "$runner"
	is "$who: a tree that lost its owner" $? 137
	nothing_left "$who: is ended by its group" "$mark"
	is "$who: which is gone" "$(groups_left)" ''
}

delegated() {
	local isolate part

	parts=()
	if [[ $(id -u) -ne 0 ]] || ! own_v1_group memory ||
		! own_v1_group pids; then
		remove_parts
		skip "$who: a part of the tree" "no version 1 to make one in"
		return
	fi
	if [[ $who == user ]]; then
		as_user true
		for part in "${parts[@]}"; do
			chown -R daemon: "$part"
		done
	fi
	for isolate in auto off; do
		within gate --isolate "$isolate" --require cgroup \
			--memory 64MiB -- "$PROBE" memory-spread 16 8
		exit_is "$who: given a part, a tree is bounded ($isolate)" 1
		err_like "$who: and said to be ($isolate)" '^matins: memory: '
		is "$who: and leaves nothing ($isolate)" "$(groups_left)" ''
		sweeps
	done
	orphans
	remove_parts
}

both_users limits
both_users delegated
done_testing
