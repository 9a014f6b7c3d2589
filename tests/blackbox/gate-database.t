#!/usr/bin/env bash
# PostgreSQL of Debian, started as an ordinary user: reached by its socket file,
# by its port and by a name where they are granted, and nowhere else.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"
. "$TOP/tests/blackbox/world.sh"

bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | tail -n1)
[[ -x $bin/initdb ]] || skip_all "postgresql is not installed"

# In a network of its own, where a name can lead to an address of this machine
# that is not loopback; without namespaces names are not tried.
try_own_world
# with the owner that the server needs, whatever the tests do to theirs
db=$T.db
mkdir -m 755 "$db" "$db/sock"
server=
_end() {
	if [[ -n $server ]]; then
		# immediately; the parent is the guard that ends it in any case
		kill -QUIT "$(head -n1 "$db/data/postmaster.pid")" 2>/dev/null
		wait "$server"
	fi
	[[ -z ${has_names-} ]] || umount /etc/hosts
	rm -rf "$db"
	_finish
}
trap _end EXIT
if [[ -n ${IN_WORLD-} ]] &&
	"$PYTHON" "$TOP/tests/blackbox/net_world.py" up; then
	printf '127.0.0.1 localhost\n10.9.9.9 db.test\n10.9.9.8 other.test\n' >"$T/hosts"
	mount --bind "$T/hosts" /etc/hosts && has_names=1
	[[ $(id -u) -eq 0 ]] ||
		_setpriv=(setpriv --ambient-caps=-all --inh-caps=-all)
fi

as_owner() {
	if [[ $(id -u) -eq 0 ]]; then
		setpriv --reuid=daemon --regid=daemon --clear-groups "$@"
	else
		"$@"
	fi
}

[[ $(id -u) -ne 0 ]] || chown -R daemon: "$db"
cd "$db" || exit 1
as_owner "$bin/initdb" -N -A trust -U post --no-locale -D "$db/data" \
	>"$db/log" 2>&1 || show_file "$db/log"
echo 'host all all 10.9.9.9/32 trust' >>"$db/data/pg_hba.conf"
port=$("$PYTHON" -c 'import socket; s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])')
as_owner timeout -s QUIT 120 "$bin/postgres" -D "$db/data" -c fsync=off \
	-c "port=$port" -c "unix_socket_directories=$db/sock" \
	-c "listen_addresses=127.0.0.1${has_names:+,10.9.9.9}" \
	>>"$db/log" 2>&1 &
server=$!
cd "$T" || exit 1
socket=$db/sock/.s.PGSQL.$port
wait_for 20 "$bin/pg_isready" -q -h "$db/sock" -p "$port" ||
	show_file "$db/log"

# asks HOST [OPTIONS...]: a question to the server at HOST
asks() {
	local host=$1

	shift
	gate "$@" --report "$W/report" -- psql -h "$host" -p "$port" -U post \
		-Atc 'select 6 * 7' postgres
}

# refused NAME KIND ENDPOINT KEY: it failed, and the report names the row
refused() {
	exit_is "$who: $1" 2
	json_file_is "$who: which is named with its row" "$W/report" \
		"denials[kind=$2].name" "$3" \
		"denials[kind=$2].allow" "sandbox = { $4 = [\"${3#unix:}\"] }"
	err_like "$who: and said" "to allow it: --$4 ${3#unix:}\$"
}

all_of_it() {
	asks "$db/sock" --unix "$socket"
	out_is "$who: by its socket" 42
	asks "$db/sock"
	refused "not where that is not granted" unix "unix:$socket" unix
	err_unlike "$who: its folder needs no grant" "--read $db/sock"
	asks 127.0.0.1 --net "127.0.0.1:$port"
	out_is "$who: by its port" 42
	with_view "the network" not_by_port
	with_view "names" by_name
	cat >matins.toml <<-END
	[[routines.day.steps]]
	name = "sum"
	type = "script"
	command = "psql"
	args = ["-h", "$db/sock", "-p", "$port", "-U", "post", "-Atc",
		"select 6 * 7", "postgres"]
	sandbox = { unix = ["$socket"] }
	END
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		run_matins run day
	else
		as_user run_matins run day
	fi
	out_like "$who: a step" '^ *42$'
}

not_by_port() {
	asks 127.0.0.1 --net 127.0.0.1:1
	refused "not by another" net "127.0.0.1:$port" net
}

by_name() {
	if [[ -z ${has_names-} ]]; then
		skip "$who: by a name" "no own network"
		return
	fi
	asks db.test --net "db.test:$port"
	out_is "$who: by a name" 42
	asks db.test --net "other.test:$port"
	# the child finds its address in /etc/hosts, as any program
	refused "not by another" net "10.9.9.9:$port" net
}

both_users all_of_it
done_testing
