#!/usr/bin/env bash
# Ordinary things that bash scripts do: shell.bash NAME FOLDER.
pipeline() { printf '%s\n' c a b a | sort | uniq -c | awk '{ print $2 $1 }'; }
here() {
	cat <<-TEXT
		here $((6 * 7))
	TEXT
	tr a-z A-Z <<<"string"
}
substitution() { diff <(printf 'a\nb\n') <(printf 'a\nc\n') || true; }
output_substitution() { echo words | tee >(wc -c) >/dev/null; sleep 0.2; }
traps() (trap 'echo bye' EXIT && trap 'echo usr1' USR1 && kill -USR1 $BASHPID)
arrays() {
	declare -A map=([a]=1 [b]=2)
	local list=(x y z)

	echo "${#list[@]} ${list[*]:1} ${map[b]}"
}
coprocess() {
	coproc up { tr a-z A-Z; }
	echo hello >&"${up[1]}"
	eval "exec ${up[1]}>&-"
	cat <&"${up[0]}"
}
jobs_wait() {
	sleep 0.1 &
	(exit 3) &
	wait $!
	echo "status $?"
	wait
}
job_control() { (set -m && sleep 0.05 & wait && echo waited) 2>&1; }
subshells() { (cd / && pwd) && echo "$(echo "$(echo nested)")"; }
patterns() {
	touch "$1"/{a,b,c}.txt
	(cd "$1" && echo *.txt && [[ $(echo abc) =~ ^a(.)c$ ]] && echo "${BASH_REMATCH[1]}")
}
reading() { while read -r line; do echo "<$line>"; done <"$1/file"; }
redirections() { { echo out && echo err >&2; } >"$1/both" 2>&1 && cat "$1/both"; }
fifo() {
	mkfifo "$1/pipe"
	echo through >"$1/pipe" &
	cat "$1/pipe"
	wait
}
arithmetic() { printf '%05d %x %s\n' 42 255 "$((2 ** 40))"; }
exec_replaces() { (exec echo replaced); }
limits() { (ulimit -n 32 && ulimit -n); }
null() { echo gone >/dev/null && echo kept; }
timeouts() { timeout 0.05 sleep 5 || echo "status $?"; }
"$@"
