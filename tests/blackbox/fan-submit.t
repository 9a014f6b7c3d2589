#!/usr/bin/env bash
# fan submit and retry: processes here, hosts over ssh.
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

[routines.once]
params = { n = { type = "integer" } }
[[routines.once.steps]]
name = "send"
type = "script"
command = "/bin/sh"
args = ["-c", "echo $1 >>sent; test ! -e slow || sleep 20", "sh", "$input.n"]
cwd = "."
idempotent = false
sandbox = { write = ["."] }

[routines.held]
params = { n = { type = "integer" } }
[[routines.held.steps]]
name = "wait"
type = "script"
command = "/bin/sh"
args = ["-c", "while test -e held; do sleep 0.05; done"]
cwd = "."
sandbox = { read = ["."] }
END
for ((i = 0; i < 60; i++)); do echo "{\"n\":$i}"; done >in.jsonl

# ---- processes here ----

run_matins fan plan hello --inputs in.jsonl --per-shard 10 -o d
run_matins fan retry d
exit_is "retry: without a submit: status 1" 1
run_matins fan submit d
exit_is "submit: without an engine: status 64" 64
run_matins fan submit d --engine slrum
err_like "submit: an engine of another name, with the nearest one" 'local, ssh or slurm; did you mean slurm[?]$'
run_matins fan retry d
err_like "retry: without a submit: and what comes before" \
	"was not submitted yet: .matins fan submit $T/d --engine local"
run_matins fan submit d --engine local --time 30
exit_is "submit: an option of another engine: status 64" 64
err_like "submit: and of which one" '[-][-]time is for --engine slurm'
run_matins fan submit d --engine local --print
is "local --print: a line for each shard" "$(wc -l <"$out") $(grep -c "fan exec $T/d --shard [0-5] -j 1" "$out")" "6 6"
run_matins fan submit d --engine local --max 3 -j 2
exit_is "local: an input fails: status 2" 2
err_like "local: what came of it is said, and what is next" \
	"60 of 60 inputs: 59 ok, 1 failed, 0 missing; .matins fan collect $T/d -o report.html. says why; .matins fan retry $T/d. runs them$"
run_matins fan status d
out_like "status: what is not there is not named" \
	'^60 of 60: 59 ok, 1 failed, 0 running, 0 missing$'
run_matins fan status d --json
json_is "local: all shards have run" ok 59 failed 1 missing 0
: >fixed
run_matins fan retry d --missing
exit_is "retry --missing: there is none: status 0" 0
err_like "retry: and that is said" '0 inputs in 0 shards'
run_matins fan retry d --failed
exit_is "retry --failed: status 0, now that it works" 0
err_like "retry: only the shard with the failure" '1 input in 1 shard$'
is "retry: by the engine of the last submit" \
	"$(sed -n '2s/.*\("engine":"local"\).*\("shards":"0"\).*\("jobs":2,"max":3\).*/\1\2\3/p' d/jobs.jsonl)" \
	'"engine":"local""shards":"0""jobs":2,"max":3'
run_matins fan status d --json
json_is "retry: nothing is a failure any more" ok 60 failed 0
is "retry: the failure was put aside" "$(find d/retried -type f | wc -l)" 1

# ---- shards that end at once ----

head -n 4 in.jsonl >four.jsonl
run_matins fan plan held --inputs four.jsonl --per-shard 1 -o both
: >held
"$BIN" fan submit both --engine local --max 2 >/dev/null 2>&1 &
pid=$!
run_here() { (($(find both/running -type f 2>/dev/null | wc -l) == $1)); }
wait_for 15 run_here 2
running() { [[ $("$BIN" fan status both) == *' 2 running'* ]]; }
wait_for 15 running
run_program /dev/null timeout 1 "$BIN" fan submit both --engine local
err_like "a second submit is told that the first one runs" \
	'warning: 2 inputs are running: what another submit has begun may run twice'
kill -STOP $pid
rm held
wait_for 15 run_here 0
kill -CONT $pid
wait $pid
is "two shards that end in one turn: the others run: status 0" $? 0
run_matins fan status both --json
json_is "two shards that end in one turn: nothing is missing" ok 4 missing 0

# ---- progress on a terminal ----

err_unlike "in a pipe there is no progress" $'\x1b'
# on_terminal ARGS...: a submit on a terminal, in the background; $out gets it
on_terminal() {
	"$PYTHON" -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
		"$BIN" fan submit "$@" --engine local >"$out" 2>&1 </dev/null &
	pid=$!
}
if "$PYTHON" -c 'import os; os.close(os.openpty()[0])' 2>/dev/null; then
	run_matins fan plan held --inputs four.jsonl --per-shard 1 -o seen
	mv seen/inputs.jsonl four.moved
	head -n 3 four.moved >seen/inputs.jsonl
	: >held
	on_terminal seen --max 4
	wait_for 15 grep -aq '0 of 4: 0 ok, 0 failed' "$out"
	rm held
	ok "on a terminal: results are counted while shards run" \
		wait_for 15 grep -aq '3 of 4: 3 ok, 0 failed' "$out"
	mv four.moved seen/inputs.jsonl
	wait $pid
	is "on a terminal: the status is that of the work" $? 0
	file_like "on a terminal: what a shard says has a line of its own" "$out" \
		$'(^|\x1b\\[K)matins: .*/inputs.jsonl ends before the shard does'
	file_like "on a terminal: the line is taken away at the end" "$out" \
		$'(^|\x1b\\[K)matins: 4 of 4 inputs: 4 ok'
	run_matins fan plan held --inputs four.jsonl --per-shard 1 -o quiet
	on_terminal quiet -q
	wait $pid
	is "on a terminal: -q shows nothing" "$(<"$out")" ''
else
	skip "progress on a terminal" "no pseudo-terminals"
fi

# ---- the manual page, literally ----

if type -P mandoc >/dev/null; then
	mkdir manual
	mandoc -T ascii "$TOP/core/cli/matins.1" | sed 's/.\x08//g' |
		awk '/^MORE THAN ONE MACHINE/ { on = 1 } on' >manual/page
	awk '/\[routines.hello\]/ { on = 1 } /matins run/ { exit } on' manual/page >manual/matins.toml
	printf '%s\n' '{"word": "a"}' '{"word": "b"}' >manual/in.jsonl
	for line in "matins run all" "matins fan plan" "matins fan submit DIR --engine local" "matins fan collect"; do
		command=$(sed -n "s/^ *matins\(${line#matins}.*\)/\1/p" manual/page | head -n 1)
		# shellcheck disable=SC2016
		run_program /dev/null bash -c 'cd manual && eval "\"\$0\" $1"' "$BIN" "$command"
		exit_is "manual: matins$command" 0
	done
	file_like "manual: the report has all inputs" manual/report.html 'hello b'
else
	skip "the manual page, literally" "there is no mandoc"
fi

# ---- tried again after a pause ----

run_matins fan plan hello --inputs in.jsonl -o late
mv late/inputs.jsonl late.jsonl
head -n 3 late.jsonl >late/inputs.jsonl
"$BIN" fan submit late --engine local >/dev/null 2>told &
pid=$!
cut_short() { grep -q 'ends before the shard does' told; }
wait_for 10 cut_short
mv late.jsonl late/inputs.jsonl
wait $pid
is "local: a shard that was to be tried again runs when it can" $? 0

# ---- what must not run twice ----

echo '{"n":0}' >one.jsonl
run_matins fan plan once --inputs one.jsonl -o once
cp -R once alive
: >slow
"$BIN" fan submit once --engine local >/dev/null 2>&1 &
pid=$!
wait_for 15 test -s sent
kill -KILL $pid
wait $pid 2>/dev/null
ended() { [[ -z $(ls once/running) ]]; }
wait_for 15 ended
rm slow
run_matins fan retry once
exit_is "retry: the end of a step is not known: status 2" 2
err_like "retry: and the option that this one needs is named" "; .matins fan retry $T/once --claims. runs them$"
run_matins fan retry once --failed --missing
err_like "retry: it is not begun again by itself" '0 inputs in 0 shards'
err_like "retry: and what would do that" "; .matins fan retry $T/once --claims. runs them$"
is "it ran once" "$(cat sent)" 0
run_matins fan retry once --claims
exit_is "retry --claims: it runs again: status 0" 0
is "now it ran twice" "$(tr '\n' ' ' <sent)" '0 0 '

# a claimed result beside a claim whose holder lives
"$BIN" fan exec alive --shard 0 >/dev/null 2>&1
: >slow
rm -rf alive/results alive/claims
: >sent
"$BIN" fan exec alive --shard 0 >/dev/null 2>&1 &
pid=$!
wait_for 15 test -s sent
result=(once/retried/*)
key=$(basename alive/claims/*/*)
mkdir -p "alive/results/${key:0:2}"
sed "s/\"key\":\"[0-9a-f]*\"/\"key\":\"$key\"/" "${result[0]}" >"alive/results/${key:0:2}/$key.json"
echo '{"engine":"local"}' >alive/jobs.jsonl
run_matins fan retry alive --claims
err_like "retry --claims: a claim whose holder lives stays" 'the process that claimed it lives'
is "and the step ran once" "$(cat sent)" 0
rm slow
kill -KILL $pid
wait $pid 2>/dev/null

printf '{"engine":"slurm","time":"1\\ntouch pwned"}\n' >d/jobs.jsonl
rm "$(find d/results -name '*.json' | head -n 1)"
run_matins fan retry d --missing
exit_is "retry: a time that is none in jobs.jsonl: status 64" 64
chmod o+w d/jobs.jsonl
run_matins fan retry d --missing
exit_is "retry: a list that others can write: status 1" 1
chmod o-w d/jobs.jsonl
run_matins fan plan hello --inputs in.jsonl -o $'nl\ntouch pwned #'
run_matins fan submit $'nl\ntouch pwned #' --engine slurm --print
exit_is "submit: a folder with a newline: status 1" 1
run_matins fan plan hello --inputs in.jsonl -o 'p%a'
run_matins fan submit 'p%a' --engine slurm --print
out_like "submit: a percent sign in its path is one" '^#SBATCH --output=.*/p%%a/log/%A.out'

# ---- hosts ----

run_matins fan submit d --engine ssh
exit_is "ssh: without hosts: status 64" 64
printf '%s\n' '# of the lab' 'n1 x' >hosts
run_matins fan submit d --engine ssh --hosts hosts
err_like "ssh: a list that is wrong, with its line" 'hosts: line 2: "x" is no number of slots'
run_matins fan submit d --engine ssh --hosts none
err_like "ssh: a list that is not there" '[-][-]hosts: none: No such file'
echo '{"n":1}' >hosts
run_matins fan submit d --engine ssh --hosts hosts
err_like "ssh: a list of something else" 'hosts: line 1: "{"n":1}" is no host'
run_matins fan submit d --engine ssh --hosts hosts --ssh-config none
err_like "ssh: a configuration that is not there" '[-][-]ssh-config none: No such file'
printf '%s\n' '-oProxyCommand=true' >hosts
run_matins fan submit d --engine ssh --hosts hosts
err_like "ssh: an option is no host" 'is no host'

matins() {
	run_program /dev/null "${as[@]}" "$T/.bin/matins" "$@"
}
rm -rf d
if throwaway_sshd; then
	printf '%s\n' "n1 2 $T/.bin/matins" 'gone 2' 'n3 # no matins there' \
		"n2 1 $T/.bin/matins" >hosts
	rm -f fixed
	matins fan plan hello --inputs in.jsonl --per-shard 5 -o d
	matins fan submit d --engine ssh --hosts hosts --ssh-config ssh/config -j 2
	exit_is "ssh: an input fails: status 2" 2
	err_like "ssh: a host that cannot be reached is left out, and said" \
		'^matins: .*gone is left out: ssh failed|gone is left out: ssh failed'
	err_like "ssh: a host without matins, too" 'n3 is left out: status 127'
	err_like "ssh: the retry is told what jobs.jsonl does not keep" \
		"; .matins fan retry $T/d --ssh-config $T/ssh/config. runs them$"
	matins fan status d --json
	json_is "ssh: others have run the shards" ok 59 failed 1 missing 0
	"${as[@]}" touch fixed
	matins fan retry d --ssh-config ssh/config
	exit_is "retry: over ssh, to the same hosts: status 0" 0
	matins fan status d --json
	json_is "retry: all is well" ok 60
	echo "n1 1 $T/.bin/matins" >hosts
	rm -rf d
	rm -f sent
	"${as[@]}" touch slow
	matins fan plan once --inputs one.jsonl -o d
	"${as[@]}" "$T/.bin/matins" fan submit d --engine ssh --hosts hosts \
		--ssh-config ssh/config >/dev/null 2>&1 &
	pid=$!
	wait_for 15 test -s sent
	kill -KILL $pid
	wait $pid 2>/dev/null
	ended_there() { [[ -z $(ls d/running) ]]; }
	ok "ssh: what runs there ends with the connection" wait_for 15 ended_there
	rm slow
	rm -rf d
	matins fan plan hello --inputs in.jsonl -o d
	# shellcheck disable=SC2016
	run_program /dev/null "${as[@]}" bash -c \
		'"$0" fan submit d --engine ssh --hosts <(echo gone) --ssh-config ssh/config' "$T/.bin/matins"
	exit_is "ssh: no host is left: status 75" 75
	err_like "ssh: a list from a pipe is needed again" \
		"; .matins fan retry $T/d --hosts FILE --ssh-config $T/ssh/config. runs them$"
	kill "$sshd_pid"
	wait "$sshd_pid" 2>/dev/null
else
	skip "hosts over ssh" "no sshd of our own can be had here"
fi

done_testing
