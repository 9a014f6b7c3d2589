#!/usr/bin/env bash
# Rows of the routine language beside those of flow.t, foreach.t, retry.t and
# the others: one limit for everything, the order of the last steps, the run
# before, and bytes for root and for an ordinary user.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# ---- one limit for everything ----

mkdir -m 777 d
# counts those that are under way, itself too
cat >count.sh <<-'END'
	: >"d/run.$1"
	set -- d/run.* "$1"
	echo $(($# - 1)) >>d/seen
	sleep 0.02
	for last; do :; done
	rm "d/run.$last"
END
{
	printf '[sandbox]\nwrite = ["d"]\nread = ["count.sh"]\nexec = ["sleep", "rm"]\n[routines.r]\norder = "needs"\n'
	plain each sh 'args = ["count.sh", "each{{item}}"]' 'foreach = "$input.all"' 'max_parallel = 8'
	for i in 1 2 3; do plain "s$i" sh "args = ['count.sh', 's$i']"; done
	printf '[[routines.r.steps]]\nname = "in"\ntype = "routine"\nroutine = "in"\nforeach = "$input.all"\nmax_parallel = 8\nparams.n = "$item"\n'
	printf '[routines.in]\norder = "needs"\n'
	for i in 1 2; do routine='in' plain "t$i" sh "args = ['count.sh', 'in$i-{{input.n}}']"; done
} >j.toml
for j in 1 3; do
	rm -f d/seen
	run_matins run -c j.toml r -p 'all=[1,2,3,4]' -j $j --json
	exit_is "-j $j: status 0" 0
	is "-j $j: all ran" "$(wc -l <d/seen)" 15
	ok "-j $j: never more at once, loops and routines within included" \
		test "$(sort -n d/seen | tail -1)" -le $j
done

# ---- the last steps ----

{
	printf '[sandbox]\nwrite = ["d"]\n[routines.r]\norder = "needs"\n'
	for s in z y; do
		plain $s sh "args = ['-c', 'echo $s >>d/order']" 'after = "always"'
	done
	plain x sh "args = ['-c', 'echo x >>d/order']" 'after = "failure"'
	plain a sh "args = ['-c', 'sleep 0.1; echo a >>d/order; exit 1']" 'sandbox.exec = ["sleep"]'
} >after.toml
run_matins run -c after.toml r -j 4
is "steps with after run behind all others, in the order of the file" \
	"$(tr '\n' ' ' <d/order)" "a z y x "

# ---- the run before ----

{
	plain count sh 'args = ["-c", "echo $(($1 + 1))", "sh", "$previous.count.output"]' 'after = "always"'
	plain may sh 'args = ["-c", "exit $1", "sh", "$input.status"]' 'when = { "$input.go" = { const = true } }'
} >before.toml
for k in '0 true 1' '1 true 2' '0 false 2' '0 true 3' '1 true 4' '0 true 4'; do
	read -r status_of go want <<<"$k"
	run_matins run -c before.toml r -p "status=$status_of" -p "go=$go" --json
	json_is "the run before is the last one that was ok, steps skipped by a condition or not: $k" \
		step_results[0].output "$want"
done

# ---- a call that is cached ----

script serve <<-'END'
	serve
END
peer_step call serve 'tool = "echo"' 'params = { k = "$input.k" }' 'cache = "1h"' >c.toml
run_matins run -c c.toml r -p k=1 --json
first=$(json_get generation)
run_matins run -c c.toml r -p k=1 --json
json_is "a call with equal params is not made again" \
	step_results[0].run.cached "$first" step_results[0].output '{"k":1}'
run_matins run -c c.toml r -p k=2 --json
json_is "with others it is" step_results[0].run.cached absent step_results[0].output '{"k":2}'

# ---- bytes, as root and as an ordinary user ----

odd='{"n":123456789012345678901234567890,"e":1e400,"s":"\ud800 \u0000","a b":[1.0,-0]}'
printf 'handshake\nexpect tools/call\nreply %s\nexpect-eof\n' \
	"{\"content\":[],\"structuredContent\":$odd}" >odd.peer
cat >big.py <<-'END'
	print('{"content": [], "structuredContent": {"big": "%s"}}' % ("z" * 52428800))
END
# A transcript names the helpers that this user can reach.
bytes() {
	local peer=$PEER

	[[ $PROBE == "$HELPERS/probe" ]] || peer=${PROBE%/*}/peer
	{
		PEER=$peer peer_step odd odd 'tool = "t"'
		PEER=$peer peer_step echo serve 'tool = "echo"' \
			'params = { all = "$steps.odd.structuredContent", last = "$steps.odd.structuredContent[\"a b\"][-1]", t = "{{steps.odd.structuredContent.s}}" }'
		plain text cat 'stdin = "$steps.odd.structuredContent"'
		plain argument printf 'args = ["%s", "{{ steps.odd.structuredContent.n }}", "$steps.odd.structuredContent.e"]'
		printf '[[routines.r.steps]]\nname = "big"\ntype = "mcp-client"\ncommand = "%s"\nargs = ["%s/big.py"]\nstdout_max = "100MiB"\ntimeout = "2m"\n' \
			"$PYTHON" "$T"
		plain sum sha256sum 'stdin = "$steps.big.structuredContent.big"' 'timeout = "2m"'
	} >bytes.toml
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		run_matins run -c bytes.toml r --json
	else
		as_user run_matins run -c bytes.toml r --json
	fi
	exit_is "$who: status 0" 0
	is "$who: a value goes into a call as it came" "$(json_get step_results[1].output)" \
		"{\"all\":$odd,\"last\":-0,\"t\":\"\\ud800 \\u0000\"}"
	is "$who: and into standard input" "$(json_get step_results[2].output)" "$odd"
	json_is "$who: and into arguments" step_results[3].output '1234567890123456789012345678901e400'
	json_is "$who: and with 50 MiB" step_results[5].output \
		"$("$PYTHON" -c 'print("z" * 52428800, end="")' | sha256sum)"
}
both_users bytes

done_testing
