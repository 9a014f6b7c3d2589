#!/usr/bin/env bash
# A live server from its start to its end: slow starts, other revisions than
# asked for, restarts, questions in the middle of a call.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

older=(--protocol 2025-11-25)

# ---- start ----

script t <<-'END'
	stderr downloading
	sleep 1500
	handshake
	call ready
END
run_matins call t --no-list "${older[@]}" -v -- "$PEER" "$T/t.peer"
out_is "RW-20: a start that takes its time" ready
err_like "RW-20: what it says meanwhile is shown" 'downloading'
peer_step one t 'tool = "t"' 'protocol = "2025-11-25"' >r.toml
run_matins run -c r.toml r --json
json_is "RW-20: a server that ended is not started a second time" step_results[0].output ready \
	step_results[0].run.mcp.restarts 0
script t <<-'END'
	expect initialize
	hang
END
peer_step one t 'tool = "t"' 'protocol = "2025-11-25"' 'timeout = "700ms"' \
	>r.toml
run_matins run -c r.toml r --json
json_is "silent on initialize: its own deadline" step_results[0].state timeout \
	step_results[0].reason deadline_initialize

# ---- revisions ----

for date in 2024-11-05 2025-03-26 2025-06-18; do
	script t <<-END
		handshake $date
		call spoken
	END
	peer_step one t 'tool = "t"' 'protocol = "2025-11-25"' >r.toml
	run_matins run -c r.toml r --json
	json_is "VER-4: 2025-11-25 is pinned, $date is answered: it is spoken" \
		step_results[0].output spoken \
		step_results[0].run.mcp.protocol "$date"
done
script t <<-'END'
	handshake 2026-07-28
	call never
END
run_matins run -c r.toml r --json
json_is "VER-4: a date of the other era is none" \
	step_results[0].reason handshake step_results[0].error '~2026-07-28'

# refuses every date but one, and names that (VER-5); asks before and after
cat >picky.py <<'END'
import json, sys

def say(**m):
    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)

def ask(i, text):
    say(id=i, method="sampling/createMessage", params={"maxTokens": 1,
        "messages": [{"role": "user",
                      "content": {"type": "text", "text": text}}]})

asks = sys.argv[1:] == ["asks"]
call = None
for line in sys.stdin:
    m = json.loads(line)
    method = m.get("method")
    if method == "initialize":
        date = m["params"]["protocolVersion"]
        if date != "2024-11-05":
            if asks:
                ask("s", "one")
            say(id=m["id"], error={"code": -32602, "message": "no",
                "data": {"supported": ["2024-11-05"], "requested": date}})
        else:
            say(id=m["id"], result={"protocolVersion": date,
                "capabilities": {}, "serverInfo": {"name": "p",
                                                   "version": "1"}})
    elif method == "tools/call":
        call = m["id"]
        if asks:
            ask("s", "two")
        else:
            say(id=call, result={"content": [{"type": "text",
                                              "text": "picked"}]})
    elif m.get("id") == "s" and call is not None:
        say(id=call, result={"content": [
            {"type": "text", "text": m["result"]["content"]["text"]}]})
    elif method and "id" in m:
        say(id=m["id"], error={"code": -32601, "message": "no"})
END
cat >r.toml <<-END
	[servers.p]
	command = "$PYTHON"
	args = ["$T/picky.py"]
	protocol = "2025-11-25"
	[[routines.r.steps]]
	name = "one"
	type = "mcp-client"
	server = "p"
	tool = "t"
END
run_matins run -c r.toml r --json
json_is "VER-5: refused with a list: once more with its date" \
	step_results[0].output picked step_results[0].run.mcp.restarts 1 \
	step_results[0].run.mcp.protocol 2024-11-05
nothing_left "VER-5: nothing is left of the first" "$T/picky"

# ---- questions ----

# The first life's question is still worked on when the second one asks.
cat >model.py <<'END'
import json, sys, time

text = json.load(sys.stdin)["messages"][0]["content"]["text"]
time.sleep(0.5 if text == "one" else 1.5)
print(json.dumps({"role": "assistant", "model": "m",
                  "content": {"type": "text", "text": "answer to " + text}}))
END
sed -i "s|picky.py\"\\]|picky.py\", \"asks\"]\\nsampling = [\"$PYTHON\", \"$T/model.py\"]|" r.toml
run_matins run -c r.toml r --json
json_is "started again: no answer goes to another question" \
	step_results[0].output "answer to two" \
	step_results[0].run.mcp.restarts 1

script t <<-'END'
	handshake
	expect tools/call
	send {"jsonrpc":"2.0","id":"p","method":"ping"}
	expect-response
	send {"jsonrpc":"2.0","id":7,"method":"roots/list"}
	expect-response
	reply {"content":[{"type":"text","text":"after both answers"}]}
END
run_matins call t --no-list "${older[@]}" -- "$PEER" "$T/t.peer"
out_is "RW-61: asks in the middle of a call, and is answered" \
	"after both answers"

done_testing
