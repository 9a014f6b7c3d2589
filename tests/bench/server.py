"""The stub server in python: as much of it as one step needs."""
import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] == "initialize":
        result = {"protocolVersion": request["params"]["protocolVersion"],
                  "capabilities": {"tools": {}},
                  "serverInfo": {"name": "stub", "version": "1"}}
    else:
        result = {"content": [{"type": "text", "text": "x" * 64}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                      "result": result}, separators=(",", ":")), flush=True)
