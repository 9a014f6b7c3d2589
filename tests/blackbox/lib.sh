# Assertions and helpers for black-box tests; source it first:
#
#	. "${BASH_SOURCE%/*}/lib.sh"
#	cat >morning.toml <<-'END' ... END
#	run_matins run -c morning.toml morning --json
#	exit_is "a good run" 0
#	json_is "the step is ok" step_results[0].state ok
#	done_testing
#
# A test starts in an empty folder of its own, $T, which is removed at the
# end (KEEP=1 keeps it), with its own HOME, state and configuration folders.
# An assertion that fails prints the files it looked at. A test that does not
# reach done_testing has failed.
#
#	$BIN      the matins under test        $HELPERS  folder of the helpers
#	$PEER     the scripted MCP peer        $TOP      the source tree
#	$NODE     node, from the caller's PATH, or empty; PATH itself is plain
#	$LEVEL    features of the kernel that tests/helpers/hide hides from it
#	$out $err files with what the last run_matins printed; $status its status
#
# shellcheck shell=bash
# shellcheck disable=SC2034
set -u

TOP=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
BIN=${BIN:-$TOP/build/matins}
HELPERS=${HELPERS:-$TOP/build/release/tests/helpers}
[[ $BIN == /* ]] || BIN=$PWD/$BIN
[[ $HELPERS == /* ]] || HELPERS=$PWD/$HELPERS
PEER=$HELPERS/peer
PYTHON=/usr/bin/python3
[[ -x $PYTHON ]] || PYTHON=python3

if [[ ! -e /proc/self/fd ]]; then
	echo "1..0 # SKIP no /proc is mounted here, and matins says so"
	exit 0
fi

T=$(mktemp -d "${TMPDIR:-/tmp}/matins-test.XXXXXX")
chmod 755 "$T"
mkdir "$T/home" "$T/state" "$T/config"
chmod 700 "$T/home" "$T/state" "$T/config"
for _name in ${!MATINS_@} ${!MODULEX_@} ${!MEMCP_@}; do unset "$_name"; done
export HOME=$T/home XDG_STATE_HOME=$T/state XDG_CONFIG_HOME=$T/config
export MATINS_ALLOW=$T # a matins.toml of the test; unset to test allowances
export LC_ALL=C.UTF-8 TZ=UTC
unset CI NO_COLOR XDG_DATA_HOME XDG_CACHE_HOME
NODE=$(command -v node || true)
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022
cd "$T" || exit 1

out=$T/.out err=$T/.err status=
: >"$out"
: >"$err"
_n=0 _failed=0 _done=0 _run_n=0

# May everybody pass all folders above a path?
_reachable() {
	local dir=${1%/*}

	while [[ -n $dir ]]; do
		[[ $(stat -c %A "$dir") == ?????????[xt] ]] || return 1
		dir=${dir%/*}
	done
}

# Programs in a folder that only root may enter (a checkout in its HOME, say)
# could not be run by the users that the gate makes of it.
_copy_programs() {
	mkdir "$T/.bin"
	cp "$BIN" "$T/.bin/matins"
	find "$HELPERS" -maxdepth 1 -type f -perm -u+x -exec cp {} "$T/.bin/" \;
	chmod 755 "$T/.bin" "$T/.bin/"*
}

if [[ $(id -u) -eq 0 ]] && ! _reachable "$BIN"; then
	_copy_programs
	BIN=$T/.bin/matins HELPERS=$T/.bin PEER=$T/.bin/peer
fi

# at_level [FEATURES]: from here on the program meets such a kernel
at_level() {
	LEVEL=${1-}
	WRAP=()
	[[ -z $LEVEL ]] || WRAP=("$HELPERS/hide" "$LEVEL" --)
}
at_level "${LEVEL-}"

_finish() {
	local rc=$?

	if ((!_done)); then
		echo "Bail out! the test ended before done_testing (status $rc)"
		((rc)) || rc=1
	fi
	cd /
	if [[ -n ${KEEP-} ]]; then
		echo "# kept: $T"
	else
		chmod -R u+rwX "$T" 2>/dev/null
		rm -rf "$T"
	fi
	exit "$rc"
}
trap _finish EXIT

# A misspelt assertion would pass in silence; bash calls this in a subshell.
command_not_found_handle() {
	echo "${BASH_SOURCE[1]##*/}: line ${BASH_LINENO[0]}: $1: command not found" >&2
	case $1 in
	*_is | *_like | *_unlike | *_has | *_lacks | *_ok)
		echo "$1" >>"$T/.no-such-assertion"
		;;
	esac
	return 127
}

# The last line of every test: prints the plan, ends with 1 when one failed.
done_testing() {
	if [[ -e $T/.no-such-assertion ]]; then
		_fail "every assertion is one" "$(sort -u "$T/.no-such-assertion")"
	fi
	echo "1..$_n"
	_done=1
	exit $((_failed > 0))
}

diag() {
	printf '%s\n' "$@" | sed 's/^/# /'
}

# Show a file as comments: at most 60 lines of at most 400 bytes.
show_file() {
	local label=${2:-$1}

	echo "# --- $label"
	if [[ ! -e $1 ]]; then
		echo "#     (does not exist)"
	elif [[ ! -s $1 ]]; then
		echo "#     (empty)"
	else
		head -c 24000 "$1" | head -n 60 | cut -b1-400 |
			LC_ALL=C sed 's/^/# | /'
	fi
	echo
}

_pass() {
	_n=$((_n + 1))
	echo "ok $_n - $1"
}

# _fail NAME [TEXT...]
_fail() {
	_n=$((_n + 1))
	_failed=$((_failed + 1))
	echo "not ok $_n - $1"
	shift
	(($#)) && diag "$@"
	return 0
}

_show_run() {
	echo "# command: ${_command-}"
	echo "# status: $status"
	show_file "$out" "standard output"
	show_file "$err" "standard error"
}

# skip NAME REASON: counts one test as skipped
skip() {
	_n=$((_n + 1))
	echo "ok $_n - $1 # SKIP $2"
}

# offline_matins ARGS...: as run_matins, without any network interface, where
# such a namespace can be made
offline_matins() {
	local offline=()

	! unshare -n true 2>/dev/null || offline=(unshare -n)
	LIMIT_S=180 run_program /dev/null "${offline[@]}" "$BIN" "$@"
}

# leftovers: what is in the folders of drafts and of installed servers
leftovers() {
	find "$HOME/.local/share/matins" -mindepth 2 -maxdepth 2 -printf '%f\n' \
		2>/dev/null | sort
}

# swept WANTED: the next command removes what a killed one left, as soon as the
# last process of that is gone
swept() {
	"$BIN" servers >/dev/null 2>&1
	[[ $(leftovers) == "$1" ]]
}

# tool_server FILE <BODY: an MCP server with a tool "t". BODY is Python: it
# makes a `text` of the arguments `a`, which is an error where it sets `bad`.
tool_server() {
	{
		cat <<-'END'
			import json, sys
			for line in sys.stdin:
			    m = json.loads(line)
			    if "id" not in m:
			        continue
			    r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
			         "serverInfo": {"name": "s", "version": "1"}}
			    if m["method"] == "tools/list":
			        r = {"tools": [{"name": "t", "inputSchema": {}}]}
			    if m["method"] == "tools/call":
			        a, bad = m["params"].get("arguments", {}), False
		END
		sed 's/^/        /'
		cat <<-'END'
			        r = {"content": [{"type": "text", "text": text}], "isError": bad}
			    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}),
			          flush=True)
		END
	} >"$1"
}

# skip_all REASON: the whole file cannot run here
skip_all() {
	echo "1..0 # SKIP $1"
	_done=1
	exit 0
}

# ok NAME COMMAND...: the command succeeds
ok() {
	local name=$1

	shift
	if "$@" >"$T/.ok" 2>&1; then
		_pass "$name"
	else
		_fail "$name" "failed: $*"
		show_file "$T/.ok" "its output"
	fi
}

# not_ok NAME COMMAND...: the command fails
not_ok() {
	local name=$1

	shift
	if "$@" >"$T/.ok" 2>&1; then
		_fail "$name" "should have failed: $*"
		show_file "$T/.ok" "its output"
	else
		_pass "$name"
	fi
}

# is NAME GOT WANT
is() {
	if [[ $2 == "$3" ]]; then
		_pass "$1"
	else
		_fail "$1" "got:  ${2:0:2000}" "want: ${3:0:2000}"
	fi
}

# isnt NAME GOT UNWANTED
isnt() {
	if [[ $2 != "$3" ]]; then
		_pass "$1"
	else
		_fail "$1" "should differ from: $3"
	fi
}

# like NAME TEXT ERE, unlike NAME TEXT ERE
like() {
	if [[ $2 =~ $3 ]]; then
		_pass "$1"
	else
		_fail "$1" "text:           ${2:0:2000}" "does not match: $3"
	fi
}

unlike() {
	if [[ $2 =~ $3 ]]; then
		_fail "$1" "text:            ${2:0:2000}" "should not match: $3"
	else
		_pass "$1"
	fi
}

# file_like NAME FILE ERE: some line of the file matches
file_like() {
	if LC_ALL=C grep -aEq -e "$3" "$2" 2>/dev/null; then
		_pass "$1"
	else
		_fail "$1" "no line matches: $3"
		show_file "$2"
	fi
}

file_unlike() {
	if [[ ! -e $2 ]] || LC_ALL=C grep -aEq -e "$3" "$2"; then
		_fail "$1" "a line matches, or there is no file: $3"
		show_file "$2"
	else
		_pass "$1"
	fi
}

# file_has NAME FILE TEXT, file_lacks NAME FILE TEXT: fixed text
file_has() {
	if LC_ALL=C grep -aFq -e "$3" "$2" 2>/dev/null; then
		_pass "$1"
	else
		_fail "$1" "not in it: $3"
		show_file "$2"
	fi
}

file_lacks() {
	if [[ ! -e $2 ]] || LC_ALL=C grep -aFq -e "$3" "$2"; then
		_fail "$1" "should not be in it: $3"
		show_file "$2"
	else
		_pass "$1"
	fi
}

# file_is NAME FILE WANTED-FILE: equal byte for byte
file_is() {
	if cmp -s "$2" "$3"; then
		_pass "$1"
	else
		_fail "$1" "the files differ"
		diff -u "$3" "$2" | head -n 60 | cut -b1-400 | sed 's/^/# | /'
	fi
}

# run_matins ARGS...: run the program; sets $status, fills $out and $err.
# Standard input is empty; `run_matins_stdin FILE ARGS...` gives it one.
# LIMIT_S=N is the time after which the program is killed (60).
run_matins() {
	run_matins_stdin /dev/null "$@"
}

run_matins_stdin() {
	local input=$1

	shift
	run_program "$input" "${WRAP[@]}" "$BIN" "$@"
	# Reports are kept for the check against the published schema.
	if [[ -n ${REPORTS-} ]] && head -c 64 "$out" |
		grep -aq '^{ *"schema": *"matins-report/1"'; then
		_run_n=$((_run_n + 1))
		cp "$out" "$REPORTS/$(basename "$0" .t)-$_run_n.json"
	fi
}

# run_program STDIN-FILE PROGRAM ARGS...
run_program() {
	local input=$1

	shift
	_command=$*
	status=0
	timeout -k 5 "${LIMIT_S:-60}" "$@" <"$input" >"$out" 2>"$err" ||
		status=$?
}

# as_user COMMAND...: as an ordinary user. When root this is `daemon`, who gets
# everything in $T (hand it back with `chown -R root: "$T"`) and copies of the
# programs in $T/.bin, since the source tree may be out of reach.
# `as_user run_matins ARGS...` works like run_matins.
as_user() {
	local input=/dev/null

	if [[ $(id -u) -ne 0 ]]; then
		"$@"
		return
	fi
	[[ -d $T/.bin ]] || _copy_programs
	chown -R daemon:daemon "$T"
	chown -R root:root "$T/.bin"
	case $1 in
	run_matins)
		shift
		;;
	run_matins_stdin)
		input=$2
		shift 2
		;;
	*)
		"${_setpriv[@]}" "$@"
		return
		;;
	esac
	run_program "$input" "${WRAP[@]}" "${_setpriv[@]}" "$T/.bin/matins" "$@"
}
_setpriv=(setpriv --reuid=daemon --regid=daemon --clear-groups
	--inh-caps=-all --bounding-set=-all)

# exit_is NAME STATUS: of the last run_matins
exit_is() {
	if [[ $status == "$2" ]]; then
		_pass "$1"
	else
		_fail "$1" "exit status $status, wanted $2"
		_show_run
	fi
}

_run_like() {
	local name=$1 file=$2 ere=$3 want=$4 rc=0

	LC_ALL=C grep -aEq -e "$ere" "$file" || rc=1
	if [[ $rc == "$want" ]]; then
		_pass "$name"
	else
		_fail "$name" "$([[ $want == 0 ]] && echo "no line matches" ||
			echo "a line matches"): $ere"
		_show_run
	fi
}

# out_like NAME ERE, out_unlike, err_like, err_unlike: lines of the last run
out_like() { _run_like "$1" "$out" "$2" 0; }
out_unlike() { _run_like "$1" "$out" "$2" 1; }
err_like() { _run_like "$1" "$err" "$2" 0; }
err_unlike() { _run_like "$1" "$err" "$2" 1; }

# out_is NAME TEXT, err_is NAME TEXT: the whole output, without last newlines
out_is() {
	if [[ $(<"$out") == "$2" ]]; then
		_pass "$1"
	else
		_fail "$1" "wanted: $2"
		_show_run
	fi
}

err_is() {
	if [[ $(<"$err") == "$2" ]]; then
		_pass "$1"
	else
		_fail "$1" "wanted: $2"
		_show_run
	fi
}

# Without packages of the machine it starts in two thirds of the time.
_json_at() {
	"$PYTHON" -S -E "$TOP/tests/blackbox/json_at.py" "$@"
}

# json_is NAME PATH WANT [PATH WANT]...: values in the standard output of the
# last run. json_file_is NAME FILE PATH WANT... looks into a file. PATH is
# like step_results[0].data.content, "." is the whole. WANT is JSON, or else
# a plain string; `~ERE` matches a string, `#N` a length, `absent` no such
# member, `present` any value, `!WANT` another value.
json_is() {
	local name=$1

	shift
	if _json_at "$out" "$@" >"$T/.json" 2>&1; then
		_pass "$name"
	else
		_fail "$name" "$(<"$T/.json")"
		_show_run
	fi
}

json_file_is() {
	local name=$1 file=$2

	shift 2
	if _json_at "$file" "$@" >"$T/.json" 2>&1; then
		_pass "$name"
	else
		_fail "$name" "$(<"$T/.json")"
		show_file "$file"
	fi
}

# json_get PATH [FILE]: print one value (strings bare, others as JSON)
json_get() {
	_json_at --get "${2:-$out}" "$1"
}

# nothing_left NAME MARK: no process has MARK in a word of its command line;
# children of a tree that was ended may take a moment to vanish
nothing_left() {
	local i left=

	for ((i = 0; i < 100; i++)); do
		left=$(_with_mark "$2")
		[[ -z $left ]] && break
		sleep 0.1
	done
	if [[ -z $left ]]; then
		_pass "$1"
	else
		_fail "$1" "still running: $left"
	fi
}

# PIDs (other than ours) whose command line contains a text; starts no program
_with_mark() {
	local dir pid cmdline IFS=$'\n'

	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		[[ $pid == "$$" || $pid == "$BASHPID" ]] && continue
		mapfile -d '' cmdline 2>/dev/null <"$dir/cmdline" || continue
		[[ "${cmdline[*]}" != *"$1"* ]] || echo "$pid"
	done 2>/dev/null
}

# wait_for SECONDS COMMAND...: until the command succeeds
wait_for() {
	local tries=$(($1 * 20))

	shift
	while ((tries-- > 0)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}

# script NAME: writes a transcript for the peer to $T/NAME.peer from stdin
script() {
	cat >"$T/$1.peer"
}

# peer_step NAME TRANSCRIPT [TYPE LINES...]: print a TOML step of the routine
# `r` that runs the peer; further arguments are lines of the step. Without a
# line `tool = …` it is of subprocess mode.
peer_step() {
	local name=$1 transcript=$2

	shift 2
	cat <<-END
		[[routines.r.steps]]
		name = "$name"
		type = "mcp-client"
		command = "$PEER"
		args = ["$T/$transcript.peer"]
	END
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

# plain NAME COMMAND [LINES...]: a step of type script of the routine $routine
# (r unless set)
plain() {
	local name=$1 command=$2

	shift 2
	printf '[[routines.%s.steps]]\nname = "%s"\ntype = "script"\ncommand = "%s"\n' \
		"${routine:-r}" "$name" "$command"
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

# golden_run ARGS...: the view of golden files of the routine r of w/k.toml, as
# the user that $as is
golden_run() {
	${as-} run_matins run -c w/k.toml r --json --view golden "$@"
}
# tape_alone, tape_back: all that could answer goes from w, which is another
# folder then, with w/k.toml and w/tape in it; and comes back
tape_alone() {
	mv w moved
	mkdir w
	mv moved/k.toml moved/tape w
}
tape_back() {
	mv moved/* w
	rmdir moved
}

# serve_scene NAME OPTIONS...: a conversation of serve.py with `matins serve`,
# which prints what was wrong
serve_scene() {
	local name=$1

	shift
	rm -f begun
	timeout -k 5 "${LIMIT_S:-240}" "$PYTHON" \
		"$TOP/tests/blackbox/serve.py" "$name" \
		"$BIN" serve "$@" 2>"$err" || echo "status $?"
}
# serve_one METHOD PARAMS OPTIONS...: one request of a client "tester" to
# `matins serve`; its answer in one.json
serve_one() {
	printf '%s\n{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' \
		'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}' \
		"$1" "$2" >in.jsonl
	shift 2
	run_matins_stdin in.jsonl serve "$@"
	grep -a '"id":1,' "$out" >one.json
}
