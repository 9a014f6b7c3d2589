#!/usr/bin/env bash
# Sockets of AF_UNIX: those of the tree and those that are granted are reached,
# those of the host are not, by no spelling, link or race.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# Outside: servers that say "h" and the user that they see, and a list of them.
"$PYTHON" - "$T" <<'END' &
import os, socket, struct, sys, threading
where = sys.argv[1]
def serve(address):
    s = socket.socket(socket.AF_UNIX)
    s.bind(address)
    if address[0] != "\0":
        os.chmod(address, 0o777)
    s.listen(64)
    while True:
        c, _ = s.accept()
        uid = struct.unpack("iii", c.getsockopt(socket.SOL_SOCKET,
                                                socket.SO_PEERCRED, 12))[1]
        with open(where + "/came", "a") as f:
            f.write("%s\n" % address.replace("\0", "@"))
        try:
            c.send(b"h%d" % uid)
        except OSError:
            pass
        c.close()
for who in ("root", "user"):
    for folder in ("out", "shared"):
        os.makedirs("%s/%s-%s" % (where, folder, who))
        os.chmod("%s/%s-%s" % (where, folder, who), 0o777)
    for address in ("%s/out-%s/docker.sock", "%s/shared-%s/host.sock",
                    "%s/out-%s/second", "%s/shared-%s/second",
                    "\0%s-%s"):
        threading.Thread(target=serve, args=(address % (where, who),)).start()
d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
d.bind(where + "/dgram")
os.chmod(where + "/dgram", 0o777)
open(where + "/ready", "w").close()
END
server=$!
trap 'kill $server 2>/dev/null; _finish' EXIT
wait_for 10 test -e "$T/ready" || echo "# the outside servers are not there"

# each WORD NAME [OPTIONS...] -- ARGS...
each() {
	local word=$1 name=$2

	shift 2
	PROBE=${PROBE%/*}/sockets expect "$word" "$name ($level)" "${where[@]}" "$@"
}

# Nobody came to the host's server of this user since the last look.
none_came() {
	file_lacks "$who: nobody came to the host ($level)" "$T/came" "-$who"
}

own_sockets() {
	each ok "a pair" -- pair
	each ok "an own server in a writable grant" -- own "$shared"
	each blocked "abstract names in the host's" -- abstract @x
	each blocked "abstract names of the host" -- to "@$T-$who"
	each blocked "no pair with none" --unix none -- pair
	each blocked "no server with none" --unix none -- own "$shared"
	each blocked "datagrams" --unix "$T/dgram" -- dgram "$T/dgram"
	gate "${where[@]}" --syscalls socketpair -- \
		"${PROBE%/*}/sockets" dgram "$T/dgram"
	out_unlike "$who: pairs of datagrams are not had by name ($level)" sent
	err_like "$who: which is said" '"socketpair" is allowed by its arguments'
	gate "${where[@]}" --report "$W/report" -- \
		"${PROBE%/*}/sockets" dgram "$T/dgram"
	json_file_is "$who: nor advised ($level)" "$W/report" \
		"denials[name=socketpair].allow" absent
	each ok "a full server makes wait" -- full "$shared"
	each ok "a signal ends the wait" -- alarm "$shared"
	each ok "connections at once" -- many "$shared" 60
}

private_places() {
	each ok "abstract names in an own network" --net loopback -- abstract @x
	each blocked "and those of the host" --net loopback -- to "@$T-$who"
	each ok "an own server beside an own network" --net loopback -- own /tmp
	each ok "an own server in /tmp" -- own /tmp
	each ok "an own server in HOME" -- own "$HOME"
	each ok "an own server in /dev/shm" -- own /dev/shm
}

# The errno of every odd call is the kernel's own.
odd_calls() {
	as_who "${PROBE%/*}/sockets" odd "$shared" >"$W/wanted"
	gate "${where[@]}" -- "${PROBE%/*}/sockets" odd "$shared"
	file_is "$who: odd addresses ($level)" "$out" "$W/wanted"
}

host_sockets() {
	local s=$out_of/docker.sock name

	: >"$T/came"
	ln -sf "$s" "$shared/link.sock"
	for name in "$s" "$shared/host.sock" "$shared/link.sock" \
		"$shared/../out-$who/docker.sock" "//$s" "/proc/self/root$s"; do
		each blocked "$name" -- to "$name"
	done
	each blocked "by an address without a connection" -- send "$s"
	each blocked "by a relative name" -- chdir "$shared" host.sock
	each blocked "by a name beside" -- chdir "$shared" "../out-$who/docker.sock"
	none_came
	gate "${where[@]}" --report "$W/report" -- "${PROBE%/*}/sockets" to \
		"$shared/host.sock"
	# the kernel refuses without a word
	! grep -Eq 'Landlock ABI (9|[1-9][0-9])' "$W/report" || return
	json_file_is "$who: it is named with the row that allows it ($level)" \
		"$W/report" "denials[kind=unix].name" "unix:$shared/host.sock" \
		"denials[kind=unix].allow" \
		"sandbox = { unix = [\"$shared/host.sock\"] }"
}

# A name that a configuration would take for a variable is no row.
odd_name() {
	mkdir -p "$shared/\${A:-..}"
	ln -f "$shared/host.sock" "$shared/\${A:-..}/x"
	gate "${where[@]}" --report "$W/report" -- "${PROBE%/*}/sockets" to \
		"$shared/\${A:-..}/x"
	json_file_is "$who: no row for an odd name ($level)" "$W/report" \
		"denials[kind=unix].allow" absent
}

granted() {
	local uid

	each ok "one that is granted" --unix "$out_of/docker.sock" -- \
		to "$out_of/docker.sock"
	each blocked "and no other" --unix "$out_of/docker.sock" -- \
		to "$shared/host.sock"
	each ok "one in a writable grant" --unix "$shared/host.sock" -- \
		to "$shared/host.sock"
	uid=$(gate "${where[@]}" -- id -u; cat "$out")
	gate "${where[@]}" --unix "$out_of/docker.sock" -- \
		"${PROBE%/*}/sockets" user "$out_of/docker.sock"
	out_like "$who: the peer sees the user ($level)" "seen as $uid\$"
}

# restarted FOLDER NEW: the socket NEW takes the place of FOLDER/second, which is
# granted, between two connections of a program.
restarted() {
	rm -f "$shared/flag" "$shared/done"
	{
		wait_for 20 test -e "$shared/flag"
		mv "$2" "$1/second"
		touch "$shared/done"
	} &
	gate "${where[@]}" --unix "$1/second" -- "${PROBE%/*}/sockets" \
		twice "$1/second" "$shared/flag" "$shared/done"
	wait $!
}

# In a private place (/tmp) the one that is granted is mounted: only without a
# view is the place itself seen.
restarts() {
	where=(--isolate off --write "$shared")
	restarted "$out_of" "$out_of/docker.sock"
	is "$who: a server that is started anew is reached again" \
		"$(<"$out")" $'ok: reached h\nok: reached h'
	restarted "$shared" "$shared/host.sock"
	like "$who: not one that the program could have put there" \
		"$(<"$out")" $'^ok: reached h\nblocked: '
}

races() {
	local n=10000 kind

	: >"$T/came"
	for kind in memory link fd; do
		each blocked "a race of $kind" -- race "$kind" "$shared" \
			"$out_of/docker.sock" "$n"
		out_like "$who: which its own server had ($level)" 'and reached'
	done
	each blocked "a race of names" -- race rename "$shared" \
		"$shared/host.sock" "$n"
	out_like "$who: which its own server had ($level)" 'and reached'
	each blocked "a name that is given while it listens" -- \
		take "@$T-mine-$who" "$n"
	out_like "$who: and it was given" 'though it was named'
	each blocked "a race of flags" -- race flags "$shared" \
		"$out_of/docker.sock" 300
	none_came
}

# A network takes the same way.
beside_networks() {
	each ok "own sockets beside a network" --net all -- own "$shared"
	each blocked "others beside a network" --net all -- to "$shared/host.sock"
	each blocked "a race of memory beside a network" --net all -- \
		race memory "$shared" "$out_of/docker.sock" 1000
}

# What the machine may lack: the listener takes all names away, the rest nothing.
lesser_machines() {
	level=listener
	at_level "$level"
	each ok "pairs" -- pair
	each blocked "an own server" -- own "$shared"
	each blocked "one that is granted" --unix "$out_of/docker.sock" -- \
		to "$out_of/docker.sock"
	gate "${where[@]}" --report "$W/report" -- true
	json_file_is "$who: which the report says" "$W/report" \
		"enforced[guarantee=syscalls].how" '~AF_UNIX is refused'
	for level in landlock landlock-abi=5; do
		at_level "$level"
		each ok "an own server" -- own "$shared"
		each blocked "that of the host" -- to "$shared/host.sock"
		each blocked "abstract names of the host" -- to "@$T-$who"
	done
	at_level
}

# asked NAME TEXT [OPTIONS...]: the rules for sockets that a kernel with
# Landlock ABI 9 is asked for, beside which it keeps all others shut
asked() {
	local name=$1 text=$2

	shift 2
	: >"$W/asked"
	HIDE_ASKED=$W/asked gate "${where[@]}" "$@" -- true
	is "$who: $name ($level)" "$(sort -u "$W/asked")" "$text"
}

# Where Landlock keeps the sockets, nothing comes to the gate. Before ABI 9 a
# kernel cannot hold what it is asked for, and it shows what that is.
newer_machine() {
	if [[ $(id -u) -ne 0 ]]; then
		skip "$who: Landlock ABI 9" \
			"only root traces a program that hides its memory"
		return
	fi
	level=landlock-abi=9
	at_level "$level"
	each ok "a pair" -- pair
	each blocked "no pair with none" --unix none -- pair
	each ok "an own server in a writable grant" -- own "$shared"
	each ok "an own server in /tmp" -- own /tmp
	each ok "a full server makes wait" -- full "$shared"
	each ok "connections at once" -- many "$shared" 60
	each ok "abstract names in an own network" --net loopback -- abstract @x
	each blocked "abstract names of the host" -- to "@$T-$who"
	each ok "one that is granted" --unix "$out_of/docker.sock" -- \
		to "$out_of/docker.sock"
	each ok "own sockets beside a network" --net all -- own "$shared"
	HIDE_ASKED=$W/asked gate -- true
	if [[ -s $W/asked ]]; then
		asked "sockets are kept" "handled 0x1ffff"
		asked "and opened by no other grant" "handled 0x1ffff" \
			--read "$out_of" --write "$out_of" --net all
		asked "but by their own" \
			"handled 0x1ffff"$'\n'"rule 0x10000 $out_of/docker.sock" \
			--unix "$out_of/docker.sock"
	else
		host_sockets
	fi
	at_level
}

# Programs as people use them, where they are installed.
real_programs() {
	local agent=$T/agent-$who

	cat >"$W/mp.py" <<-'END'
	import multiprocessing.connection as c, threading
	s = c.Listener(family="AF_UNIX")
	threading.Thread(target=lambda: s.accept().send("met")).start()
	print(c.Client(s.address).recv())
	END
	chmod 644 "$W/mp.py"
	gate -- "$PYTHON" "$W/mp.py"
	out_like "$who: python's connections" '^met$'
	if [[ -x $NODE ]]; then
		cat >"$W/net.js" <<-'END'
		const net = require('net'), p = require('os').tmpdir() + '/n.sock'
		const s = net.createServer(c => c.end('met\n')).listen(p, () =>
			net.connect(p).on('end', () => s.close()).pipe(process.stdout))
		END
		chmod 644 "$W/net.js"
		gate -- "$NODE" "$W/net.js"
		out_like "$who: node's pipes" '^met$'
	fi
	if [[ -x /usr/bin/ssh-agent ]]; then
		ssh_agent
	else
		skip "$who: ssh-agent" "openssh-client is not installed"
	fi
	# seconds each; a user has less
	[[ $who == user ]] || return
	if [[ -x /usr/lib/chromium/chromium ]]; then
		chromium_page
	else
		skip "$who: chromium" "it is not installed"
	fi
}

# The agent serves the user that it belongs to alone, so root's child is root.
ssh_agent() {
	local as=() agent=$W/agent pid

	[[ $who == root ]] && as=(--user root)
	pid=$(as_who ssh-agent -a "$agent" | sed -n 's/.*PID=\([0-9]*\);.*/\1/p')
	SSH_AUTH_SOCK=$agent gate "${as[@]}" --unix "$agent" --env SSH_AUTH_SOCK \
		-- ssh-add -l
	out_like "$who: ssh-agent, granted" 'The agent has no identities'
	SSH_AUTH_SOCK=$agent gate "${as[@]}" --env SSH_AUTH_SOCK -- ssh-add -l
	err_like "$who: and not granted" "allow it: --unix $agent"
	kill "$pid"
}

as_who() {
	if [[ $who == user && $(id -u) -eq 0 ]]; then
		as_user "$@"
	else
		"$@"
	fi
}

chromium_page() {
	cat >"$W/page.html" <<-'END'
	<p id=x></p><script>x.textContent = 'sum ' + 6 * 7</script>
	END
	chmod 644 "$W/page.html"
	gate --exec /usr/lib/chromium/chrome_crashpad_handler --read "$W" -- \
		/usr/lib/chromium/chromium --headless --no-sandbox \
		--disable-gpu --dump-dom "file://$W/page.html"
	out_like "$who: chromium shows a page" 'sum 42</p>'
}

all_of_it() {
	local level

	out_of=$T/out-$who shared=$T/shared-$who
	for level in auto off; do
		where=(--isolate "$level" --write "$shared")
		own_sockets
		odd_calls
		host_sockets
		odd_name
		granted
		beside_networks
	done
	level=auto where=(--write "$shared")
	private_places
	races
	lesser_machines
	newer_machine
	level=
	real_programs
	restarts
}

# config ROW: a file whose sandbox has this row
config() {
	cat >matins.toml <<-END
	[[routines.day.steps]]
	name = "look"
	type = "script"
	command = "true"
	sandbox = { $1 }
	END
}

both_users all_of_it

config 'unix = "/run/x.sock"'
run_matins check
exit_is "a socket without brackets is an error" 1
err_like "which shows the line to write" 'unix = \["/run/x.sock"\]'
config 'unix = 5'
run_matins check
err_like "so is a number" '"private", "none", or a list of socket files'
for row in '"none"' '"private"' '["~/agent.sock", "${HOME}/x", "run/y"]'; do
	config "unix = $row"
	run_matins check
	exit_is "unix = $row" 0
done
run_matins exec --unix /dev/null -- true
exit_is "what is no socket is refused" 126
err_like "by name" 'unix: /dev/null is not a socket'
run_matins exec --unix "$T/nothing" -- true
exit_is "one that is not there yet is not" 0
err_like "and said" "unix: $T/nothing does not exist"
MATINS_CAVEATS='{"fs_read":"all","fs_write":{"only":["'$T'/home"]},"exec":"all","net":"all","max_calls":"unlimited","valid_for_generation":"all"}' \
	run_matins exec --unix "$T/out-root/docker.sock" -- "$HELPERS/sockets" \
	to "$T/out-root/docker.sock"
out_like "a leash that does not let it be written caps it" '^blocked: '
err_like "and says so" 'unix ".*docker.sock": dropped'
done_testing
