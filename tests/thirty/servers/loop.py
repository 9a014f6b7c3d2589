"""One file, one loop."""

import json
import sys
from datetime import date

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method = request["method"]
    if method == "initialize":
        result = {"protocolVersion": request["params"]["protocolVersion"],
                  "capabilities": {"tools": {}},
                  "serverInfo": {"name": "loop", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "weekday", "inputSchema": {
            "type": "object", "properties": {"day": {"type": "string"}},
            "required": ["day"]}}]}
    elif method == "tools/call":
        day = date.fromisoformat(request["params"]["arguments"]["day"])
        result = {"content": [{"type": "text", "text": day.strftime("%A")}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {
            "code": -32601, "message": "no such method"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                      "result": result}), flush=True)
