#!/usr/bin/env bash
# fan in a folder of a network: two mounts of it, as two machines have them, whose
# caches differ and whose server has words of its own for what goes wrong.
# shellcheck disable=SC2016
if [[ ! ${FAN_NS:-} && $(id -u) -eq 0 ]] && unshare --mount true 2>/dev/null; then
	FAN_NS=1 exec unshare --mount bash "$0"
fi
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/sshd.sh"
for tool in sshfs fusermount3; do
	type -P $tool >/dev/null || skip_all "$tool is not installed"
done
[[ -c /dev/fuse ]] || skip_all "no file system can be made by a program here"

cat >matins.toml <<'END_OF_FILE'
[routines.hello]
params = { n = { type = "integer" } }
[[routines.hello.steps]]
name = "say"
type = "script"
command = "printf"
args = ["number %s", "$input.n"]

[routines.once]
params = { n = { type = "integer" } }
[[routines.once.steps]]
name = "send"
type = "script"
command = "/bin/sh"
args = ["-c", "echo $1 >>sent", "sh", "$input.n"]
cwd = "."
idempotent = false
sandbox = { write = ["."] }
END_OF_FILE
for ((i = 0; i < 60; i++)); do echo "{\"n\":$i}"; done >in.jsonl

throwaway_sshd || skip_all "no sshd of our own can be had here"
unmount() {
	for mount in one two; do
		fusermount3 -u -z "$T/$mount" 2>/dev/null
	done
	kill "$sshd_pid" 2>/dev/null
}
trap unmount EXIT
"${as[@]}" mkdir behind
mkdir one two
if ((${#as[@]})); then
	chmod 711 .
	chown root: . matins.toml in.jsonl one two
fi
for mount in one two; do
	# files of the user who is logged in are shown as our own
	sshfs -F "$T/ssh/config" -o idmap=user "n1:$T/behind" "$mount" 2>told ||
		skip_all "sshfs mounts nothing here: $(<told)"
done

# both ROUTINE: each mount runs the whole plan, at the same time
both() {
	run_matins fan plan "$1" --inputs in.jsonl --per-shard 60 -o "one/$1"
	exit_is "$1: the plan is made there" 0
	pids=() statuses=()
	for mount in one two; do
		"$BIN" fan exec "$mount/$1" --shard 0 -j 4 \
			--json >"$mount.json" 2>"$mount.err" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
		statuses+=($?)
	done
}

both hello
is "two at once: both have done it" "${statuses[*]}" "0 0"
is "each input has one result" \
	"$(find behind/hello/results -name '*.json' | wc -l)" 60
is "and no draft is left" "$(find behind/hello/tmp -type f)" ""
second=$(find behind/hello/dropped -type f 2>/dev/null | wc -l)
for mount in one two; do
	run_matins fan collect "$mount/hello" -o $mount-report.json --golden
	exit_is "$mount: all is collected" 0
	run_matins fan status "$mount/hello" --json
	json_is "$mount: status is true" ok 60 missing 0 duplicates "$second"
done
file_is "both see the same" one-report.json two-report.json

both once
[[ ${statuses[*]} =~ ^(0|75)\ (0|75)$ ]]
is "one that must not run twice: done, or held by the other one" $? 0
for ((i = 0; i < 3; i++)); do
	run_matins fan exec two/once --shard 0
	((status == 0)) && break
done
is "what must not run twice ran once for each input" \
	"$(sort -n sent | tr '\n' ' ')" "$(seq -s ' ' 0 59) "
run_matins fan status two/once --json
json_is "and each has its result" ok 60 failed 0 missing 0

done_testing
