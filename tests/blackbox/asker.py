"""A server whose tool asks its client, and answers with what it was told.

asker.py [modern]

Tool `ask {method, params, times}` sends that request that often at once, and
its text is a JSON list of the results or errors. Tool `declared` gives the
capabilities of the client, tool `wait` answers after {seconds}, tool `long`
gives {bytes} of text.
"""
import json
import sys
import time

modern = sys.argv[1:] == ["modern"]
capabilities = {}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def reply(request, result):
    if modern:
        result = {"resultType": "complete", **result}
    send({"id": request["id"], "result": result})


def text(request, value):
    reply(request, {"content": [{"type": "text", "text": value}]})


def ask_now(request, method, params, times):
    for n in range(times):
        send({"id": f"ask-{n}", "method": method, "params": params})
    got = {}
    while len(got) < times:
        answer = receive()
        if str(answer.get("id")).startswith("ask-"):
            got[answer["id"]] = answer.get("result", answer.get("error"))
    text(request, json.dumps([got[f"ask-{n}"] for n in range(times)]))


def ask_first(request, method, params, times):
    """In the newer era the answers come with the same request again."""
    got = request["params"].get("inputResponses")
    if got:
        text(request, json.dumps([got[f"ask-{n}"] for n in range(times)]))
        return
    send({"id": request["id"], "result": {
        "resultType": "input_required",
        "requestState": "s",
        "inputRequests": {f"ask-{n}": {"method": method, "params": params}
                          for n in range(times)}}})


def call(request):
    params = request["params"]
    arguments = params.get("arguments", {})
    name = params["name"]
    meta = params.get("_meta", {})
    if name == "ask":
        (ask_first if modern else ask_now)(
            request, arguments["method"], arguments.get("params", {}),
            arguments.get("times", 1))
    elif name == "declared":
        text(request, json.dumps(meta.get(
            "io.modelcontextprotocol/clientCapabilities", capabilities)))
    elif name == "wait":
        time.sleep(arguments["seconds"])
        text(request, "waited")
    else:
        text(request, "x" * arguments["bytes"])


while True:
    message = receive()
    method = message.get("method")
    if method == "tools/call":
        call(message)
    elif method == "server/discover" and modern:
        reply(message, {"supportedVersions": ["2026-07-28"],
                        "capabilities": {"tools": {}}, "ttlMs": 0,
                        "cacheScope": "private",
                        "serverInfo": {"name": "asker", "version": "1"}})
    elif method == "initialize" and not modern:
        capabilities = message["params"]["capabilities"]
        reply(message, {"protocolVersion": "2025-11-25",
                        "capabilities": {"tools": {}},
                        "serverInfo": {"name": "asker", "version": "1"}})
    elif "id" in message:
        send({"id": message["id"],
              "error": {"code": -32601, "message": "Method not found"}})
