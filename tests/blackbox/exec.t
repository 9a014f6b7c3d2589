#!/usr/bin/env bash
# `matins exec` as a command by itself: statuses, descriptors, signals. What
# it protects from is tried in gate-*.t.
. "${BASH_SOURCE%/*}/lib.sh"

run_matins exec -- true
exit_is "a program that succeeds ends with status 0" 0
run_matins exec -- sh -c 'exit 7'
exit_is "the program's own status" 7
run_matins exec -- sh -c 'kill -SEGV $$'
exit_is "killed by a signal: 128+n" 139
run_matins exec -- no-such-program-anywhere
exit_is "a program that is not found ends with 127" 127
err_like "the message names the program that is not found" 'no-such-program-anywhere'
for line in "ls -la" "/bin/ls -la" "ls @scope/name"; do
	run_matins exec -- "$line"
	exit_is "a line of words as the program ends with 127 ($line)" 127
	err_like "the message says so ($line)" \
		'"ls .*" is a line of words, not a program; leave out its quotes'
done
cp /bin/true 'two words'
run_matins exec -- './two words'
exit_is "a program whose name has a blank runs" 0
echo text >plain
run_matins exec -- ./plain
exit_is "a file that is no program ends with 126" 126
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
run_matins_stdin input exec --read . -- sh -c 'read a; read b; echo "$b $a"; echo e >&2'
out_is "stdin and stdout are passed on" "two one"
err_is "stderr is passed on" "e"
head -c 5000000 /dev/zero >zeros
run_program zeros bash -c '"$0" exec -- cat | cmp - zeros' "$BIN"
exit_is "a pipe carries five megabytes" 0
run_matins exec -- sh -c 'ls -l /proc/self/fd 2>/dev/null; : >&3'
isnt "a program has no fourth file descriptor" "$status" 0
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
out_is "a variable that --env names is passed on" "[leaked] [two]"
run_matins exec --env NOT_SET_ANYWHERE -- true
exit_is "a variable that is not set: wrong usage" 64
run_matins exec -- sh -c 'echo "$0:$1:$2"' zero 'a b' '*'
out_is "arguments are passed on as they are" "zero:a b:*"
run_matins exec --exec pwd --read "$T" -- sh -c pwd
out_is "the folder is the caller's where the policy shows it" "$T"
run_matins exec --isolate require -- true
has_view=$status why=$(head -n1 "$err")
mkdir -p narrow
if [[ $has_view == 0 ]]; then
	run_matins exec -- sh -c pwd
	out_is "HOME is the folder where the current one is closed" "$HOME"
	(umask 077 && HOME=$T/narrow "$BIN" exec -- sh -c 'pwd; umask' \
		>"$out" 2>"$err")
	out_is "a narrow umask breaks no view and is handed on" "$T/narrow
0077"
else
	skip "HOME at its own path" "$why"
fi

# ---- the report ----

run_matins exec --report r.json -- sh -c 'exit 3'
exit_is "the status is the program's with --report, too" 3
json_file_is "the report: how it ended" r.json exit.status 3
json_file_is "the report: what was enforced" r.json \
	enforced[0].guarantee exec-listed enforced[3].guarantee net-off \
	enforced[3].level enforced
run_matins exec --report r.json -- python3 -c 'import socket; socket.socket()'
exit_is "a refused call fails in the program" 1
err_like "a refused call is named" 'denied: network'
err_like "a refused call comes with what would allow it" 'net'
json_file_is "the report: the denial" r.json \
	denials[0].kind syscall denials[0].name socket
run_matins exec --net all -- python3 -c 'import socket; socket.socket()'
exit_is "a socket can be made with --net all" 0

# ---- what would help ----

mkdir -p folder
run_matins exec -- ls folder
isnt "a folder that is not granted" "$status" 0
err_like "is said with the option" 'the folder folder .*--read folder'
run_matins exec --read folder -- ls folder
exit_is "a granted folder can be listed" 0
run_matins exec --read folder -- ls folder/none
err_unlike "nothing is said of what is granted" '--read'
run_matins exec --exec folder -- true
exit_is "a folder is no name in PATH" 127
err_like "the message offers the folder as a path" '"\./folder"'
run_matins exec --preset none -- sh -c 'cat folder'
exit_is "a program that is not listed" 126
err_like "is said with the option, too" '--exec PROGRAM'
run_matins exec --read . --exec cat -- sh -c 'exit 1'
is "a failure of its own is left alone" "$(<"$err")" ""
run_matins exec -- sh -c 'exit 2'
err_like "where it was started is said" "started in a private, empty folder, because \. is not granted: --write \.$"
run_matins exec --read . -- sh -c 'exit 2'
is "no hint is given inside the caller's folder" "$(<"$err")" ""
mkdir -p "$HOME/.ssh" "$HOME/notes"
run_matins exec --read "$HOME" -- true
err_like "keys in what is granted are named" 'warning: --read .*~/\.ssh'
run_matins exec --read "$HOME/.ssh" --read "$HOME/notes" -- true
err_unlike "a folder of keys that is granted by name gives no warning" warning
rmdir "$HOME/.ssh" "$HOME/notes"
mkdir -p "$HOME/.aws"
echo token >"$HOME/.aws/credentials"
run_matins exec -- cat "$HOME/.aws/credentials"
out_is "a key that is named is read" token
err_like "a warning says which key the argument names" 'warning: .*/credentials .*argument.*~/\.aws holds'
run_matins exec -q -- cat input
is "another file is not worth a word" "$(<"$err")" ""
run_matins exec --read "$HOME/.aws" -- cat "$HOME/.aws/credentials"
err_unlike "a key in a granted folder gives no warning" warning
run_matins exec --explain --json -- cat "$HOME/.aws/credentials" input
json_is "--explain: a key that is named" grants[2].why argument \
	grants[2].secret '~/.aws' grants[3].why argument \
	grants[3].path "~/input$"
rm -r "$HOME/.aws"

# ---- a log that the caller appends to ----

cat >log.py <<-'END'
	import fcntl, os
	def attempt(what, *args):
	    try:
	        what(*args)
	    except OSError:
	        pass
	for fd in 1, 2:
	    attempt(os.ftruncate, fd, 0)
	    attempt(fcntl.fcntl, fd, fcntl.F_SETFL, 0)
	    attempt(os.lseek, fd, 0, 0)
	    attempt(os.open, "/proc/self/fd/%d" % fd, os.O_WRONLY | os.O_TRUNC)
	for i in range(40):
	    os.write(1 + i % 2, b"%d\n" % i)
END
echo old >log
"$BIN" exec -q -- "$PYTHON" log.py >>log 2>&1
is "a log that is appended to keeps what it had, and its order" \
	"$(<log)" "$(echo old; seq 0 39)"
"$BIN" exec -q -- "$PYTHON" log.py >>log 2>>log
is "a log that was opened twice is appended to" "$(wc -l <log)" 81
"$BIN" exec -q -- "$PYTHON" log.py 2>>log >new
is "a log that is opened for stderr alone is appended to" "$(head -n1 log), $(wc -l <log), $(wc -l <new)" \
	"old, 101, 20"
"$BIN" trace -- "$PYTHON" log.py 2>>log >/dev/null
like "a trace appends, too" "$(head -n1 log)" '^old$'

# ---- words of a program whose stderr is pumped: of a terminal, or a log ----

mkdir far
echo x >far/file
"$BIN" exec -- "$PYTHON" -c "open('$PWD/far/file')" >"$out" 2>>words.log
file_has "the file that a program missed is advised" words.log \
	"to allow it: --read $PWD/far/file"
file_has "with the trace that finds the rest" words.log \
	'to find everything that it needs: matins trace -- '
"$BIN" exec -- "$PYTHON" -c "open('$PWD/far/none')" >"$out" 2>>none.log
file_lacks "a file that is missing for all is not" none.log 'to allow it'
"$BIN" exec --read far -- "$PYTHON" -c "open('$PWD/far/none')" \
	>"$out" 2>>granted.log
file_lacks "nor is a trace, where its folder is granted" granted.log \
	'matins trace'

# ---- a trace is offered where it may help ----

run_matins exec -- ls folder
err_like "a refused program leads to matins trace" 'to find everything that it needs: matins trace -- ls folder$'
run_matins exec -- sh -c 'exit 1'
err_unlike "a failure without a refusal gives no hint" 'matins trace'
for net in 127.0.0.1:1 127.0.0.1:2 localhost:2 loopback all; do
	run_matins exec --net "$net" -- sh -c 'exit 7' http://127.0.0.1:2/
	err_unlike "a service that nothing tried is not advised: --net $net" \
		'to allow it'
done
mkdir away
cd away || exit
run_matins exec -- sh -c 'exit 3'
err_unlike "nor does one in a private folder" 'matins trace'
is "which is said again, below all that the program printed" \
	"$(grep -c 'private, empty folder' "$err") $(tail -n1 "$err")" \
	"2 matins: started in a private, empty folder, because . is not granted"
cd .. || exit
run_matins exec --report r.json -- python3 -c 'import socket; socket.socket()'
json_file_is "the report has the advice of the notes" r.json \
	advice[0].text '~network' advice[0].option '--net HOST' \
	advice[-1].text '~to find everything .*matins trace -- python3 -c …$' \
	advice[-1].option absent
run_matins exec --report r.json -- sh -c 'exit 3'
json_file_is "and none without a refusal" r.json advice absent
run_matins exec -- python3 -c 'import socket; socket.socket()'
err_like "the hint leaves out arguments that need quotes" 'matins trace -- python3 -c …$'
mkdir hidden own
echo secret >hidden/file
cd own || exit
report_names() {
	json_file_is "$1: the report names the file and the option" r.json \
		advice[0].text '~hidden/file' advice[0].option '~^--read .*hidden'
}
printf '#!/bin/sh\necho before >&2\ncat %s\n' "$T/hidden/file" >reads
chmod 755 reads
run_matins exec --read . --report r.json -- ./reads
report_names "a refused read without a terminal"
err_like "a refused read without a terminal is named" '^matins: .*hidden/file.*--read'
err_like "and what finds the rest is" 'matins trace -- \./reads'
is "words of the program come first, as they are" "$(head -n1 "$err")" before
"$BIN" exec --read . --report r.json -- ./reads >both 2>&1
report_names "stdout and stderr in one file"
printf '#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8; do echo $i; echo $i >&2; done\n' >reads
"$BIN" exec --read . --report r.json -- ./reads >both 2>&1
is "stdout and stderr in one file keep their order" "$(uniq both | tr -d '\n')" 12345678
run_matins exec --report r.json -- sh -c 'exit 3'
err_like "a failure with a report is followed by what finds its reason" \
	'matins trace -- sh -c'
run_matins exec --read . -- sh -c 'exit 3'
is "one without a report is not" "$(<"$err")" ""
cd .. || exit
has_pty() { "$PYTHON" -c 'import os; os.openpty()' 2>/dev/null; }
if has_pty; then
	# what a terminal shows
	at_terminal() {
		"$PYTHON" -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
			"$BIN" exec "$@" >"$out" 2>&1 </dev/null
		status=$?
	}
	at_terminal --read . -- sh -c 'echo x >input'
	out_like "at a terminal, a refusal that the program names" \
		'matins trace -- sh -c'
	at_terminal --read . -- sh -c 'exit 2'
	out_unlike "a failure without a refusal gives no hint at a terminal" 'matins trace'
else
	skip "a hint is given at a terminal" "no pseudo-terminals"
fi

run_matins exec --report none/r.json -- sh -c 'echo started'
exit_is "a report that cannot be written: wrong usage" 64
out_is "a report that cannot be written starts nothing" ""
run_matins exec --json -- sh -c 'echo started'
exit_is "--json without --explain: wrong usage" 64
printf 'raed = ["x"]\nexec = "y"\n' >p.toml
run_matins exec --policy p.toml -- true
err_like "a wrong policy file: the first mistake" 'p.toml:1:1: .*"read"'
err_like "a wrong policy file has its last mistake named" 'p.toml:2:8: '
exit_is "a wrong policy file ends with 125" 125
run_matins exec --policy gone.toml -- true
exit_is "a missing policy file ends with 125" 125
run_matins exec --net loop -- true
exit_is "a word of --net cut short: wrong usage" 64
err_like "the message names the word that was meant" 'did you mean "loopback".*"loop:443"'
run_matins exec --net everything -- true
err_like "one that is another's" 'did you mean "all"'
run_matins exec --cpu 1500ms -- true
exit_is "a duration between two seconds" 0
err_like "is rounded up, and said to be" '--cpu 1500ms: .*: 2s'
run_matins exec --read . --cpu 2s -- true
is "a whole one is not" "$(<"$err")" ""
run_matins exec --preset
exit_is "a preset without a name: wrong usage" 64
run_matins exec --policy '' -- true
exit_is "an empty policy: wrong usage" 64

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
nothing_left "SIGTERM leaves no process behind" 1234.5
interrupt INT -- sh -c 'trap "echo caught; exit 5" INT; echo ready; while :; do read x <&-; done 2>/dev/null'
exit_is "SIGINT reaches the program, which ends as it likes" 5
out_like "SIGINT: its handler ran" '^caught$'
interrupt TERM -- sh -c 'trap "" TERM; echo ready; while :; do :; done'
exit_is "a program that ignores SIGTERM is killed" 137
ok "the program is killed within three seconds" test "$took" -lt 3500
for row in 'memory:a size; use for example 512MiB' \
	'cpu:a duration; use for example 30s' 'files:a number'; do
	run_matins exec "--${row%%:*}" lots -- true
	exit_is "--${row%%:*} lots: exit status 64" 64
	err_like "--${row%%:*} lots: says what to write" \
		"--${row%%:*}: \"lots\" is not ${row#*:}"
done
run_matins call x --timeout soon -- cat
err_like "--timeout soon: says what to write" \
	'--timeout: "soon" is not a duration; use for example 30s'

# bounds and words are those of the keys in TOML; each has an allowed twin
while IFS='|' read -r option low fits bounds; do
	run_matins exec "--$option" "$low" --explain -- true
	exit_is "--$option $low: exit status 64" 64
	err_like "--$option $low: the bounds" \
		"--$option must be $bounds, not $low\$"
	run_matins exec "--$option" "$fits" --explain -- true
	exit_is "--$option $fits is allowed" 0
	[[ $low == *[!0-9]* ]] && low="\"$low\""
	echo "${option//-/_} = $low" >bounds.toml
	run_matins exec --policy bounds.toml --explain -- true
	err_like "$(<bounds.toml) is refused in a file as well" \
		"1:[0-9]+: \"${option//-/_}\" is $bounds\$"
done <<'END'
memory|64|1MiB|at least 1MiB
memory|1048575|1048576|at least 1MiB
file-size|0|1|at least 1B
files|7|8|at least 8 and at most 1048576
files|1048577|1048576|at least 8 and at most 1048576
processes|0|1|at least 1 and at most 4194304
cpu|25h|24h|at least 1s and at most 24h
END
for row in "timeout 0:at least 1ms and at most 24h" \
	"timeout 25h:at least 1ms and at most 24h" \
	"stdout-max 2GiB:at least 1B and at most 1GiB" \
	"elicit maybe:accept, decline or cancel"; do
	read -r option value <<<"${row%%:*}"
	run_matins call x "--$option" "$value" -- cat
	exit_is "--$option $value: exit status 64" 64
	err_like "--$option $value: the bounds or words" \
		"--$option must be ${row#*:}, not \"?$value\"?\$"
done
run_matins exec --tmp lots -- true
exit_is "--tmp lots: exit status 64" 64
err_like "--tmp lots: the words" '--tmp must be private or shared, not "lots"$'
run_matins exec --profile lots -- true
err_like "--profile lots: the words" \
	'--profile must be strict, default or open, not "lots"$'

done_testing
