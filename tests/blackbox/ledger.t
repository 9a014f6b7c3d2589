#!/usr/bin/env bash
# The ledger, long, crowded, and on a clock that jumps back: what a command
# reads does not grow with the runs, and a number is given once.
. "${BASH_SOURCE%/*}/lib.sh"

step='[[routines.r.steps]]
name = "s"
type = "script"
command = "cat"
args = ["word"]
sandbox = { read = ["word"] }'
printf 'keep_runs = 20\n%s\n' "$step" >m.toml
printf '[notify]\ncommand = ["cat"]\n%s\n' "$step" >notify.toml
echo same >word

# long N FILE: lines of N runs of a routine, one a minute until now
long() {
	awk -v n="$1" -v file="$2" -v now="$(date +%s)" 'BEGIN {
		for (i = 1; i <= n; i++) {
			at = strftime("%Y-%m-%dT%H:%M:%S.000Z", now - (n - i + 1) * 60, 1)
			head = "\"generation\":" i ",\"routine\":\"r\",\"file\":\"" file \
				"\",\"whole\":true,\"at\":\"" at "\""
			print "{\"event\":\"started\"," head ",\"pid\":1,\"pid_start\":1,\"boot\":\"x\"}"
			print "{\"event\":\"finished\"," head ",\"summary\":\"r: 1 ran\",\"success\":" \
				(i % 50 ? "true,\"exit\":0" : "false,\"exit\":2") "}"
		}
	}'
}

# ---- as much is read of 100 000 runs as of 300 ----

# leaks are not looked for in a program that is traced
traced() { # CALLS PROGRAM...
	local calls=$1

	shift
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		strace -qq -o trace -e "trace=$calls" "$@"
}

# cost WORDS...: bytes that matins reads, of the ledger and all else
cost() {
	traced read,pread64 "$BIN" "$@" >"$out" 2>"$err" ||
		echo "$* failed: $(<"$err")"
	awk '{ n += $NF } END { print n + 0 }' trace
}

if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
	commands=("run -c m.toml r -q" "run -c m.toml r -q --slot 2026-01-05T07:00"
		"run -c m.toml r -q --slot 2026-01-06T07:00"
		"run -c m.toml r -q --resume last" "run -c notify.toml r -q"
		"history" "history r -n 3" "history r --failed --since 2h" "show last"
		"list -c m.toml" "stats r -c m.toml" "doctor -c m.toml r --stale 26h"
		"diff -c m.toml last last")
	declare -A few=()
	for n in 300 100000; do
		export XDG_STATE_HOME=$T/state$n
		mkdir -m 700 "$XDG_STATE_HOME" "$XDG_STATE_HOME/matins"
		long $n "$T/m.toml" >"$XDG_STATE_HOME/matins/ledger.jsonl"
		for ((i = 1; i <= 2; i++)); do
			"$BIN" run -c m.toml r -q >/dev/null 2>&1
			"$BIN" run -c notify.toml r -q >/dev/null 2>&1
		done
		"$BIN" run -c m.toml r -q --slot 2026-01-04T07:00 >/dev/null 2>&1
		for command in "${commands[@]}"; do
			# shellcheck disable=SC2086
			bytes=$(cost $command)
			if ((n == 300)); then
				few[$command]=$bytes
			elif [[ ! $bytes =~ ^[0-9]+$ ]] ||
				((bytes > ${few[$command]} + 65536)); then
				is "$command: of a long ledger" "$bytes" "${few[$command]}"
			else
				is "$command: a long ledger costs no more" "" ""
			fi
		done
	done
else
	skip "what is read of a long ledger" "no strace that works"
fi

# ---- a thousand routines cost what one costs ----

{
	cat notify.toml
	for i in {1..1000}; do
		printf '%s\n' "${step//routines.r./routines.r$i.}"
	done
} >many.toml
if [[ -s trace ]]; then
	export XDG_STATE_HOME=$T/routines
	calls() {
		"$BIN" run -c "$1" r -q >/dev/null 2>&1
		traced pread64,lseek,flock "$BIN" run -c "$1" r -q >/dev/null 2>&1
		grep -c '' trace
	}
	is "of a thousand routines that tell, one runs as if alone" \
		"$(calls many.toml)" "$(calls notify.toml)"
else
	skip "a thousand routines" "no strace that works"
fi

# ---- many at once ----

export XDG_STATE_HOME=$T/crowd
pids=()
for i in {1..20}; do
	"$BIN" run -c many.toml "r$((i % 7 + 1))" --json >"crowd.$i" 2>/dev/null &
	pids+=($!)
done
wait "${pids[@]}"
ledger=$XDG_STATE_HOME/matins/ledger.jsonl
is "twenty runs at once: each line is whole" "$($PYTHON -c '
import collections, json, sys
seen = collections.Counter()
for line in sys.stdin:
    e = json.loads(line)
    seen[e["event"]] += e["event"] != "told"
    seen[e["generation"]] += e["event"] == "started"
print(seen["started"], seen["finished"], sorted(n for n in seen if n in range(1, 21) and seen[n] == 1) == list(range(1, 21)))
' <"$ledger" 2>&1)" "20 20 True"
is "and each run has a number of its own" \
	"$(grep -ho '"generation":[0-9]*' crowd.* | sort -u | wc -l)" 20
run_matins history --json
json_is "history has them all" runs '#20' runs[0].generation 20 runs[19].generation 1

# ---- a clock that jumps ----

cat >clock.c <<'END'
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
	const char *by = getenv("CLOCK_BY");
	long r = syscall(SYS_clock_gettime, id, t);

	if (r == 0 && id == CLOCK_REALTIME && by)
		t->tv_sec += atol(by);
	return (int)r;
}
time_t time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}
END
export XDG_STATE_HOME=$T/jumps
if grep -aqE "__(asan|ubsan)_" "$BIN" ||
	! cc -shared -fPIC -o clock.so clock.c 2>cc.err; then
	skip "a clock that jumps" "a sanitizer comes first, or no compiler"
	done_testing
fi
# at SECONDS WORDS...: so much later, or earlier
at() {
	WRAP=(env "LD_PRELOAD=$T/clock.so" "CLOCK_BY=$1")
	shift
	run_matins "$@"
	WRAP=()
}
day=86400
at 0 run -c m.toml r --json
at $((-400 * day)) run -c m.toml r --json
json_is "a clock that jumps back: numbers rise" generation 2 success true
at 0 run -c m.toml r --json
json_is "and go on when it is right again" generation 3
run_matins history --since 1h --json
json_is "--since is not misled by the run between" runs '#2' \
	runs[0].generation 3 runs[1].generation 1
at $((-400 * day)) run -c m.toml r --resume last --json
json_is "--resume last takes the last run, not the latest" \
	generation 4 run.taken_from 3
run_matins doctor -c m.toml r --stale 1h --json
exit_is "the last run is of a clock that was wrong: it is stale" 1
at 0 run -c m.toml r -q
run_matins doctor -c m.toml r --stale 1h
exit_is "a run by the right clock: it is not" 0
at $((400 * day)) run -c m.toml r -q
run_matins doctor -c m.toml r --stale 1h
exit_is "a run in the future says nothing about now" 1
out_like "and that is said" 'in the future: the clock was wrong'
run_matins stats r -c m.toml --json
exit_is "stats of times that do not rise" 0
run_matins stats r -c m.toml
exit_is "and their chart" 0
out_unlike "no duration is negative" ' -[0-9]'
run_matins history
out_unlike "nor in history" ' -[0-9.]+s'
is "the next slot follows the clock of now" "$(
	at $((-400 * day)) run -c m.toml r --slot 2024-01-05T07:00 --json
	json_get generation
	run_matins run -c m.toml r --slot 2024-01-05T07:00
	cat "$err"
)" "7
matins: slot 2024-01-05T07:00 ran already (run 7)"

done_testing
