#!/usr/bin/env bash
# More attempts of a step that failed: `retry`.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# counting NAME FILE SHELL [LINES...]: a script that counts its attempts
counting() {
	local name=$1 file=$2 code=$3

	shift 3
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "script"\ncommand = "sh"\nsandbox.write = ["%s"]\n' \
		"$name" "$T/count"
	printf 'args = ["-c", "echo x >>%s; n=$(wc -l <%s); %s"]\n' \
		"$T/count/$file" "$T/count/$file" "$code"
	(($# == 0)) || printf '%s\n' "$@"
	echo
}
# again: forget what was counted
again() {
	rm -rf "$T/count"
	mkdir -m 777 "$T/count"
}
attempts_of() {
	json_get "step_results[$1].run.attempts" | "$PYTHON" -c '
import json, sys
print(*[a["state"] + ":" + a.get("reason", "") for a in json.load(sys.stdin)])'
}

# ---- programs ----

again
{
	counting named a '[ $n -ge 3 ] || exit 75; echo done $n' \
		'retry = { max = 5, wait = "1ms", on = ["exit:75"] }'
	counting other b 'exit 76' 'retry = { wait = "1ms", on = ["exit:75"] }'
	counting plain c 'exit 75' 'retry = { wait = "1ms" }'
	counting never d 'exit 75' 'retry = { max = 2, wait = "1ms", on = ["exit_status"] }'
	counting slow e '[ $n -ge 2 ] || sleep 60; echo $n' 'timeout = "400ms"' \
		'retry = { wait = "1ms", on = ["timeout"] }'
	counting wanted f 'echo $n' 'expect = { "$.json" = { minimum = 3 } }' \
		'retry = { wait = "1ms", on = ["expect"] }'
	counting each g '[ $n -ge 3 ] || exit 75; cat' 'stdin = "$item"' \
		'foreach = "$input.all"' \
		'retry = { max = 4, wait = "1ms", on = ["exit:75"] }'
} >r.toml
run_matins run -c r.toml r -p 'all=["p","q"]' --json
json_is "a cause that is named: another attempt" step_results[0].state ok \
	step_results[0].output 'done 3'
is "each attempt is told" "$(attempts_of 0)" \
	"failed:exit_status failed:exit_status ok:"
json_is "its facts are those of the last" step_results[0].run.program present \
	step_results[0].run.attempts[0].error 'the program exited with status 75' \
	step_results[0].run.attempts[0].duration_us present
is "another cause: one attempt" "$(attempts_of 1)" "failed:exit_status"
is "a program is not started twice without a word" "$(wc -l <count/c)" 1
is "attempts in all are max" "$(attempts_of 3)" \
	"failed:exit_status failed:exit_status"
json_is "the last failure is that of the step" step_results[3].reason exit_status
is "the timeout bounds each attempt" "$(attempts_of 4)" \
	"timeout:deadline_call ok:"
is "a result that is not as expected" "$(attempts_of 5)" \
	"failed:expect failed:expect ok:"
json_is "each execution has its attempts" step_results[6].state ok \
	step_results[6].output 'p
q'

# ---- tools ----

cat >server.py <<'END'
import json, os, sys, time
hints, way = json.loads(sys.argv[1]), sys.argv[2]
count = sys.argv[3]
with open(count, "a") as f:
    f.write("start\n")
if way == "hangs" and open(count).read().count("start") < 2:
    time.sleep(60)
tool = {"name": "t", "inputSchema": {"type": "object"}, "annotations": hints}
called = False
if way == "drifts":
    tool["outputSchema"] = {"type": "object", "required": ["n"]}
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    r = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "s", "version": "1"}}}
    if way == "drifts" and m["method"] == "initialize":
        r["result"]["capabilities"]["tools"]["listChanged"] = True
    if m["method"] == "tools/list":
        if way == "drifts" and called:
            time.sleep(60)
        r = {"result": {"tools": [tool]}}
    if m["method"] == "tools/call":
        called = True
        with open(count, "a") as f:
            f.write("call\n")
        n = open(count).read().count("call")
        if way == "dies" and n < 3:
            sys.exit(3)
        r = {"result": {"content": [{"type": "text", "text": str(n)}],
                        "isError": way == "error"}}
        if way == "rpc" and n < 3:
            r = {"error": {"code": -32000, "message": "busy"}}
        if way == "drifts":
            r["result"]["structuredContent"] = {}
            print('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **r}), flush=True)
END
# tool NAME HINTS WAY [LINES...]
tool() {
	local name=$1 hints=$2 way=$3

	shift 3
	printf "[[routines.r.steps]]\nname = '%s'\ntype = 'mcp-client'\ntool = 't'\ncommand = '%s'\nargs = ['%s', '%s', '%s', '%s']\nsandbox.write = ['%s']\n" \
		"$name" "$PYTHON" "$T/server.py" "$hints" "$way" "$T/count/$name" "$T/count"
	printf '%s\n' "$@"
	echo
}
again
{
	tool reads '{"readOnlyHint":true}' dies 'retry = { wait = "1ms" }'
	tool same '{"idempotentHint":true}' rpc 'retry = { wait = "1ms" }'
	tool writes '{}' dies 'retry = { wait = "1ms" }'
	tool says '{"readOnlyHint":false}' rpc 'retry = { wait = "1ms" }'
	tool named '{}' dies 'retry = { wait = "1ms", on = ["transport"] }'
	tool code '{}' rpc 'retry = { wait = "1ms", on = ["rpc:-32000"] }'
	tool error '{"readOnlyHint":true}' error 'retry = { wait = "1ms" }'
	tool late '{}' hangs 'timeout = "2s"' 'retry = { max = 20, wait = "1ms" }'
	tool strict '{"readOnlyHint":true}' rpc 'strict = true' 'retry = { wait = "1ms" }'
	tool drifts '{}' drifts 'strict = true' 'timeout = "2s"' \
		'retry = { max = 5, wait = "1ms" }'
} >r.toml
run_matins run -c r.toml r --json
is "a tool that only reads: called again" "$(attempts_of 0)" \
	"failed:server_exit failed:server_exit ok:"
is "one that is idempotent, too" "$(attempts_of 1)" \
	"failed:rpc_error failed:rpc_error ok:"
json_is "facts of its server are there" step_results[1].run.tool t \
	step_results[1].output 3
is "one that may have done something is not" "$(attempts_of 2)" \
	"failed:server_exit"
is "it was called once" "$(grep -c call count/writes)" 1
is "nor one whose hint says no" "$(attempts_of 3)" "failed:rpc_error"
is "but where a group is named" "$(attempts_of 4)" \
	"failed:server_exit failed:server_exit ok:"
is "or a code" "$(attempts_of 5)" "failed:rpc_error failed:rpc_error ok:"
is "an error of the tool is an answer" "$(attempts_of 6)" "tool_error:is_error"
like "before the tool was called: again" "$(attempts_of 7)" \
	'^timeout:deadline_initialize .*ok:$'
like "each attempt has a fresh server" \
	"$(json_get step_results[7].run.started_afresh)" 'not ready in time'
is "a strict step knows the hint" "$(attempts_of 8)" \
	"failed:rpc_error failed:rpc_error ok:"
json_is "a list that is late after the call" step_results[9].reason deadline_list
is "is no reason to call again" "$(grep -c call count/drifts)" 1

# ---- HTTP ----

# /STATUS/REFUSALS/AFTER/NAME: so many calls are refused
cat >web.py <<'END'
import collections, http.server, json, urllib.parse
seen = collections.Counter()
class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass
    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(405)
    do_DELETE = do_GET
    def do_POST(self):
        _, status, refusals, after, name, *_ = map(urllib.parse.unquote, self.path.split("/"))
        m = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in m:
            return self.answer(202)
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
             "serverInfo": {"name": "s", "version": "1"}}
        if m["method"] == "tools/list":
            r = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
        elif m["method"] == "tools/call":
            seen[name] += 1
            if seen[name] <= int(refusals):
                return self.answer(int(status), **({"Retry_After": after} if after != "-" else {}))
            r = {"content": [{"type": "text", "text": str(seen[name])}]}
        elif m["method"] != "initialize":
            return self.answer(404)
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}).encode(),
                    Content_Type="application/json")
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
print(s.server_port, flush=True)
s.serve_forever()
END
"$PYTHON" web.py >port 2>web.err &
server=$!
wait_for 20 test -s port
# remote NAME STATUS/REFUSALS/AFTER [LINES...]
remote() {
	local name=$1 way=$2

	shift 2
	printf '[servers.%s]\nurl = "http://127.0.0.1:%s/%s/%s/mcp"\nprotocol = "2025-11-25"\n' \
		"$name" "$(<port)" "$way" "$name"
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "mcp-client"\nserver = "%s"\ntool = "t"\n' \
		"$name" "$name"
	printf '%s\n' "$@"
	echo
}
{
	remote busy 429/4/0 'retry = { wait = "1ms" }'
	remote down 503/2/- 'retry = { wait = "1ms" }'
	remote years 429/99/99999999 'retry = { wait = "1ms" }'
	remote date '503/99/Fri, 01 Jan 2100 00:00:00 GMT' 'retry = { wait = "1ms" }'
	remote broken 500/1/- 'retry = { wait = "1ms" }'
	remote named 500/1/- 'retry = { wait = "1ms", on = ["http:500"] }'
	printf '[servers.gone]\nurl = "http://127.0.0.1:1/mcp"\n'
	printf '[[routines.r.steps]]\nname = "gone"\ntype = "mcp-client"\nserver = "gone"\ntool = "t"\nretry = { max = 2, wait = "1ms" }\n'
} | sed 's/Fri, 01 Jan 2100 00:00:00 GMT/Fri,%2001%20Jan%202100%2000:00:00%20GMT/' >r.toml
run_matins run -c r.toml r --json
kill $server
is "429: another attempt" "$(attempts_of 0)" \
	"failed:transport failed:transport ok:"
is "503: another attempt" "$(attempts_of 1)" \
	"failed:transport failed:transport ok:"
is "a server that asks for years is not asked again" "$(attempts_of 2)" \
	"failed:transport"
is "nor one that names a date" "$(attempts_of 3)" "failed:transport"
is "500: it may have been done" "$(attempts_of 4)" "failed:transport"
is "500, named: another attempt" "$(attempts_of 5)" "failed:transport ok:"
is "nothing listens: another attempt" "$(attempts_of 6)" \
	"failed:transport failed:transport"

# ---- the end comes first ----

again
counting waits a 'exit 75' 'retry = { wait = "60s", max_wait = "60s", on = ["exit:75"] }' \
	>r.toml
env --default-signal=INT "$BIN" run -c r.toml r --json >got 2>/dev/null </dev/null &
pid=$!
ok "the first attempt is over" wait_for 20 test -s count/a
sleep 0.3
kill -INT $pid
wait $pid
is "Ctrl-C ends the wait: status" $? 130
cp got "$out"
json_is "it was cancelled" step_results[0].reason cancelled \
	step_results[0].run.attempts '#1'

# ---- mistakes ----

{
	counting a a 'exit 1' 'retry = { max = 0, wait = "soon", on = ["exit:75", "exit:x", "exit:256", "cancelled", "policy", "deadline", "http:200"] }'
	counting b b 'exit 1' 'retry = { tries = 3 }'
} >r.toml
run_matins check r.toml
err_like "an unknown key" 'unknown key "tries"'
err_like "max is at least 1" '"max"'
err_like "wait is a duration" '"wait" must be a duration'
for word in exit:x exit:256 cancelled policy deadline http:200; do
	err_like "$word is no cause" ":7:[0-9]+: \"$word\" is no cause of another attempt"
done
err_unlike "exit:75 is one" '"exit:75" is no'

# without `on` a program is not tried again, which is not what one expects
again
{
	counting a a 'exit 1' 'retry = { max = 3, wait = "1ms" }'
	counting b b 'exit 1' 'retry = { max = 3, wait = "1ms", on = ["exit:1"] }'
	counting c c '[ $n -ge 2 ]' 'retry = { max = 3, wait = "1ms", on = ["exit_status"] }'
	printf '[[routines.r.steps]]\nname = "d"\ntype = "mcp-client"\ncommand = "false"\ntool = "t"\nretry = {}\n'
} >r.toml
run_matins check r.toml
exit_is "without on: a warning" 0
err_like "it says what to write" \
	'^r\.toml:7:9: warning: `retry` without `on` tries a program again only when .* on = \["exit:1"\]'
out_like "with on, and of a tool, there is none" ', 1 warning$'
run_matins run -c r.toml r --skip d
out_like "the report has the attempts of what failed" '^## b \(3 attempts\) — failed$'
out_like "and of what is ok in the end" '^## c \(2 attempts\)$'
out_like "one attempt is not told" '^## a — failed$'

done_testing
