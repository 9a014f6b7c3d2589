# A network and files of /etc of the test's own, where no packet leaves this
# machine; source it after lib.sh.
#
#	in_own_world		the test runs once more, in namespaces
#	try_own_world		likewise, or goes on as it is
#	own_etc NAME <TEXT	/etc/NAME is that text
#	start_world		the servers of net_world.py; $T/world/zone before
#
# shellcheck shell=bash
# shellcheck disable=SC2154

# Namespaces are root's, or of a user's own.
try_own_world() {
	local own=(unshare --net --mount)

	[[ -z ${IN_WORLD-} ]] || return 0
	[[ $(id -u) -eq 0 ]] ||
		own=(unshare --user --map-current-user --keep-caps --net --mount)
	"${own[@]}" true 2>/dev/null || return 0
	cd / && rm -rf "$T"
	IN_WORLD=1 BIN=$BIN HELPERS=$HELPERS PATH=$PATH${NODE:+:${NODE%/*}} \
		exec "${own[@]}" "$TOP/tests/blackbox/${0##*/}"
}

in_own_world() {
	try_own_world
	[[ -n ${IN_WORLD-} ]] || skip_all "no namespaces"
}

own_etc() {
	cat >"$T/$1"
	mount --bind "$T/$1" "/etc/$1" || skip_all "no own /etc/$1"
}

start_world() {
	local world=$TOP/tests/blackbox/net_world.py

	"$PYTHON" "$world" up || skip_all "no own network"
	mkdir -p "$T/world"
	"$PYTHON" "$world" serve "$T/world" &
	server=$!
	trap 'kill $server 2>/dev/null; _finish' EXIT
	wait_for 10 test -e "$T/world/ready" || echo "# the servers are not there"
	# as an ordinary user the programs do not get what made this world
	[[ $(id -u) -eq 0 ]] || _setpriv=(setpriv --ambient-caps=-all --inh-caps=-all)
}

# client "OPTIONS" ARGS...: $client_py, copied to $W, under the gate
client() {
	local options

	read -ra options <<<"$1"
	shift
	gate "${options[@]}" --report "$W/report" -- "$PYTHON" \
		"$W/$client_py" "$@"
}

# denied NAME ENDPOINT: the report names it, and how to allow it
denied() {
	json_file_is "$who: $1" "$W/report" \
		"denials[kind=net].name" "$2" \
		"denials[kind=net].allow" "sandbox = { net = [\"$2\"] }"
}
