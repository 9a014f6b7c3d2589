#!/usr/bin/env bash
# System calls of the runner that fail, one at a time: each ends in time, with
# an error or without, and leaves nothing behind.
. "${BASH_SOURCE%/*}/lib.sh"

FAIL=$HELPERS/fail

script serve <<-'END'
	serve
END
{
	peer_step spoken serve 'tool = "echo"' 'params = { n = 1 }'
	peer_step free serve 'tool = "echo"' 'params = { n = 2 }'
} >r.toml

"$FAIL" tried lseek EIO 1000 -- "$(type -P true)" 2>/dev/null
if (($? == 99)); then
	skip_all "no process can be traced here"
fi

# sweep NAME CALL ERRNO WORDS...: each CALL of matins WORDS fails once; none
# lasts, and none is ended by a signal
sweep() {
	local name=$1 call=$2 error=$3 n status bad=

	shift 3
	for ((n = 1; n <= 60; n++)); do
		rm -f tried
		timeout -k 1 15 "$FAIL" tried "$call" "$error" "$n" -- \
			"$BIN" "$@" >said 2>why </dev/null
		status=$?
		((status < 124 || status == 125 || status == 126)) || {
			bad="$call $n, $error: status $status: $(tail -n 1 why)"
			break
		}
		[[ -e tried ]] || break
	done
	is "$name: each failure ends in a status and a message" "$bad" ""
}

sweep "watches that cannot be added: a run ends" \
	epoll_ctl ENOSPC run -c r.toml r
sweep "watches that cannot be added: exec ends" \
	epoll_ctl ENOMEM exec -- "$(type -P true)"
sweep "watches that cannot be added: call ends" \
	epoll_ctl ENOSPC call echo -- "$PEER" "$T/serve.peer"
sweep "watches that cannot be added: call of a URL ends" \
	epoll_ctl ENOSPC call echo --url http://127.0.0.1:9/mcp
sweep "a listener that does not work: exec ends" \
	ioctl EIO exec -- "$(type -P true)"
sweep "a listener that does not work: a run ends" \
	ioctl EIO run -c r.toml r
n=0
for _ in {1..150}; do
	n=$((n + $("$BIN" exec --read . -- sh -c \
		'read -r _ </etc/passwd; echo once' 2>/dev/null | wc -l)))
done
is "a program that ends at once is started once" $n 150
sweep "a helper that cannot be killed: doctor ends" \
	kill EPERM doctor -c r.toml

# ---- a ledger that cannot be read ----

run_matins run -c r.toml r
for call in lseek pread64; do
	n=0 status=0
	# 127: it was the loader's
	while (((status == 0 || status == 127) && n++ < 40)); do
		rm -f tried
		"$FAIL" tried $call EIO $n -- "$BIN" history >said 2>why
		status=$?
		[[ -e tried ]] || break
		[[ -s said || $status -ne 0 ]] || break
	done
	is "history: $call of the ledger fails: status 1" "$status" 1
	like "history: $call of the ledger fails: said" "$(<why)" "ledger"
done

# ---- memory ----

# Whatever it cannot have, matins ends by itself. Below the first limit the
# kernel cannot map the program and kills it.
bad='' told='' first=3000
until (prlimit --as=$((first * 1024)) "$BIN" --version || (($? < 128))) \
	>/dev/null 2>&1 || ((first >= 6000)); do
	first=$((first + 50))
done
for ((kib = first; kib < first + 6000; kib += 150)); do
	prlimit --as=$((kib * 1024)) "$BIN" run -c r.toml r >said 2>why
	status=$?
	((status < 128)) || bad+=" $kib KiB: $status"
	! grep -q 'out of memory' why || told=1
done
is "memory is exhausted: no signal ends it" "$bad" ""
is "memory is exhausted: a message names the memory" "$told" 1
nothing_left "faults: no process is left" "$T/serve.peer"

# ---- control groups ----

# groups PID: those that this process made; others run at the same time
groups() {
	find /sys/fs/cgroup -maxdepth 4 -name "matins-$1-*" 2>/dev/null
}

# try CALL ERROR N: "left" has the call, the end and the groups that are there
# afterwards; fails when the call is not made that often
left=
try() {
	local status there

	rm -f tried
	"$FAIL" tried "$@" -- "$BIN" exec -- "$(type -P true)" >said 2>why
	status=$?
	[[ -e tried ]] || return 1
	there=$(groups "$(<tried)")
	[[ -z $there ]] || left+="$* (status $status, $(tail -n 1 why)): $there"
}
try flock ENOLCK 1
try flock EIO 1
for ((n = 1; n < 60; n++)); do
	try openat EMFILE $n || break
done
is "control groups: none is left by a call that failed" "$left" ""
done_testing
