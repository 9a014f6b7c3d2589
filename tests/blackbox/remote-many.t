#!/usr/bin/env bash
# Many remote steps in one loop: bounded memory and descriptors, nobody waits
# for the slow one, and libraries are there only where they are needed.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

start_peer plain mute
base=http://127.0.0.1:${port[0]}
count=200
sanitized=$(grep -acE "__(asan|ubsan)_" "$BIN")

# a step of a routine: ROUTINE NAME SERVER [LINES…]
step() {
	printf '[[routines.%s.steps]]\nname = "%s"\nserver = "%s"\n' "${@:1:3}"
	printf '%s\n' 'type = "mcp-client"' 'tool = "echo"' \
		"params = { n = \"$2\" }" 'parallel = true' "${@:4}"
}

{
	printf '[servers.one]\nurl = "%s/ok/mcp-one"\n' "$base"
	printf '[servers.old]\nurl = "%s/old/mcp-old"\n' "$base"
	printf '[servers.late]\nurl = "%s/call-after%d/mcp-many"\n' "$base" \
		$((count + 1))
	printf '[servers.mute]\nurl = "http://127.0.0.1:%s/ok/mcp"\n' \
		"${port[1]}"
	step many late late
	for ((i = 0; i < count; i++)); do
		printf '[servers.s%d]\nurl = "%s/ok-%d/mcp-many"\n' $i "$base" \
			$i
		step many "n$i" "s$i"
		step one "n$i" one
		step old "n$i" old
	done
	step many mute mute 'timeout = 2'
} >c.toml

# measured ARGS…: run_matins, with the peak of its memory in $peak (KiB) and
# its largest number of descriptors in $files
cat >measure.py <<'END'
import os, resource, subprocess, sys, time
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
files = 0
while child.poll() is None:
    try:
        files = max(files, len(os.listdir("/proc/%d/fd" % child.pid)))
    except OSError:
        pass
    time.sleep(0.005)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open(sys.argv[1], "w").write("%d %d\n" % (peak, files))
sys.exit(child.returncode)
END
measured() {
	run_program /dev/null "$PYTHON" measure.py "$T/.measure" "$BIN" "$@"
	read -r peak files <"$T/.measure"
}

# bounded NAME FILES
bounded() {
	diag "$1: $((peak / 1024)) MiB, $files descriptors"
	if ((sanitized)); then
		skip "$1: under 64 MiB" "a sanitizer takes more"
	else
		ok "$1: under 64 MiB" test "$peak" -lt 65536
	fi
	if [[ $(id -u) -eq 0 ]]; then
		ok "$1: at most $2 descriptors" test "$files" -le "$2"
	else
		skip "$1: at most $2 descriptors" "nobody else may see them"
	fi
}

measured run -c c.toml many --json
exit_is "$count servers and one that is silent: 2" 2
json_is "all but that one did it" \
	summary "~$((count + 2)) ran, 0 skipped, 1 failed" \
	step_results[step_name=mute].reason deadline_initialize \
	step_results[step_name=n0].output "called n0" \
	"step_results[step_name=n$((count - 1))].output" \
	"called n$((count - 1))"
json_is "HT-9: the slow one was answered after all others, which did not wait" \
	step_results[step_name=late].output "called late"
bounded "$count servers" $((3 * count + 64))
is "each was called once" "$(grep -c '"rpc": "tools/call".*mcp-many\|mcp-many.*"rpc": "tools/call"' "$requests")" $((count + 1))

for way in one old; do
	measured run -c c.toml $way --json
	exit_is "$count steps on one server ($way): 0" 0
	json_is "all did it ($way)" step_results[1].output "called n1" \
		"step_results[$((count - 1))].output" "called n$((count - 1))"
	bounded "$count steps on one server ($way)" $((count + 64))
done
is "all steps share one session" "$(seen initialize /old/mcp-old)" 1

run_program /dev/null bash -c 'ulimit -n 64 && exec "$@"' - \
	"$BIN" run -c c.toml one --json
exit_is "many steps succeed with 64 descriptors" 0
run_program /dev/null bash -c 'ulimit -n 128 && exec "$@"' - \
	"$BIN" run -c c.toml many --json
exit_is "$count servers with 128 descriptors: 2" 2
json_is "nothing is lost by that" \
	summary "~$((count + 2)) ran, 0 skipped, 1 failed"

# ---- floods do not grow ----

for what in bomb length comments body event; do
	measured call echo --no-list --timeout 1 --stdout-max 4MiB --json \
		--url "$base/call-$what/mcp"
	exit_is "an endless $what fails the call" 1
	bounded "a $what" 64
done

# ---- libraries ----

# loaded NAME WANT ARGS…: what a run loads of them by itself
loaded() {
	local name=$1 want=$2

	shift 2
	rm -f ld.*
	run_program /dev/null env LD_DEBUG=files LD_DEBUG_OUTPUT="$T/ld" \
		"$BIN" "$@"
	exit_is "$name: the command ends with status 0" 0
	is "$name: what is loaded" "$(cat ld.* | grep -E "$BIN|dynamically" |
		grep -oE 'file=lib(curl|crypto|ssl)[^ ]*' | cut -d. -f1 |
		sort -u)" "$want"
}

loaded "a conversation on stdio" "" tools -- "$BIN" brief
loaded "a remote call without OAuth" "file=libcurl" call echo \
	--url "$base/ok/mcp-ld"
cat ld.* >all.ld
file_like "libcurl brings its own TLS, so the test would see it" all.ld \
	'file=libssl.*needed by.*libcurl'

done_testing
