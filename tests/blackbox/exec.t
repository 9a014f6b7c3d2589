#!/usr/bin/env bash
# `matins exec` as a command by itself: statuses, descriptors, signals. What
# it protects from is tried in gate-*.t.
. "${BASH_SOURCE%/*}/lib.sh"

run_matins exec -- true
exit_is "true" 0
run_matins exec -- sh -c 'exit 7'
exit_is "the program's own status" 7
run_matins exec -- sh -c 'kill -SEGV $$'
exit_is "killed by a signal: 128+n" 139
run_matins exec -- no-such-program-anywhere
exit_is "not found: 127" 127
err_like "not found: a sentence" 'no-such-program-anywhere'
echo text >plain
run_matins exec -- ./plain
exit_is "no program: 126" 126
run_matins exec --require no-such-guarantee -- true
isnt "an unknown guarantee is refused" "$status" 0
run_matins exec
exit_is "no program named: wrong usage" 64
run_matins exec --red /x -- true
exit_is "an unknown option: wrong usage" 64
err_like "an unknown option: the nearest" '--read'
run_matins exec --memory lots -- true
exit_is "a size that is none: wrong usage" 64
run_matins exec --isolate never -- true
exit_is "a word that is none: wrong usage" 64

# ---- descriptors ----

printf 'one\ntwo\n' >input
run_matins_stdin input exec -- sh -c 'read a; read b; echo "$b $a"; echo e >&2'
out_is "stdin and stdout are passed on" "two one"
err_is "stderr is passed on" "e"
head -c 5000000 /dev/zero >zeros
run_program zeros bash -c '"$0" exec -- cat | cmp - zeros' "$BIN"
exit_is "a pipe carries five megabytes" 0
run_matins exec -- sh -c 'ls -l /proc/self/fd 2>/dev/null; : >&3'
isnt "no fourth descriptor" "$status" 0
exec 9<input
run_matins exec -- sh -c 'read a <&9 && echo "got $a"'
out_unlike "a descriptor of the caller does not leak" 'got one'
exec 9<&-

# ---- environment, arguments, folder ----

export SECRET_OF_THE_CALLER=leaked
run_matins exec -- sh -c 'echo "[$SECRET_OF_THE_CALLER]"'
out_is "the caller's environment stays outside" "[]"
run_matins exec --env SECRET_OF_THE_CALLER --env B=two -- \
	sh -c 'echo "[$SECRET_OF_THE_CALLER] [$B]"'
out_is "but what was asked for is there" "[leaked] [two]"
run_matins exec --env NOT_SET_ANYWHERE -- true
exit_is "a variable that is not set: wrong usage" 64
run_matins exec -- sh -c 'echo "$0:$1:$2"' zero 'a b' '*'
out_is "arguments are passed on as they are" "zero:a b:*"
run_matins exec --exec pwd --read "$T" -- sh -c pwd
out_is "the folder is the caller's where the policy shows it" "$T"
run_matins exec -- sh -c pwd
out_is "and HOME where it does not" "$HOME"

mkdir -p narrow
(umask 077 && HOME=$T/narrow "$BIN" exec -- sh -c 'pwd; umask' >"$out" 2>"$err")
out_is "a narrow umask breaks no view and is handed on" "$T/narrow
0077"

# ---- the report ----

run_matins exec --report r.json -- sh -c 'exit 3'
exit_is "with a report the status is the same" 3
json_file_is "the report: how it ended" r.json exit.status 3
json_file_is "the report: what was enforced" r.json \
	enforced[0].guarantee exec-listed enforced[0].level enforced
run_matins exec --report r.json -- python3 -c 'import socket; socket.socket()'
exit_is "a refused call fails in the program" 1
err_like "a refused call is named" 'denied: socket\(AF_INET'
err_like "a refused call comes with what would allow it" 'net'
json_file_is "the report: the denial" r.json \
	denials[0].kind syscall denials[0].name socket
run_matins exec --net all -- python3 -c 'import socket; socket.socket()'
exit_is "and with that it is allowed" 0

# ---- signals ----

# interrupt SIGNAL ARGS...: run `exec ARGS`, send the signal to matins after it said
# "ready", fill $status and $took (milliseconds from the signal)
interrupt() {
	local sig=$1 pid begin

	shift
	: >"$out"
	env --default-signal=INT "$BIN" exec "$@" >"$out" 2>"$err" </dev/null &
	pid=$!
	wait_for 10 grep -q ready "$out"
	begin=$(date +%s%N)
	kill -s "$sig" $pid
	status=0
	wait $pid || status=$?
	took=$((($(date +%s%N) - begin) / 1000000))
}
interrupt TERM --exec sleep -- sh -c 'echo ready; exec sleep 1234.5'
exit_is "SIGTERM ends the program" 143
nothing_left "SIGTERM leaves nothing" 1234.5
interrupt INT -- sh -c 'trap "echo caught; exit 5" INT; echo ready; while :; do read x <&-; done 2>/dev/null'
exit_is "SIGINT reaches the program, which ends as it likes" 5
out_like "SIGINT: its handler ran" '^caught$'
interrupt TERM -- sh -c 'trap "" TERM; echo ready; while :; do :; done'
exit_is "a program that ignores SIGTERM is killed" 137
ok "within three seconds" test "$took" -lt 3500
done_testing
