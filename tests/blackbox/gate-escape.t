#!/usr/bin/env bash
# What a hostile program tries, from inside, with and without namespaces; and
# what an ordinary one does, beside it.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# Things outside that must stay out of reach; made outside, by root if can be.
sleep 1000 &
outside=$!
"$PYTHON" - "$T" <<'END' &
import ctypes, os, socket, sys, time
where = sys.argv[1]
u = socket.socket(socket.AF_UNIX); u.bind(where + "/socket"); u.listen(9)
os.chmod(where + "/socket", 0o777)
a = socket.socket(socket.AF_UNIX); a.bind("\0matins-%d" % os.getppid())
a.listen(9)
t = socket.socket(); t.bind(("127.0.0.1", 0)); t.listen(9)
key = 0x4d540000 | os.getppid() & 0xffff
shm = ctypes.CDLL(None).shmget(key, 4096, 0o1666)
open(where + "/ready.tmp", "w").write("%d %d %d\n" %
                                      (t.getsockname()[1], key, shm))
os.rename(where + "/ready.tmp", where + "/ready")
time.sleep(1000)
END
server=$!
cleanup() {
	kill "$outside" "$server" 2>/dev/null
	[[ -n ${shm-} && $shm != -1 ]] && ipcrm -m "$shm" 2>/dev/null
	_finish
}
trap cleanup EXIT
wait_for 10 test -e "$T/ready" || echo "# the outside server is not there"
read -r port key shm <"$T/ready"

# each WORD NAME PROBE...: under the isolation being tested
each() {
	local word=$1 name=$2

	shift 2
	expect "$word" "$name ($isolate)" --isolate "$isolate" \
		"${policy[@]}" -- "$@"
}

# The same outside, where it must work, or the test would prove nothing.
control() {
	local verdict

	verdict=$("$PROBE" "$@" 2>&1)
	like "$who: a probe outside the gate succeeds: $*" "$verdict" '^(ok|escaped): '
}

programs() {
	local true_path

	true_path=$(readlink -f /bin/true)
	each blocked "an unlisted program" exec @/bin/true
	each blocked "an unlisted program by the loader" loader @/bin/true
	expect blocked "nor beside a script of the system" \
		--exec which --exec egrep -- loader @/bin/true
	policy=(--exec true)
	each ok "a listed one" exec @"$true_path"
	each ok "a listed one by the loader" loader @"$true_path"
	each blocked "another beside it" exec @/bin/false
	policy=(--exec /usr/bin)
	each ok "a folder of programs" exec @/usr/bin/true
	policy=()
	each blocked "a memory file" memfd-exec
	each ok "memory files as memory" memfd
	each ok "memory for a JIT" write-exec
}

privilege() {
	each blocked "becoming root" setuid
	each blocked "capabilities" caps
	each blocked "new privileges" new-privs
	each blocked "set-user-id bits" suid-bit @/tmp/s
	each blocked "device files" mknod @/tmp/null
	each blocked "terminals" tty
	each blocked "typing into one" tiocsti
	each blocked "the same with high bits" tiocsti-high
	each ok "an own session" session
	each ok "signals as new" signals
	each ok "threads" thread
}

calls() {
	local name

	while read -r name; do
		each blocked "the call $name" call "$name"
	done < <("$PROBE" call list)
	each blocked "i386 calls" i386
	each blocked "x32 calls" x32
}

others() {
	each blocked "signals to others" kill "$outside"
	each ok "signals to oneself" kill-self
	each blocked "signals to the owner" kill-parent
	each blocked "limits of others" limits "$outside"
	each ok "limits of oneself" limits 0
	each blocked "environment of others" environ "$outside"
	each blocked "environment of pid 1" environ 1
	[[ $isolate == off ]] ||
		on proc-hidden each blocked "the process list" processes
	each blocked "socket files" unix @"$T/socket"
	each blocked "abstract sockets" abstract "matins-$$"
	[[ $shm == -1 ]] || each blocked "shared memory" shm "$key"
	each blocked "tcp" tcp 127.0.0.1 "$port"
	each blocked "udp" udp
	each blocked "raw sockets" raw
	each blocked "netlink" netlink
	each blocked "vsock" vsock
	each blocked "own servers" serve
	each ok "socket pairs" socketpair
}

leaks() {
	each blocked "core dumps" core
	exec 7</etc/passwd
	each blocked "descriptors of the caller" descriptors
	exec 7<&-
	SECRET_OF_CALLER=1 LD_LIBRARY_PATH=/nonexistent NODE_OPTIONS=x gate \
		--isolate "$isolate" --exec env --env SAID=yes -- env
	out_unlike "$who: the caller's environment ($isolate)" \
		'SECRET|LD_LIBRARY|NODE_OPTIONS|MATINS|XDG'
	out_like "$who: but what was declared ($isolate)" '^SAID=yes$'
	out_like "$who: and a HOME ($isolate)" '^HOME=/'
}

# Started on a terminal, the program still has none.
on_terminal() {
	local matins=("$BIN")

	[[ $who == user && $(id -u) -eq 0 ]] &&
		matins=("${_setpriv[@]}" "$T/.bin/matins")
	"$PYTHON" -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
		"${WRAP[@]}" "${matins[@]}" exec --isolate "$isolate" -- "$PROBE" "$@" \
		>"$out" 2>"$err" </dev/null
}

terminals() {
	if ! has_pty; then
		skip "$who: on a terminal ($isolate)" "no terminals here"
		return
	fi
	on_terminal tiocsti
	out_like "$who: typing into the terminal ($isolate)" '^blocked'
	on_terminal tty
	out_like "$who: opening the terminal ($isolate)" '^blocked'
	on_terminal nothing
	out_like "$who: printing to it works ($isolate)" '^ok: nothing'
}

attacks() {
	local isolate policy=()

	chmod 755 "$T"
	control exec /bin/true
	control loader /bin/true
	control tcp 127.0.0.1 "$port"
	control unix "$T/socket"
	control abstract "matins-$$"
	control socketpair
	control udp
	control dropped "$W/dropped"
	control memfd-exec
	control processes
	for isolate in auto off; do
		programs
		privilege
		calls
		others
		leaks
		terminals
	done
	isolate=auto
	each blocked "a file dropped in /tmp" dropped @/tmp/d
	each blocked "a file dropped in HOME" dropped @"$HOME/d"
	mkdir -p "$W/out"
	[[ $who == root ]] || as_user true
	policy=(--write "$W/out" --profile strict)
	each blocked "a file dropped in a strict grant" dropped @"$W/out/d"
	policy=()
	isolate=off
	gate --isolate off -- sh -c "cp $PROBE \$TMPDIR/d; \$TMPDIR/d nothing"
	out_unlike "$who: a dropped file (off)" '^ok'
}

both_users attacks
if [[ $(id -u) -eq 0 ]]; then
	who=root isolate=auto PROBE=$HELPERS/probe policy=(--user root)
	on proc-hidden each blocked "the process list as root" processes
	on proc-hidden each blocked "the arguments of pid 1 as root" \
		read @/proc/1/cmdline
	each ok "its own as root" read @/proc/self/cmdline
fi
done_testing
