#!/usr/bin/env bash
# fan on a real Slurm of two virtual nodes, as an ordinary user: its daemons,
# nodes and tasks are killed at random, and each input has one result.
. "${BASH_SOURCE%/*}/lib.sh"

for program in munged slurmctld slurmd sbatch; do
	type -P $program >/dev/null ||
		skip_all "no $program here: slurm-wlm and munge are not installed"
done
_copy_programs
M=$T/.bin/matins as=()

cat >matins.toml <<'END'
[routines.hello]
params = { n = { type = "integer" } }
[[routines.hello.steps]]
name = "say"
type = "script"
command = "/bin/sh"
args = ["-c", "echo number $1; test $1 != 7", "sh", "$input.n"]
END
for ((i = 0; i < 2000; i++)); do echo "{\"n\":$i}"; done >in.jsonl
mkdir -m 755 cluster
export SLURM_CONF=$T/cluster/slurm.conf
if [[ $(id -u) -eq 0 ]]; then
	chown -R daemon: "$T"
	chown -R root: "$T/.bin"
	as=("${_setpriv[@]}")
fi

# matins ARGS...: as that user
matins() {
	run_program /dev/null "${as[@]}" "$M" "$@"
}

# ---- its daemons; all of them end with their standard input ----

coproc CLUSTER {
	"${as[@]}" "$PYTHON" "$TOP/tests/blackbox/cluster.py" "$T/cluster" 2>cluster.err
}
cluster_pid=$CLUSTER_PID to=${CLUSTER[1]} from=${CLUSTER[0]}
said='' obeyed=0
read -r -t 40 said <&"$from"
[[ $said == up ]] || skip_all "no Slurm can be had here: $said $(tail -n 1 cluster.err)"

# cluster WORDS...: one line that it obeys
cluster() {
	echo "$*" >&"$to" && read -r -t 20 said <&"$from" && ((++obeyed))
}

queue_is_empty() {
	local jobs

	jobs=$("${as[@]}" squeue -h 2>&1) && [[ -z $jobs ]]
}

# ---- a submit ----

matins fan plan hello --inputs in.jsonl --per-shard 50 -o d
exit_is "plan: status 0" 0
matins fan submit d --engine slurm --max 3 --time 10 -j 2 --print
out_like "--print: an array of all shards, a few at once" '^#SBATCH --array=0-39%3$'
out_like "which Slurm may begin again, and ends in time" '^#SBATCH --requeue$'
out_like "--print: each task runs its shard" \
	" fan exec $T/d --shard \\$\(\(0 \+ SLURM_ARRAY_TASK_ID\)\) -j 2\$"
not_ok "--print: nothing is submitted" test -e d/jobs.jsonl
matins fan submit d --engine slurm
exit_is "submit: status 0" 0
file_like "the jobs are kept, with the one that collects" d/jobs.jsonl \
	'"engine":"slurm".*"shards":"0-39","ids":\["[0-9]+","[0-9]+"\]'

# ---- disturbed ----

last=0 untrue='' missing=2000 retries=0 looks=0
look() {
	matins fan status d --json
	[[ $(<"$out") =~ \"total\":2000,\"ok\":([0-9]+),\"failed\":([0-9]+),\"running\":([0-9]+),\"missing\":([0-9]+) ]] || {
		untrue="$(<"$out") $(<"$err")"
		return
	}
	local done=$((BASH_REMATCH[1] + BASH_REMATCH[2]))

	missing=$((2000 - done))
	((done == last)) || moved=$SECONDS
	((done >= last && missing == BASH_REMATCH[3] + BASH_REMATCH[4])) ||
		untrue="$(<"$out") after $last"
	last=$done
	((++looks))
}

events=("kill n1" "task" "kill slurmctld" "task" "kill n2" "task" "kill n1" "task")
SECONDS=0 next=2 back=() moved=0
while ((missing && SECONDS < 200)); do
	look
	if ((SECONDS >= next && ${#back[@]})); then
		for name in "${back[@]}"; do cluster start "$name"; done
		back=() next=$((SECONDS + 1 + RANDOM % 2))
	elif ((SECONDS >= next && ${#events[@]})); then
		# shellcheck disable=SC2086
		cluster ${events[0]}
		[[ ${events[0]} != kill* ]] || back=("${events[0]#kill }")
		events=("${events[@]:1}") next=$((SECONDS + 1))
	elif ((${#back[@]} == 0 && SECONDS >= moved + 3)) &&
		{ ((SECONDS >= moved + 8)) || queue_is_empty; }; then
		# Slurm lost the jobs, or lets those of a dead node wait
		((retries++))
		moved=$SECONDS
		matins fan retry d --missing
	fi
	sleep 0.3
done
is "no input is lost" "$missing" 0
is "status was true at each look" "$untrue" ''
ok "it was looked at often" test $looks -gt 3
diag "$SECONDS s, $looks looks, $obeyed orders to the cluster, $retries retries"
matins fan status d --json
json_is "all results are there" ok 1999 failed 1 missing 0
is "each input has one" "$(find d/results -name '*.json' | wc -l)" 2000

# ---- the same without a disturbance ----

matins fan collect d -o wild.json --golden
matins fan plan hello --inputs in.jsonl --per-shard 500 -o calm
LIMIT_S=200 matins fan submit calm --engine local -j 2
exit_is "submit --engine local: an input fails: status 2" 2
matins fan collect calm -o calm.json --golden
exit_is "collect: complete, with a failure: status 2" 2
file_is "what Slurm gave is what this machine gives" wild.json calm.json

# ---- and no more of Slurm ----

exec {to}>&-
wait "$cluster_pid" 2>/dev/null
left() {
	pgrep -f "$T/cluster" || pgrep -f "$T/d --shard"
}
not_ok "nothing of it is left" left

done_testing
