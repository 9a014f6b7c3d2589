#!/usr/bin/env bash
# Kernels that lack something, as root and as an ordinary user: what the
# report says holds does hold, what is required and does not is refused, the
# ordinary goes on working, and where there is too little nothing starts.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

"$HELPERS/hide" none -- true || skip_all "features cannot be hidden here"

# Outside, and of the same user as the child where that is an ordinary one.
sleep 1000 &
outside=$!
cleanup() {
	kill "$outside" "${twin-}" 2>/dev/null
	_finish
}
trap cleanup EXIT

# "NAME LEVEL" for each guarantee of the last report, which has a member a line
facts() {
	sed -n '/"guarantee":/ { N
		s/.*"guarantee": *"\([^"]*\)",\n *"level": *"\([^"]*\)".*/\1 \2/p
	}' "$W/report"
}

level_of() { # GUARANTEE of the last report
	[[ -e $W/report ]] && facts | sed -n "s/^$1 //p"
}

# honest GUARANTEE [OPTIONS...] -- PROBE ARGS...: enforced means blocked
honest() {
	local guarantee=$1 options=() said level

	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	rm -f "$W/report"
	gate "${options[@]}" --report "$W/report" -- "$PROBE" "$@"
	level=$(level_of "$guarantee")
	said=$(head -n1 "$out")
	if [[ $said != blocked:* && $said != ok:* && $said != escaped:* ]] ||
		[[ -z $level ]]; then
		_fail "$what: the report is true about $guarantee: $1" "the probe has not run"
		_show_run
	elif [[ $level == enforced && $said != blocked:* ]]; then
		_fail "$what: the report is true about $guarantee: $1" \
			"the report says enforced, the probe: $said"
		_show_run
	else
		_pass "$what: $guarantee is $level, $1 says ${said%%:*}"
	fi
}

# works NAME [OPTIONS...] -- PROGRAM...: the allowed twin
works() {
	local name=$1

	shift
	gate "$@"
	exit_is "$what: $name works" 0
}

reality() {
	local file=$W/outside-file

	honest exec-listed -- exec @/bin/true
	honest exec-listed -- loader @/bin/true
	honest exec-listed -- memfd-exec
	honest exec-listed -- dropped @/tmp/matins-dropped-$$
	honest fs-read -- read @"$file"
	honest fs-read -- list @"$W"
	honest fs-write -- write @"$file"
	honest fs-write -- chmod @"$file" 640
	honest fs-write -- utimes @"$file"
	honest fs-write -- xattr @"$file"
	honest fs-write -- truncate @"$file"
	honest fs-write -- mkdir @"$W/made"
	honest net-off -- tcp 127.0.0.1 1
	honest net-off -- udp
	honest proc-hidden -- processes
	honest ipc -- kill "$twin"
	honest no-tty -- tty
	honest syscalls -- call ptrace
	honest syscalls -- i386
	rm -f "/tmp/matins-dropped-$$"
	rm -rf "$W/made"
}

# Every row that is not enforced is refused when required, in one line; those
# that are, are not, all at once.
requirements() {
	local name level held=() lost=()

	rm -f "$W/report"
	gate --report "$W/report" -- true
	while read -r name level; do
		if [[ $level == enforced ]]; then
			held+=(--require "$name")
		else
			lost+=("$name")
		fi
	done < <(facts)
	isnt "$what: there are rows" "${#held[@]}" 0
	works "what is enforced may be required" "${held[@]}" -- true
	for name in "${lost[@]}"; do
		refused "$name" "$name is (partial|absent) here: .*"
	done
}

# What is said beside the first line, which comes before the start.
lines() { grep -vc '^matins: started in a private, empty folder' "$err"; }

# refused NAME ERE: requiring it is 125, said in one line
refused() {
	gate --require "$1" -- true
	exit_is "$what: $1 is refused" 125
	err_like "$what: $1: says what is missing" "$2"
	is "$what: $1: in one line" "$(lines)" 1
}

ordinary() {
	mkdir -p "$W/grant"
	echo inside >"$W/grant/file"
	[[ $who == root ]] || as_user true
	works "a program without grants" -- true
	# shellcheck disable=SC2016
	works "a shell with programs" --exec cat -- \
		sh -c 'echo x >"$TMPDIR/a" && cat "$TMPDIR/a" && cd "$HOME"'
	works "the reading of a granted folder" --read "$W/grant" -- \
		"$PROBE" read @"$W/grant/file"
	works "the writing of a granted folder" --write "$W/grant" -- \
		"$PROBE" write @"$W/grant/file"
	works "making folders in a grant" --write "$W/grant" -- \
		"$PROBE" mkdir @"$W/grant/made"
	rmdir "$W/grant/made"
	works "a program with threads" -- "$PROBE" thread
}

# each LEVEL [MECHANISM...]: those mechanisms are gone there
each() {
	local name

	at_level "$1"
	what="$who, without $1"
	[[ $1 == none ]] && what="$who, with everything"
	shift
	if ! "$HELPERS/hide" "$LEVEL" -- true 2>/dev/null; then
		skip "$what: the gate works as far as it can" "it cannot be hidden here"
		return
	fi
	gate -- true
	if [[ $status == 125 && $machine == bare ]]; then
		err_like "$what, and no namespaces: refused" 'neither Landlock'
		at_level
		return
	fi
	reality
	requirements
	ordinary
	for name; do
		refused "$name" "$name"
	done
	at_level
}

levels() {
	local machine=bare

	chmod 755 "$T"
	echo outside >"$W/outside-file"
	chmod 666 "$W/outside-file"
	chmod 777 "$W"
	twin=$outside
	if [[ $who == user && $(id -u) -eq 0 ]]; then
		as_user true
		chmod 777 "$W"
		"${_setpriv[@]}" sleep 1000 &
		twin=$!
	fi
	has_view && machine=whole
	each none
	each landlock landlock landlock-net landlock-scope
	each namespaces mntns pidns ipcns
	each mounts mntns
	each proc-mount pidns
	each listener notify
	each landlock-abi=1 landlock-net landlock-scope
	each landlock-abi=1,namespaces landlock-net landlock-scope mntns
	each landlock-abi=5,namespaces landlock-scope
	if [[ $who == root ]]; then
		each idmap idmap
		each sysctl
	else
		each userns-max userns
	fi
	at_level landlock-abi=3,namespaces
	gate --net :443 -- true
	exit_is "$who: ports before Landlock ABI 4 are refused" 125
	err_like "$who: with the kernel that has them" 'Linux 6\.7'
	at_level landlock-abi=4
	gate --net :443 -- true
	exit_is "$who: and with it not" 0
	at_level
	floor
	with_view "kept trials" kept
	[[ $twin == "$outside" ]] || kill "$twin"
}

# Too little: nothing starts, and one line says why.
floor() {
	local row

	for row in 'seccomp no system-call filter' \
		'filters no system-call filter' \
		'landlock,namespaces neither Landlock' \
		'landlock-disabled,mounts neither Landlock' \
		'pidfd clone\(\) .*Linux 5\.2' \
		'close-range close_range.*Linux 5\.9' \
		'execveat execveat.*Linux 3\.19'; do
		at_level "${row%% *}"
		gate -- "$PROBE" nothing
		exit_is "$who, without $LEVEL: nothing starts" 125
		out_is "$who, without $LEVEL: nothing at all" ''
		err_like "$who, without $LEVEL: says why" "${row#* }"
		is "$who, without $LEVEL: in one line" "$(lines)" 1
	done
	at_level
	at_level clone3,memfd-noexec
	gate -- "$PROBE" nothing
	exit_is "$who: what is made for newer kernels is not needed" 0
	at_level
}

# The result of the trial is kept; another level meets the same folder.
kept() {
	local level

	export MATINS_STATE=$W/state
	mkdir -p "$MATINS_STATE"
	[[ $who == root ]] || as_user true
	gate --report "$W/report" -- true
	ok "$who: the trial is kept" test -e "$MATINS_STATE/isolation-$(id_of)"
	for level in namespaces mounts domain; do
		at_level "$level"
		what="$who, kept, then without $level"
		honest proc-hidden -- processes
		is "$what: the report knows" "$(level_of proc-hidden)" absent
		out_like "$what: it starts all the same" ^escaped
		at_level
		gate --require proc-hidden -- "$PROBE" processes
		out_like "$who: and back again ($level)" ^blocked
	done
	# what others may leave in a shared folder: a FIFO, and a file of theirs
	rm "$MATINS_STATE/isolation-$(id_of)"
	mkfifo "$MATINS_STATE/isolation-$(id_of)"
	LIMIT_S=20 gate -- true
	exit_is "$who: a FIFO in its place holds nothing up" 0
	unset MATINS_STATE
}

id_of() {
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		id -u
	else
		id -u daemon
	fi
}

both_users levels

# ---- a routine, and what doctor says ----

cat >r.toml <<-'END'
	[routines.r]
	[[routines.r.steps]]
	name = "plain"
	type = "script"
	command = "echo"
	args = ["done"]
	[[routines.r.steps]]
	name = "strict"
	type = "script"
	command = "echo"
	args = ["never"]
	sandbox = { require = ["proc-hidden"] }
END
at_level namespaces
run_matins run -c r.toml r --json
exit_is "a routine without namespaces: one step is refused" 2
json_is "a step that requires less runs" step_results[0].state ok \
	step_results[1].state denied step_results[1].reason protection
at_level
who=root
[[ $(id -u) == 0 ]] || who=user
has_view && machine=whole
if [[ ${machine-} == whole ]]; then
	at_level landlock
	run_matins run -c r.toml r --json
	exit_is "a routine without Landlock" 0
else
	skip "a routine without Landlock" "no namespaces either"
fi

# said NAME ERE: a line of what doctor has printed
said() {
	out_like "doctor, without $LEVEL: $1" "$2"
}
if [[ ${machine-} == whole ]]; then
	at_level landlock
	run_matins doctor -c r.toml
	said "the lost guarantee is named" 'exec-listed +absent.*can start any program'
	said "a remedy for the lost guarantee is offered" '-> .*lsm='
fi
at_level namespaces
run_matins doctor -c r.toml
exit_is "doctor: a step that requires what is not there" 1
said "the reason for the lost guarantee is named" 'proc-hidden +absent: .*clone'
said "a remedy for the lost namespaces is offered" '-> .*container.*seccomp'
said "the lost view names semaphores" 'view .*semaphores'
at_level listener
run_matins doctor -c r.toml
said "the missing listener is named" 'notify +no listener'
at_level seccomp
run_matins doctor -c r.toml
exit_is "doctor below the floor" 1
said "the reason for the missing floor is named" 'floor .*no system-call filter'
at_level landlock-abi=2
run_matins doctor -c r.toml
said "the ABI and what it lacks" 'ABI 2;.*truncate a file by its path \(ABI 3\)'
done_testing
