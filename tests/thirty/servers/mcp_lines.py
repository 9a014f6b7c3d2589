"""A few lines of MCP over stdio, as people write them without an SDK."""

import json
import sys


def answer(message, name, tools):
    """The answer to one message; None for a notification.

    tools: name -> (description, function of the arguments that gives text)
    """
    method = message.get("method")
    if method == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": "1.0.0"},
        }
    elif method == "tools/list":
        result = {"tools": [
            {"name": tool, "description": text,
             "inputSchema": {"type": "object"}}
            for tool, (text, _) in tools.items()]}
    elif method == "tools/call":
        params = message["params"]
        text = tools[params["name"]][1](params.get("arguments") or {})
        result = {"content": [{"type": "text", "text": str(text)}]}
    elif "id" in message:
        return {"jsonrpc": "2.0", "id": message["id"],
                "error": {"code": -32601, "message": "no such method"}}
    else:
        return None
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def serve(name, tools):
    for line in sys.stdin:
        reply = answer(json.loads(line), name, tools)
        if reply:
            print(json.dumps(reply), flush=True)
