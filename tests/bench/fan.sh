#!/usr/bin/env bash
# Inputs per second of `matins fan`, by shards, inputs side by side, hosts and
# nodes; its calls that wait for a disk; and what a folder of many results costs.
# Needs sshd, rsync, slurm-wlm, munge and strace; rows without one are left out.
#
#   fan.sh [local] [ssh] [slurm] [calls] [folder]   all, or only these
#
#   N=N       inputs of a row (default 1000)
#   FILES=N   files of the folder row (default 390000, 100 million in 256)
#   BIN=FILE  the program (default build/matins)
if [[ ! ${FAN_NS:-} && $(id -u) -eq 0 ]] && unshare --mount true 2>/dev/null; then
	FAN_NS=1 exec unshare --mount bash "$0" "$@"
fi
. "${BASH_SOURCE%/*}/../blackbox/lib.sh"
. "$TOP/tests/blackbox/sshd.sh"
N=${N:-1000} FILES=${FILES:-390000}

cat >matins.toml <<'END'
[routines.one]
params = { n = { type = "integer" } }
[[routines.one.steps]]
name = "say"
type = "script"
command = "/bin/true"
END
for ((i = 0; i < N; i++)); do echo "{\"n\":$i}"; done >in.jsonl
as=() can_ssh=1
throwaway_sshd || can_ssh=
M=$T/.bin/matins

matins() {
	LIMIT_S=600 run_program /dev/null "${as[@]}" "$M" "$@"
}

# heading TEXT
heading() {
	printf '\n%s\n' "$1"
}

# anew PER-SHARD
anew() {
	rm -rf d
	matins fan plan one --inputs in.jsonl --per-shard "$1" -o d
}

# said LABEL MS [PROCESSOR-US]
said() {
	local n

	n=$(find d/results -name '*.json' | wc -l)
	printf '%-40s %7.1f a second  (%d inputs, %d.%03d s%s)\n' "$1" \
		"$("$PYTHON" -c "print($n * 1000 / $2)")" "$n" $(($2 / 1000)) $(($2 % 1000)) \
		"${3:+, $3 µs of processor each}"
}

# processor time of all children that have ended, in ticks of 10 ms
ticks() {
	local stat

	read -r -a stat <"/proc/$$/stat"
	echo $((stat[15] + stat[16]))
}

# row LABEL PER-SHARD SUBMIT...
row() {
	local label=$1 begin used

	anew "$2"
	shift 2
	used=$(ticks) begin=$(date +%s%N)
	matins fan submit d "$@"
	begin=$((($(date +%s%N) - begin) / 1000000))
	used=$(($(ticks) - used))
	# work of hosts is not below this shell
	[[ $* == *local* ]] || used=
	said "$label" $begin ${used:+$((used * 10000 / N))}
}

bench_local() {
	heading "local engine: processes at once, inputs side by side, inputs of a shard"
	for per_shard in 20 100 1000; do
		for max in 1 2; do
			for jobs in 1 2; do
				row "--per-shard $per_shard --max $max -j $jobs" $per_shard \
					--engine local --max $max -j $jobs
			done
		done
	done
}

bench_ssh() {
	local stage

	heading "ssh to loopback: hosts of one slot"
	[[ $can_ssh ]] || { echo "left out: no sshd of our own"; return; }
	rm -rf far
	"${as[@]}" mkdir far
	for stage in '' "--stage $T/far"; do
		[[ -z $stage ]] || type -P rsync >/dev/null || continue
		for per_shard in 20 100; do
			echo "n1 1 $M" >hosts
			# shellcheck disable=SC2086
			row "1 host, --per-shard $per_shard${stage:+, --stage}" $per_shard \
				--engine ssh --hosts hosts --ssh-config ssh/config $stage
			echo "n2 1 $M" >>hosts
			# shellcheck disable=SC2086
			row "2 hosts, --per-shard $per_shard${stage:+, --stage}" $per_shard \
				--engine ssh --hosts hosts --ssh-config ssh/config $stage
		done
	done
}

# slurm_row TASKS PER-SHARD: until all results are there
slurm_row() {
	local begin missing=1

	anew "$2"
	begin=$(date +%s%N)
	matins fan submit d --engine slurm --max "$1"
	while ((missing && $(date +%s%N) - begin < 300000000000)); do
		sleep 0.05
		missing=$((N - $(find d/results -name '*.json' 2>/dev/null | wc -l)))
	done
	said "$1 tasks at once, --per-shard $2" $((($(date +%s%N) - begin) / 1000000))
}

bench_slurm() {
	local said_up to from

	heading "Slurm of two virtual nodes, two processors each"
	mkdir -m 755 cluster
	((${#as[@]} == 0)) || chown "$me" cluster
	export SLURM_CONF=$T/cluster/slurm.conf
	coproc CLUSTER {
		"${as[@]}" "$PYTHON" "$TOP/tests/blackbox/cluster.py" "$T/cluster" 2>cluster.err
	}
	cluster_pid=$CLUSTER_PID to=${CLUSTER[1]} from=${CLUSTER[0]}
	said_up=''
	read -r -t 40 said_up <&"$from"
	if [[ $said_up != up ]]; then
		echo "left out: $said_up"
		return
	fi
	for per_shard in 20 100; do
		for tasks in 1 2 4; do slurm_row $tasks $per_shard; done
	done
	exec {to}>&-
	wait "$cluster_pid" 2>/dev/null
}

bench_calls() {
	heading "calls of one shard of $N inputs on the file system of $T"
	type -P strace >/dev/null || { echo "left out: no strace"; return; }
	for jobs in 1 2; do
		anew "$N"
		"${as[@]}" strace -f -qq -o "$T/home/trace" -e \
			trace=fsync,fdatasync,syncfs,linkat,link,clone,clone3,vfork,openat,unlinkat \
			"$M" fan exec d --shard 0 -j $jobs >.o 2>&1
		printf -- '-j %s: ' $jobs
		sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' home/trace | sort | uniq -c |
			awk '{ printf "%s%s %s", sep, $2, $1; sep = ", " } END { print "" }'
	done
}

bench_folder() {
	heading "one folder of $FILES results: made, listed, looked up, removed"
	"$PYTHON" - "$T/many" "$FILES" <<'END'
import hashlib, os, sys, time

folder, n = sys.argv[1], int(sys.argv[2])
os.makedirs(folder)
names = [hashlib.sha256(b"%d" % i).hexdigest() + ".json" for i in range(n)]
draft, d = os.open(folder + "/..", os.O_RDONLY), os.open(folder, os.O_RDONLY)
part = max(n // 8, 1)
for at in range(0, n, part):
    begin = time.monotonic()
    for i, name in enumerate(names[at:at + part]):
        os.close(os.open("draft", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=draft))
        os.link("draft", name, src_dir_fd=draft, dst_dir_fd=d)
        os.unlink("draft", dir_fd=draft)
    took = time.monotonic() - begin
    print(f"files {at:>7} to {min(at + part, n):>7}: "
          f"{min(part, n - at) / took:8.0f} made, linked, unlinked a second")
os.fsync(d)
print(f"size of the folder: {os.fstat(d).st_size / 1048576:.1f} MiB")
begin = time.monotonic()
found = sum(1 for _ in os.scandir(folder))
print(f"listed: {found} names in {time.monotonic() - begin:.2f} s")
begin = time.monotonic()
for name in names[::max(n // 20000, 1)]:
    os.stat(name, dir_fd=d)
print(f"looked up: {20000 / (time.monotonic() - begin):.0f} names a second")
begin = time.monotonic()
for name in names:
    os.unlink(name, dir_fd=d)
print(f"removed: {n / (time.monotonic() - begin):.0f} a second")
END
}

(($#)) || set -- local ssh slurm calls folder
for part in "$@"; do "bench_$part"; done
[[ ! $can_ssh ]] || kill "$sshd_pid"
done_testing >.o
