"""A server whose tools have schemas, and which says how long its list is good.

lister.py LOG [WORD...]

Every method that it is sent is a line of LOG. Words: `modern`; `ttl=MS`;
`paged` (one tool a page); `silent` (tools/list is never answered); `refused`
(it is answered by an error); `badlist` (by no list); `badschema`;
`watch` (it declares listChanged, and takes subscriptions).

Tools: `add {a, b}` gives {sum}; `wrong` promises {sum} and gives text in it;
`nothing` promises it and gives none; `failing` promises it and is isError;
`change` makes the tool `late` of {x}, and says so; `hide` makes `add` demand
{a, b, c} without a word; `forget` refuses itself as unknown.
"""
import json
import sys

log_path, words = sys.argv[1], sys.argv[2:]
modern = "modern" in words
options = dict(w.split("=", 1) for w in words if "=" in w)
NUMBER = {"type": "integer"}
SUM = {"type": "object", "properties": {"sum": NUMBER}, "required": ["sum"]}


def schema(*names):
    return {"type": "object", "additionalProperties": False,
            "properties": {n: NUMBER for n in names}, "required": list(names)}


tools = {
    "add": {"inputSchema": schema("alpha", "beta"), "outputSchema": SUM,
            "description": "adds", "title": "Add numbers"},
    "wrong": {"inputSchema": schema(), "outputSchema": SUM},
    "nothing": {"inputSchema": schema(), "outputSchema": SUM},
    "failing": {"inputSchema": schema(), "outputSchema": SUM},
    "change": {"inputSchema": schema()},
    "hide": {"inputSchema": schema()},
    "forget": {"inputSchema": schema()},
}
if "forge" in words:
    tools["forge"] = {"inputSchema": schema(), "annotations": {
        "title": "x) — failed\n## y (\033[31m" + 500 * "z"}}
if "badschema" in words:
    tools["add"]["inputSchema"] = {"type": "object", "properties": 7}
subscription = None


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def reply(request, result):
    if modern:
        result = {"resultType": "complete", **result}
    send({"id": request["id"], "result": result})


def refuse(request, code, text):
    send({"id": request["id"], "error": {"code": code, "message": text}})


def changed():
    params = {}
    if modern:
        if subscription is None:
            return
        params = {"_meta": {
            "io.modelcontextprotocol/subscriptionId": subscription}}
    send({"method": "notifications/tools/list_changed", "params": params})


def give_list(request):
    entries = [{"name": n, **t} for n, t in tools.items()]
    result = {"tools": entries}
    if "silent" in words:
        return
    if "refused" in words:
        refuse(request, -32603, "no list today")
        return
    if "badlist" in words:
        result = {"tools": 7}
    if "paged" in words:
        at = int(request.get("params", {}).get("cursor", "0"))
        result["tools"] = entries[at:at + 1]
        if at + 1 < len(entries):
            result["nextCursor"] = str(at + 1)
    if "ttl" in options:
        result.update(ttlMs=int(options["ttl"]), cacheScope="public")
    reply(request, result)


def call(request):
    name = request["params"]["name"]
    given = request["params"].get("arguments", {})
    text = {"content": [{"type": "text", "text": name}]}
    if name not in tools or name == "forget":
        refuse(request, -32602, "unknown tool")
    elif name == "add":
        try:
            total = sum(int(v) for v in given.values())
        except ValueError:
            total = 0
        reply(request, {**text, "structuredContent": {"sum": total}})
    elif name == "wrong":
        reply(request, {**text, "structuredContent": {"sum": "much"}})
    elif name == "failing":
        reply(request, {**text, "isError": True})
    else:
        if name == "change":
            tools["late"] = {"inputSchema": schema("x")}
            changed()
        if name == "hide":
            tools["add"]["inputSchema"] = schema("alpha", "beta", "gamma")
        reply(request, text)


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method", "-")
    with open(log_path, "a", encoding="utf-8") as log:
        log.write(method + "\n")
    capabilities = {"tools": {"listChanged": True} if "watch" in words else {}}
    server = {"serverInfo": {"name": "lister", "version": "1"},
              "capabilities": capabilities}
    if method == "tools/list":
        give_list(message)
    elif method == "tools/call":
        call(message)
    elif method == "server/discover" and modern:
        reply(message, {"supportedVersions": ["2026-07-28"], "ttlMs": 0,
                        "cacheScope": "private", **server})
    elif method == "subscriptions/listen" and modern and "watch" in words:
        subscription = message["id"]
        send({"method": "notifications/subscriptions/acknowledged",
              "params": {"notifications": {"toolsListChanged": True},
                         "_meta": {"io.modelcontextprotocol/subscriptionId":
                                   subscription}}})
    elif method == "initialize" and not modern:
        reply(message, {"protocolVersion": "2025-11-25", **server})
    elif "id" in message:
        refuse(message, -32601, "Method not found")
