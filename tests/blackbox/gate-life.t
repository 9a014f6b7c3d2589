#!/usr/bin/env bash
# From start to end: exit status, signals, and a tree that ends as a whole.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# Starts `matins exec` with a probe in the background; $! is the runner.
background() {
	local cmd=("$BIN")

	if [[ $who == user && $(id -u) -eq 0 ]]; then
		cmd=("${_setpriv[@]}" "$T/.bin/matins")
	fi
	rm -f "$T/said"
	"${cmd[@]}" exec --isolate "$isolate" -- "$PROBE" "$@" \
		>"$T/said" 2>"$err" </dev/null &
	runner=$!
	wait_for 10 grep -q . "$T/said" || diag "$(<"$err")"
}

ended_with() { # NAME STATUS: the background runner ends within 4 seconds
	local i=0 rc

	while kill -0 "$runner" 2>/dev/null && ((i++ < 80)); do
		sleep 0.05
	done
	((i < 80)) || kill -9 "$runner"
	wait "$runner"
	rc=$?
	is "$who: $1 ($isolate)" "$rc" "$2"
}

statuses() {
	gate --isolate "$isolate" -- true
	exit_is "$who: a program that succeeds ends with 0 ($isolate)" 0
	gate --isolate "$isolate" -- sh -c 'exit 42'
	exit_is "$who: the program's status ($isolate)" 42
	gate --isolate "$isolate" -- sh -c 'kill -SEGV $$'
	exit_is "$who: 128 and the signal ($isolate)" 139
	gate --isolate "$isolate" -- sh -c 'kill -PIPE $$'
	exit_is "$who: a pipe's signal as well ($isolate)" 141
	"$PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGCHLD])
os.execvp(sys.argv[1], sys.argv[1:])' timeout 20 "$BIN" exec \
		--isolate "$isolate" --exec sh -- sh -c 'sh -c "exit 7"' \
		2>"$err"
	is "$who: started with signals ignored ($isolate)" $? 7
	gate --isolate "$isolate" -- no-such-program
	exit_is "$who: not found ($isolate)" 127
	err_like "$who: the program that is not found is named" 'no-such-program'
	gate --isolate "$isolate" -- /etc/passwd
	exit_is "$who: not executable ($isolate)" 126
	err_like "$who: and said why" 'not executable'
}

trees() {
	local mark=mark-$isolate-$who-$$

	gate --isolate "$isolate" -- "$PROBE" survive "$mark"
	exit_is "$who: a program that leaves a process ($isolate)" 0
	nothing_left "$who: leaves none ($isolate)" "$mark"
	gate --isolate "$isolate" -- "$PROBE" survive-storm "$mark"
	nothing_left "$who: nor do many that fork on ($isolate)" "$mark"
	background sleep "$mark"
	kill -TERM "$runner"
	ended_with "SIGTERM reaches the program" 143
	background ignore-term "$mark"
	kill -TERM "$runner"
	ended_with "one that ignores it is killed" 137
	nothing_left "$who: and gone ($isolate)" "$mark"
	background sleep "$mark"
	kill -KILL "$runner"
	wait "$runner" 2>/dev/null
	nothing_left "$who: when the runner is killed ($isolate)" "$mark"
}

none_exist() {
	local path

	for path; do
		[[ ! -e $path ]] || return 1
	done
}

folders() {
	local left stale

	gate --isolate off --exec mkdir --exec chmod --exec seq -- \
		sh -c 'mkdir -p $HOME/a/b; echo x >$HOME/a/b/c;
		chmod 0 $HOME/a/b; mkdir -p $HOME/c; echo x >$HOME/c/d;
		chmod 500 $HOME/c; cd $HOME
		for i in $(seq 300); do mkdir d; cd d; done; echo x >e
		echo $HOME'
	left=$(<"$out")
	like "$who: an own HOME without namespaces" "$left" '/home$'
	not_ok "$who: that is removed" test -e "$left"
	not_ok "$who: with the folder of the run" test -e "${left%/*/*}"
	# a place of its own: other tests sweep what they find in the shared one
	mkdir -m 700 "$W/runtime"
	export XDG_RUNTIME_DIR=$W/runtime
	gate --isolate off -- true
	exit_is "$who: a runtime folder that only its owner may enter" 0
	[[ $who == user ]] || chmod 711 "$W/runtime"
	isolate=off
	background sleep "stale-$who-$$"
	kill -KILL "$runner"
	wait "$runner" 2>/dev/null
	nothing_left "$who: the tree of a killed runner" "stale-$who-$$"
	mapfile -t stale < <(find "$W/runtime" -maxdepth 1 -name "matins-*")
	ok "$who: it left something" test "${#stale[@]}" -ge 1
	gate --isolate off -- true
	ok "$who: what it left is removed by the next run" \
		wait_for 20 none_exist "${stale[@]}"
	unset XDG_RUNTIME_DIR
}

descriptors() {
	gate -- cat </dev/null
	echo hello >"$T/in"
	run_matins_stdin "$T/in" exec -- cat
	out_is "stdin and stdout are passed through" hello
	gate -- sh -c 'echo to-err >&2'
	err_like "$who: stderr as well" '^to-err$'
	gate --preset none -- sh -c 'head -c 3000000 /dev/zero | wc -c'
	exit_is "$who: a pipe in a sandbox needs programs" 126
	gate --exec head --exec wc -- sh -c 'head -c 3000000 /dev/zero | wc -c'
	out_like "$who: that are listed" '^3000000$'
}

# What the program has, of a runner with that many: ls has opened a fourth.
# From 128 on the child shares the table until it takes its own.
of_many() {
	local fds=() fd n

	# of a type that no kernel executes
	cp /bin/true "$W/garbage"
	printf '\0\0' | dd of="$W/garbage" bs=1 seek=16 conv=notrunc 2>/dev/null
	for n in 40 400; do
		while ((${#fds[@]} < n)); do
			exec {fd}</dev/null
			fds+=("$fd")
		done
		gate --isolate "$isolate" -- ls /proc/self/fd
		out_is "$who: descriptors, of $n ($isolate)" $'0\n1\n2\n3'
		# found out by the kernel, in the child
		gate --isolate "$isolate" -- "$W/garbage"
		err_like "$who: no program, of $n ($isolate)" \
			'garbage: Exec format error'
		gate --isolate "$isolate" -- sh -c 'kill -KILL $$'
		exit_is "$who: one that is killed, of $n ($isolate)" 137
	done
	for fd in "${fds[@]}"; do
		exec {fd}<&-
	done
}

life() {
	local isolate

	for isolate in auto off; do
		statuses
		trees
		of_many
	done
	folders
	descriptors
}

both_users life
# ---- a program that is gone as soon as it runs ----

ended=
for _ in $(seq 40); do
	run_matins exec -- "$PEER" -e 'exit 7'
	[[ $status == 7 ]] || ended+=" $status $(<"$err")"
done
is "a program that ends at once: its own status, each time" "$ended" ""

# ---- many of one user at once ----

cat >"$T/crowd.sh" <<'END'
ulimit -n 1024
for i in $(seq 30); do
	"$1" exec -q -- sleep 5 2>"$2/said.$i" &
done
failed=0
for pid in $(jobs -p); do
	wait "$pid" || failed=$((failed + 1))
done
echo "$failed $(cat "$2"/said.* | sort | uniq -c)"
END
bin=$BIN fail=$HELPERS/fail
if [[ $(id -u) -eq 0 ]]; then
	as_user true
	bin=$T/.bin/matins fail=$T/.bin/fail
fi
is "thirty of one user start side by side" \
	"$(as_user bash "$T/crowd.sh" "$bin" "$T")" "0 "

# ---- the files of the base, for each child ----

# steps N: a routine of so many
steps() {
	printf '[sandbox]\nisolate = "off"\n[routines.r]\n'
	for i in $(seq "$1"); do
		printf '[[routines.r.steps]]\nname = "s%s"\n' "$i"
		printf 'type = "script"\ncommand = "true"\n'
	done
} >"$T/steps.toml"

# the runner is slower than its child where it is traced
failed=
steps 4
for _ in $(seq 10); do
	(ulimit -n 200 && as_user "$fail" "$T/none" lseek EIO 9999 -- \
		"$bin" run -q -c "$T/steps.toml" r) >"$out" 2>"$err" ||
		failed+=$(grep -a ERROR "$err")
done
is "few descriptors, and a slow runner: the message stays for all" \
	"$failed" ""

# what each of them would leave is counted for the user
steps 10
(ulimit -n 300 && as_user "$fail" "$T/none" socketpair EIO+ 3 -- \
	"$bin" run -c "$T/steps.toml" r) >"$out" 2>"$err"
is "starts that fail leave no descriptors in flight" \
	"$(grep -a ^ERROR "$out" | cut -d: -f3- | sort | uniq -c)" \
	"      8  true: socket pair: Input/output error"

done_testing
