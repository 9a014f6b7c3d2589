#!/usr/bin/env bash
# Equal inputs and results give equal reports, whatever ran side by side: steps
# that wait for each other, loops, attempts and a server that answers when and
# in which order it likes. RUNS=200 runs it as often.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# Answers come late, in any order, and a third of them refuse.
cat >jitter.py <<-'END'
	import json, random, sys, threading, time
	lock = threading.Lock()
	def answer(m):
	    r = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
	                    "serverInfo": {"name": "j", "version": "1"}}}
	    if m["method"] == "tools/call":
	        time.sleep(random.random() / 50)
	        r = {"result": {"content": [{"type": "text", "text": json.dumps(m["params"]["arguments"])}]}}
	        if random.random() < 0.3:
	            open("d/refused", "a").write("x")
	            r = {"error": {"code": -32000, "message": "busy %d" % random.randrange(99)}}
	    with lock:
	        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **r}), flush=True)
	for line in sys.stdin:
	    m = json.loads(line)
	    if "id" in m:
	        threading.Thread(target=answer, args=[m]).start()
END
mkdir -m 777 d
retry='retry = { max = 40, wait = "1ms", max_wait = "4ms", on = ["rpc:-32000"] }'
# call NAME PARAMS [LINES...]: a step of the server, tried until it answers
call() {
	local name=$1 params=$2

	shift 2
	printf '[[routines.%s.steps]]\nname = "%s"\ntype = "mcp-client"\nserver = "j"\ntool = "t"\nparams = { %s }\n%s\n' \
		"${routine:-r}" "$name" "$params" "$retry"
	(($# == 0)) || printf '%s\n' "$@"
	echo
}
{
	printf '[servers.j]\ncommand = "%s"\nargs = ["%s/jitter.py"]\nsandbox.write = ["d"]\n[routines.r]\norder = "needs"\n' \
		"$PYTHON" "$T"
	call last 'all = "$steps.each.items", one = "{{steps.b5.output}}"'
	plain list printf 'args = ["[%s]", "1,2,3,4,5,6,7,8,9,10,11,12"]'
	call each 'n = "$item"' 'foreach = "$steps.list.json"' 'max_parallel = 5'
	for i in 1 2 3 4 5; do
		call "a$i" "n = $i, l = \"\$steps.list.json[$i]\""
		call "b$i" "n = \"\$steps.a$i.json\"" "expect = { \"\$.json.n\" = true }"
	done
	plain odd sh "args = ['-c', 'sleep 0.0\$((\$\$ % 4)); exit \$((\$1 % 2))', 'sh', '\$item']" \
		'foreach = "$steps.list.json"' 'max_parallel = 4' 'sandbox.exec = ["sleep"]'
	plain skipped echo 'needs = ["odd"]'
	plain unlike echo 'when = { "$steps.b1.state" = { const = "failed" } }'
	printf '[[routines.r.steps]]\nname = "within"\ntype = "routine"\nroutine = "in"\nforeach = "$steps.list.json"\nmax_parallel = 3\nparams = { k = "$item" }\n'
	plain end echo 'args = ["{{steps.odd.error}} {{steps.last.state}}"]' 'after = "always"'
	printf '[routines.in]\norder = "needs"\n'
	routine='in' call two 'v = "$steps.one.json"'
	routine='in' call one 'v = "$input.k"'
} >r.toml

# golden N: the report of run N, side by side with others
golden() {
	timeout 60 "$BIN" run -q -c r.toml r --view golden --json -j $((1 + $1 % 7)) \
		>"$T/golden.$1" 2>"$T/said.$1"
}
runs=${RUNS:-20}
for ((i = 0; i < runs; i += 5)); do
	for ((k = i; k < i + 5 && k < runs; k++)); do
		golden "$k" &
	done
	wait
done
cp golden.0 "$out"
json_is "every step has the state that it must have" \
	step_results[0].state ok step_results[2].state ok step_results[2].data.items '#12' \
	step_results[13].error '6 of 12 failed; first: [0] the program exited with status 1' \
	step_results[14].reason needs step_results[15].reason condition \
	step_results[16].data.items[11].data.step_results '#2' \
	step_results[17].output '6 of 12 failed; first: [0] the program exited with status 1 ok'
is "$runs runs give the same bytes" \
	"$(cat golden.* | sort | uniq | wc -l) $(cat golden.? golden.?? golden.??? 2>/dev/null | wc -l)" \
	"1 $runs"
ok "the server did refuse calls" test -s d/refused

done_testing
