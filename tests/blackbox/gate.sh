# For the tests of the gate; source it after lib.sh.
#
#	both_users COMMAND...	as root and as an ordinary user
#	probe "name" -- OPTIONS... -- PROBE ARGS...
#
# $who is "root" or "user" while a test runs, $PROBE the helper that this user
# can reach, $W a fresh folder of this user's.
#
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154

both_users() {
	if [[ $(id -u) -eq 0 ]]; then
		who=root PROBE=$HELPERS/probe
		fresh_folder
		"$@"
		chown -R root: "$T"
		who=user PROBE=$T/.bin/probe
		fresh_folder
		as_user true
		"$@"
		chown -R root: "$T"
		chown root: "$T"
	else
		who=user PROBE=$HELPERS/probe
		fresh_folder
		"$@"
	fi
}

fresh_folder() {
	W=$T/w-$who
	mkdir -p "$W"
}

# matins exec, as the user under test; LIMIT_S and stdin as in run_matins
gate() {
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		run_matins exec "$@"
	else
		as_user run_matins exec "$@"
	fi
}

# expect WORD NAME [OPTIONS...] -- PROBE ARGS...: the probe's answer begins
# with WORD (ok, blocked, escaped)
expect() {
	local word=$1 name=$2 options=() wanted

	shift 2
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	gate "${options[@]}" -- "$PROBE" "$@"
	wanted="^$word: "
	if LC_ALL=C grep -aEq -e "$wanted" "$out"; then
		_pass "$who: $name"
	else
		_fail "$who: $name" "the probe should have said $word"
		_show_run
	fi
}

# shell_step NAME SCRIPT [LINES...]: print a TOML step of the routine `r`, a shell
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

# Can this machine give the user under test namespaces?
has_view() {
	gate --isolate require -- true
	[[ $status == 0 ]]
}

# with_view NAME COMMAND...: what needs namespaces, where there are some
with_view() {
	local name=$1

	shift
	if has_view; then
		"$@"
	else
		skip "$who: $name" "$(head -n1 "$err")"
	fi
}

# on GUARANTEE COMMAND...: what holds only where this machine enforces it by
# default, as it says itself; that it says so rightly is for gate-degraded.t
on() {
	local guarantee=$1

	shift
	gate --require "$guarantee" -- true
	if [[ $status == 125 ]]; then
		skip "$who: $*" "$(head -n1 "$err")"
	else
		"$@"
	fi
}

# Without pseudo-terminals (a bare chroot) nobody can be started on one.
has_pty() {
	"$PYTHON" -c 'import os; os.openpty()' 2>/dev/null
}
