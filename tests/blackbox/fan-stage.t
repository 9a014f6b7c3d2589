#!/usr/bin/env bash
# fan submit --stage: hosts that do not see the folder of the plan.
if [[ ! ${FAN_NS:-} && $(id -u) -eq 0 ]] && unshare --mount true 2>/dev/null; then
	FAN_NS=1 exec unshare --mount bash "$0"
fi
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/sshd.sh"

cat >matins.toml <<'END'
[routines.hello]
params = { n = { type = "integer" } }
[[routines.hello.steps]]
name = "say"
type = "script"
command = "/bin/sh"
args = ["-c", "echo number $1; test $1 != 7 || test -e fixed", "sh", "$input.n"]
cwd = "."
sandbox = { read = ["."] }

[routines.held]
params = { n = { type = "integer" } }
[[routines.held.steps]]
name = "wait"
type = "script"
command = "/bin/sh"
args = ["-c", "test $1 = 0 || while test -e held; do sleep 0.1; done", "sh", "$input.n"]
cwd = "."
sandbox = { read = ["."] }

[routines.once]
params = { n = { type = "integer" } }
[[routines.once.steps]]
name = "send"
type = "script"
command = "/bin/true"
idempotent = false

[routines.outer]
params = { n = { type = "integer" } }
[[routines.outer.steps]]
name = "in"
type = "routine"
routine = "once"
params = { n = "$input.n" }
END
for ((i = 0; i < 40; i++)); do echo "{\"n\":$i}"; done >in.jsonl
head -n 5 in.jsonl >five.jsonl

# ---- what is refused, before anything starts ----

run_matins fan plan hello --inputs in.jsonl --per-shard 10 -o d
echo n1 >hosts
run_matins fan submit d --engine local --stage /tmp
exit_is "--engine local: status 64" 64
err_like "--engine local: and why" '[-][-]stage is for --engine ssh'
if ! type -P rsync >/dev/null; then
	skip "copies by rsync" "there is no rsync"
	done_testing
	exit
fi
# shellcheck disable=SC2088
run_matins fan submit d --engine ssh --hosts hosts --stage '~/fan'
exit_is "a folder with ~, which nobody expands: status 64" 64
run_matins fan submit d --engine ssh --hosts hosts --stage fan --print
exit_is "--print with --stage, whose folders a submit names: status 64" 64
err_like "and that is why" 'leave out --stage'
mkdir -m 777 d/staged && chmod 777 d/staged
run_matins fan status d
exit_is "a folder of others for what comes back: status 1" 1
err_like "and it is named" 'staged belongs to another user'
rmdir d/staged
for routine in once outer; do
	run_matins fan plan $routine --inputs in.jsonl -o "d-$routine"
	run_matins fan submit "d-$routine" --engine ssh --hosts hosts --stage fan
	exit_is "$routine: a step must not run twice: status 1" 1
	err_like "$routine: and that is why" 'must be seen by all machines'
	not_ok "$routine: nothing was submitted" test -e "d-$routine/jobs.jsonl"
done
echo '[n1]' >hosts
run_matins fan submit d --engine ssh --hosts hosts --stage fan
err_like "a host in brackets, which rsync strips" '"\[n1\]" is no host for --stage'
echo 'host:1' >hosts
run_matins fan submit d --engine ssh --hosts hosts --stage fan
err_like "a host that rsync would take for a path" '"host:1" is no host for --stage'
echo n1 >hosts
if [[ ${FAN_NS:-} ]]; then
	# shellcheck disable=SC2016
	run_program /dev/null unshare --mount sh -c \
		'mount --bind /dev/null /usr/bin/rsync && exec "$@"' sh \
		"$BIN" fan submit d --engine ssh --hosts hosts --stage fan
	exit_is "without rsync: status 1" 1
	err_like "without rsync: and that is said" 'rsync is not in /usr/bin, nor in a folder of PATH'
	mkdir -m 755 opt
	printf '%s\n' '#!/bin/sh' 'echo 7' >opt/sbatch
	chmod 755 opt/sbatch
	submit_slurm() {
		run_program /dev/null unshare --mount sh -c \
			'! test -e /usr/bin/sbatch || mount --bind /dev/null /usr/bin/sbatch
			PATH=$PWD/opt:$PATH exec "$@"' sh \
			"$BIN" fan submit d --engine slurm
	}
	submit_slurm
	exit_is "a scheduler in a folder of PATH is found" 0
	file_like "and has taken a job" d/jobs.jsonl '"ids":\["7"'
	chmod 777 opt
	submit_slurm
	exit_is "one in a folder that others can write is not" 1
	err_like "and that is why" 'sbatch is not in .* in which you and root alone can write'
	rm -r d/jobs.jsonl d/log
else
	skip "without rsync" "only root can hide it"
fi

# ---- two hosts, each with a folder of its own ----

rm -rf d
matins() {
	LIMIT_S=120 run_program /dev/null "${as[@]}" "$T/.bin/matins" "$@"
}
submit() {
	matins fan submit d --engine ssh --hosts hosts --ssh-config ssh/config --stage "$T/far" "$@"
}
anew() {
	rm -rf d far
	"${as[@]}" mkdir far
	matins fan plan hello --inputs "$1" --per-shard 10 -o d
}
if ! throwaway_sshd; then
	skip "hosts over ssh" "no sshd of our own can be had here"
	done_testing
	exit
fi
M=$T/.bin/matins
matins fan plan hello --inputs in.jsonl --per-shard 10 -o calm
matins fan submit calm --engine local
matins fan collect calm -o calm.json --golden

# same_as_calm NAME: all results, once, those of this machine
same_as_calm() {
	matins fan collect d -o far.json --golden
	file_is "$1: the report is that of this machine" far.json calm.json
	is "$1: each input has one result" "$(find d/results -name '*.json' | wc -l)" 40
}

cat >seen <<-END
	#!/bin/sh
	$M "\$@"
	status=\$?
	echo "\$3" >>$T/home/seen
	find "\$3" -perm /077 >>$T/home/open
	exit \$status
END
chmod 755 seen
printf '%s\n' "n1 1 $T/seen" "n2 1 $T/seen" "n1 1 $T/seen" >hosts
matins fan plan hello --inputs in.jsonl --per-shard 10 -o d
submit
exit_is "a folder that the hosts have not: status 75" 75
err_like "and the host is left out, with what to do" \
	"n1 is left out: it has no folder $T/far to enter: make one there, or name another by --stage"
not_ok "and rsync is not begun" grep -q rsync "$err"
anew in.jsonl
submit -j 2
exit_is "an input fails: status 2" 2
err_unlike "a host that is in the list twice has more slots" 'left out'
same_as_calm "two hosts"
is "nothing lies beside the results" "$(find d/staged -type f 2>/dev/null | wc -l)" 0
for host in n1 n2; do
	ok "$host: its shards ran in a folder of its own" grep -q "^$T/far/matins-.*-$host$" home/seen
done
is "folders of hosts go when all results are here" "$(ls far)" ''
is "no shard ran here" "$(find d/running d/tmp -type f 2>/dev/null | wc -l)" 0
is "what is copied is for its owner alone" \
	"$(<home/open)$(find d/results -perm /077)" ''
"${as[@]}" touch fixed
matins fan retry d --failed --ssh-config ssh/config
exit_is "retry: the failure on the host is none of this submit: status 0" 0
matins fan status d --json
json_is "retry: all is well" ok 40 failed 0 missing 0
rm fixed

# ---- two submits at once ----

anew in.jsonl
"${as[@]}" "$M" fan submit d --engine ssh --hosts hosts --ssh-config ssh/config \
	--stage "$T/far" >.o 2>.e2 &
pid=$!
submit
unlike "two at once: none of them leaves a host out" "$(cat "$err" .e2)" 'left out'
wait $pid
is "two at once: the other one ends, too: status 2" $? 2
same_as_calm "two at once"

# ---- a host that dies, a submit that dies, one that lies ----

cat >dying <<-END
	#!/bin/sh
	$M "\$@" &
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		set -- $T/far/*-n1/results/*/*.json
		test -e "\$1" && break
		sleep 0.2
	done
	kill -KILL \$!
	exit 255
END
chmod 755 dying
printf '%s\n' "n1 1 $T/dying" "n2 1 $M" >hosts
anew in.jsonl
submit
exit_is "a host dies: the others do it all: status 2" 2
err_like "a host dies: it is left out" 'n1 is left out: ssh failed'
is "a host dies: its folder stays, alone" "$(cd far && echo *)" "$(cd far && echo matins-*-n1)"
err_like "a host dies: and how long is said" \
	"n1: its folder $T/far/matins-[0-9a-f]*-n1 stays until the next submit with this --stage: the host was left out"
same_as_calm "a host dies"

printf '%s\n' "n1 1 $M" "n2 1 $M" >hosts
anew in.jsonl
"${as[@]}" "$M" fan submit d --engine ssh --hosts hosts --ssh-config ssh/config \
	--stage "$T/far" >.o 2>&1 &
pid=$!
wait_for 30 eval 'compgen -G "d/results/*/*.json" >.n'
kill -KILL $pid
wait $pid 2>/dev/null
"${as[@]}" mkdir far/mine far/matins-0123456789abcdef-n1
ended() { ! ls -d far/matins-*-n[12]/running/* >.n 2>&1; }
wait_for 15 ended
matins fan retry d --ssh-config ssh/config --missing
matins fan status d --json
json_is "the submit is killed: a retry does the rest" ok 39 failed 1 missing 0
same_as_calm "the submit is killed"
is "the submit is killed: its folders go with the next one, and nothing else" \
	"$(cd far && echo *)" "matins-0123456789abcdef-n1 mine"
is "and no mark of them is left here" "$(find d/staged -name 'matins-*')" ''

# ---- a submit that is told to end ----

printf '%s\n' "n1 1 $M" >hosts
rm -rf d far
"${as[@]}" mkdir far
"${as[@]}" touch held
head -n 3 in.jsonl >three.jsonl
matins fan plan held --inputs three.jsonl -o d
"${as[@]}" "$M" fan submit d --engine ssh --hosts hosts --ssh-config ssh/config \
	--stage "$T/far" >.o 2>"$err" &
pid=$!
wait_for 30 eval 'compgen -G "far/*/results/*/*.json" >.n'
kill -TERM $pid
wait $pid
is "a submit that is told to end: status 75" $? 75
err_like "told to end: what it waits for is said" 'the hosts are told to end; a second signal does not wait'
is "told to end: no folder stays on the host" "$(ls far)" ''
matins fan status d --json
json_is "told to end: what was done has come back" ok 1 missing 2

# the second result of a shard is torn, the third is the first one again
cat >lying <<-END
	#!/bin/sh
	dir=\$3
	$M "\$@"
	status=\$?
	set -- "\$dir"/results/*/*.json
	: >"\$2"
	cat "\$1" >"\$3"
	exit \$status
END
chmod 755 lying
printf '%s\n' "n1 1 $T/lying" >hosts
anew five.jsonl
submit
exit_is "results that are none come back: status 75" 75
err_like "and that is said" 'n1: [1-4] results of shard 0 did not come back'
ok "and the folder of the shard stays on its host" eval "compgen -G 'far/matins-*-n1/results/*/*.json' >.n"
err_like "and that is said, too" "n1: its folder $T/far/matins-[0-9a-f]*-n1 stays until .*: not all of its results are here"
matins fan status d
out_unlike "none of them is kept" 'torn'
printf '%s\n' "n1 1 $M" >hosts
matins fan retry d --ssh-config ssh/config
matins fan status d --json
json_is "an honest host does the rest" ok 5 missing 0

# ---- the first result counts ----

cat >late <<-END
	#!/bin/sh
	$M "\$@"
	$M fan exec $T/d --shard 0
	ls -li $T/d/results/*/*.json >$T/home/first
END
chmod 755 late
printf '%s\n' "n1 1 $T/late" >hosts
anew five.jsonl
submit
exit_is "results that are here meanwhile: status 0" 0
is "they stay" "$(ls -li "$T"/d/results/*/*.json)" "$(<home/first)"
kill "$sshd_pid"
wait "$sshd_pid" 2>/dev/null
done_testing
