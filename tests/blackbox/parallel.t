#!/usr/bin/env bash
# Adjacent parallel steps run together in one loop; results in file order.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# sleeper NAME SECONDS [LINES...]: a script step
sleeper() {
	local name=$1 seconds=$2

	shift 2
	cat <<-END
		[[routines.r.steps]]
		name = "$name"
		type = "script"
		command = "/bin/sh"
		args = ["-c", "sleep $seconds; echo $name done"]
		sandbox = { exec = ["sleep"] }
	END
	(($# == 0)) || printf '%s\n' "$@"
	echo
}
now_ms() { date +%s%3N; }

{
	sleeper slow 1.2 'parallel = true'
	sleeper middle 0.8 'parallel = true'
	sleeper fast 0.1 'parallel = true'
} >r.toml
start=$(now_ms)
run_matins run -c r.toml r --json
took=$(($(now_ms) - start))
exit_is "three in parallel: exit status 0" 0
ok "three in parallel take as long as the slowest ($took ms)" \
	test "$took" -ge 1150 -a "$took" -lt 2050
json_is "results come in file order" \
	step_results[0].step_name slow step_results[0].output "slow done" \
	step_results[1].step_name middle step_results[1].output "middle done" \
	step_results[2].step_name fast step_results[2].output "fast done"

start=$(now_ms)
run_matins run -c r.toml r --json -j 1
took=$(($(now_ms) - start))
exit_is "-j 1: exit status 0" 0
ok "-j 1: one after the other ($took ms)" test "$took" -ge 2100

{
	sleeper one 0.5 'parallel = true'
	sleeper two 0.5
	sleeper three 0.5 'parallel = true'
} >r.toml
start=$(now_ms)
run_matins run -c r.toml r --json
took=$(($(now_ms) - start))
exit_is "parallel, plain, parallel: exit status 0" 0
ok "a plain step between them keeps them apart ($took ms)" \
	test "$took" -ge 1500

# Each of a group fails in its own way, and takes nothing from the others.
# the four good steps share one session
script good <<-'END'
	handshake
	sleep 300
	repeat 4
	call whole
	end
END
script hang <<-'END'
	handshake
	hang
END
script dies <<-'END'
	handshake
	expect tools/call
	kill KILL
END
script flood <<-'END'
	handshake
	expect tools/call
	flood 3000000
	hang
END
{
	peer_step g1 good 'tool = "t"' 'parallel = true'
	peer_step b1 hang 'tool = "t"' 'parallel = true' 'timeout = "600ms"'
	peer_step g2 good 'tool = "t"' 'parallel = true'
	peer_step b2 dies 'tool = "t"' 'parallel = true'
	peer_step b3 flood 'tool = "t"' 'parallel = true' 'stdout_max = "1MiB"'
	peer_step g3 good 'tool = "t"' 'parallel = true'
	cat <<-'END'
		[[routines.r.steps]]
		name = "b4"
		type = "script"
		command = "no-such-program-anywhere"
		parallel = true
	END
	peer_step last good 'tool = "t"'
} >r.toml
run_matins run -c r.toml r --json
exit_is "mixed group: exit status 2" 2
json_is "mixed group: the good ones are whole" \
	step_results[0].output whole step_results[2].output whole \
	step_results[5].output whole step_results[7].output whole
json_is "mixed group: each bad one has its reason" \
	step_results[1].reason deadline_call \
	step_results[3].reason server_exit \
	step_results[4].reason output_limit \
	step_results[6].reason no_command
json_is "mixed group: the summary" summary "r: 7 ran, 1 skipped, 3 failed"
nothing_left "mixed group: no process is left" "$T/"

# The kernel refuses a program while others are being started: the same is said
# as when it is the only one, to each step that wanted it.
cp "$(type -P true)" broken
printf '\001' | dd of=broken bs=1 seek=16 conv=notrunc status=none
broken_step() {
	cat <<-END
		[[routines.r.steps]]
		name = "$1"
		type = "mcp-client"
		command = "./broken"
		tool = "t"
		parallel = true
		${2-}
	END
}
for isolate in auto off; do
	{
		printf '[sandbox]\nisolate = "%s"\n' "$isolate"
		broken_step alone
	} >r.toml
	run_matins run -c r.toml r --json
	error=$(json_get step_results[0].error)
	{
		printf '[sandbox]\nisolate = "%s"\n' "$isolate"
		peer_step g1 good 'tool = "t"' 'parallel = true'
		broken_step b1
		broken_step b2
		peer_step g2 good 'tool = "t"' 'env = { OWN = "1" }' \
			'parallel = true'
		peer_step last good 'tool = "t"' 'env = { OWN = "2" }'
	} >r.toml
	run_matins run -c r.toml r --json
	exit_is "$isolate, not executed: exit status 2" 2
	like "$isolate, not executed: the error says so" "$error" 'execute'
	json_is "$isolate, not executed: only those steps fail" \
		step_results[0].output whole step_results[3].output whole \
		step_results[4].output whole \
		step_results[1].state failed step_results[2].state failed \
		step_results[1].reason transport \
		step_results[2].reason transport \
		step_results[1].error "$error" step_results[2].error "$error"
	nothing_left "$isolate, not executed: no process is left" "$T/"
	# more of them than starts that are under way at once
	{
		printf '[sandbox]\nisolate = "%s"\n' "$isolate"
		peer_step g1 good 'tool = "t"' 'parallel = true'
		for i in 1 2 3 4 5 6; do
			broken_step "b$i" "env = { OWN = \"$i\" }"
		done
		peer_step last good 'tool = "t"' 'env = { OWN = "7" }'
	} >r.toml
	run_matins run -c r.toml r --json
	json_is "$isolate, six not executed in turn: each says so" \
		step_results[0].output whole step_results[7].output whole \
		step_results[1].error "$error" step_results[2].error "$error" \
		step_results[3].error "$error" step_results[4].error "$error" \
		step_results[5].error "$error" step_results[6].error "$error"
	nothing_left "$isolate, six in turn: no process is left" "$T/"
done

# What a report says of protections does not depend on the order of starts.
for i in 1 2 3; do
	peer_step "s$i" good 'tool = "t"' "env = { OWN = \"$i\" }" \
		'parallel = true'
done >r.toml
run_matins run -c r.toml r --json
exit_is "servers that are started while others are prepared: status 0" 0
json_get step_results[0].run.enforced >first
for i in 1 2; do
	json_get "step_results[$i].run.enforced" >other
	file_is "start $i after the first: the same protections" other first
done

# Many at once.
echo serve | script serve
for i in $(seq 64); do
	peer_step "s$i" serve 'tool = "echo"' "params = { n = $i }" \
		'parallel = true'
done >r.toml
run_matins run -c r.toml r --json
exit_is "64 in parallel: exit status 0" 0
json_is "64 in parallel: all there, in order" step_results '#64' \
	step_results[0].output '{"n":1}' step_results[31].output '{"n":32}' \
	step_results[63].output '{"n":64}' \
	summary "r: 64 ran, 0 skipped, 0 failed"
run_matins run -c r.toml r --json --view golden
cp "$out" first
run_matins run -c r.toml r --json --view golden -j 3
file_is "64 in parallel: the report does not depend on -j" "$out" first
nothing_left "64 in parallel: no process is left" "$T/"

# What has ended makes room for what begins: few of these live at a time.
for i in $(seq 300); do
	printf '[[routines.r.steps]]\nname = "s%d"\n' "$i"
	printf 'type = "script"\ncommand = "true"\nparallel = true\n'
done >r.toml
if grep -aqE "__(asan|ubsan)_" "$BIN"; then
	skip "300 short ones: 8 MiB of memory" "a sanitizer has its own memory"
	run_matins run -vv -c r.toml r
else
	run_program /dev/null bash -c 'ulimit -S -d 8192; exec "$@"' - \
		"$BIN" run -vv -c r.toml r
	exit_is "300 short ones: 8 MiB of memory are enough" 0
fi
first_end=$(grep -n -m1 'step s1: .* -> ENDED' "$err" | cut -d: -f1)
last_begin=$(grep -n 'step s300: WAITING -> RUNNING' "$err" | cut -d: -f1)
ok "300 short ones: the first ends before the last begins" \
	test "$first_end" -lt "$last_begin"

# Two runs side by side get different generations.
sleeper one 0.3 >r.toml
"$BIN" run -c r.toml r --json >a.json 2>a.err &
"$BIN" run -c r.toml r --json >b.json 2>b.err &
wait
a=$(json_get generation a.json) b=$(json_get generation b.json)
isnt "two runs at once: different generations" "$a" "$b"
json_file_is "two runs at once: both are whole" a.json success true
json_file_is "two runs at once: both are whole" b.json success true

done_testing
