#!/usr/bin/env bash
# Large results arrive whole, and cost little more memory than they have.
. "${BASH_SOURCE%/*}/lib.sh"

cat >big.py <<-'END'
	import json, sys
	def say(m):
	    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)
	for line in sys.stdin:
	    m = json.loads(line)
	    if m.get("method") == "initialize":
	        say({"id": m["id"], "result": {"protocolVersion": "2025-11-25",
	            "capabilities": {},
	            "serverInfo": {"name": "big", "version": "1"}}})
	    elif m.get("method") == "tools/call":
	        o, piece = sys.stdout, "0123456789abcdef" * 65536
	        o.write('{"jsonrpc":"2.0","id":%s,"result":{"content":['
	            '{"type":"text","text":"' % json.dumps(m["id"]))
	        for _ in range(int(sys.argv[1])):
	            o.write(piece)
	        o.write("" if sys.argv[1] == "70" else '\\n"}]}}\n')
	        o.flush()
	    elif "id" in m:
	        say({"id": m["id"], "error": {"code": -32601, "message": "no"}})
END
# The peak of the children of a process, in KiB, as the kernel counts it.
cat >peak.py <<-'END'
	import resource, subprocess, sys
	with open(sys.argv[1], "wb") as out:
	    status = subprocess.call(sys.argv[3:], stdout=out)
	with open(sys.argv[2], "w") as f:
	    f.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
	sys.exit(status)
END

# big MIB CEILING: a run whose server gives so much
big() {
	cat >big.toml <<-END
		[[routines.r.steps]]
		name = "big"
		type = "mcp-client"
		command = "$PYTHON"
		args = ["$T/big.py", "$1"]
		tool = "t"
		timeout = "60s"
		stdout_max = "$2"
	END
	"$PYTHON" peak.py report.json peak "$BIN" run -c big.toml r --json \
		2>"$err"
	status=$?
}

big 100 200MiB
exit_is "100 MiB: exit status 0" 0
ok "100 MiB: whole, as output and as data" "$PYTHON" -c '
import hashlib, json
step = json.load(open("report.json"))["step_results"][0]
want = "0123456789abcdef" * (100 * 65536) + "\n"
assert step["state"] == "ok"
assert step["output"] == want
assert step["data"]["content"] == [{"type": "text", "text": want}]
'
ok "100 MiB: the kept report is the same" \
	cmp report.json "$(echo state/matins/reports/*/1.json)"
sanitized=$(grep -acE "__(asan|ubsan)_" "$BIN")
if ((sanitized)); then
	skip "100 MiB: the peak" "a sanitizer has its own memory"
else
	ok "100 MiB: at most 1.5 times as much memory and 8 MiB ($(<peak) KiB)" \
		test "$(<peak)" -le $((100 * 1024 * 3 / 2 + 8 * 1024))
fi

big 70 4MiB
exit_is "a line without end: exit status 2" 2
json_file_is "a line without end: output_limit" report.json \
	step_results[0].reason output_limit
if ((!sanitized)); then
	ok "a line without end: bounded memory ($(<peak) KiB)" \
		test "$(<peak)" -le $((24 * 1024))
fi

done_testing
