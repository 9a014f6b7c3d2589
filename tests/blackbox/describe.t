#!/usr/bin/env bash
# `describe`: what a tool takes and what is missing; `call --ask` asks for it.
. "${BASH_SOURCE%/*}/lib.sh"

cat >offer.py <<-'END'
	import json, sys
	ADDRESS = {"type": "object", "required": ["city"],
	           "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}
	TOOL = {"name": "order", "title": "Order", "description": "Orders \u001b[31mthings",
	        "inputSchema": {"type": "object", "$defs": {"address": ADDRESS},
	        "required": ["kind", "count", "fast", "to", "tags"],
	        "properties": {
	          "kind": {"enum": ["tea", "coffee", "it's"], "description": "Of drink"},
	          "count": {"type": "integer", "default": 1, "maximum": 9},
	          "fast": {"type": "boolean"},
	          "to": {"$ref": "#/$defs/address"},
	          "tags": {"type": "array", "items": {"type": "string"}},
	          "note": {"type": "string"}}}}
	PLACE = {"type": "object", "required": ["city", "level"],
	         "properties": {"city": {"type": "string", "title": "Name of it"},
	                        "level": {"$ref": "#/$defs/level"},
	                        "zip": {"type": "string"}}}
	DEEP = {"name": "deep", "inputSchema": {"type": "object",
	        "$defs": {"place": PLACE,
	                  "level": {"type": "integer", "minimum": 3, "maximum": 9}},
	        "required": ["where", "ways"],
	        "properties": {
	          "where": {"$ref": "#/$defs/place"},
	          "ways": {"type": "array", "minItems": 1,
	                   "items": {"$ref": "#/$defs/place"}},
	          "via": {"$ref": "#/$defs/place"}}}}
	NODE = {"type": "object", "required": ["a", "b", "c", "d", "e"],
	        "properties": {k: {"$ref": "#/$defs/node"} for k in "abcde"}}
	ROUND = {"name": "round", "inputSchema": {"type": "object",
	         "$defs": {"node": NODE}, **NODE}}
	for line in sys.stdin:
	    m = json.loads(line)
	    if "id" not in m:
	        continue
	    r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
	         "serverInfo": {"name": "s", "version": "1"}}
	    if m["method"] == "tools/list":
	        r = {"tools": [TOOL, DEEP, ROUND, {"name": "plain", "inputSchema": {"type": "object"}}]}
	    if m["method"] == "tools/call":
	        r = {"content": [{"type": "text", "text": json.dumps(m["params"].get("arguments"))}]}
	    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
END
cat >matins.toml <<-END
	[servers.shop]
	command = "$PYTHON"
	args = ["offer.py"]
	sandbox = { read = ["."] }
END

# ---- describe ----

run_matins describe shop.order kind=tea count=99
exit_is "a tool is described: status 0" 0
out_like "its arguments with their types" '^    fast +boolean, required'
out_like "with defaults" '^    count +integer, required, default 1'
out_like "with choices" '"tea", "coffee"'
out_like "what is missing" '^  missing: fast, to, to\.city, tags$'
out_unlike "it is said once" '^  wrong: .*missing'
out_like "what is wrong" '^  wrong: .*count.*9'
out_unlike "no control character of the server" $'\033'
out_like "a call, with what was given" \
	"^    matins call shop.order kind=tea count:=99 fast:=true 'to:=\{\"city\":\"TEXT\"\}' 'tags:=\[\]'$"
out_like "a step" '^    server = "shop"$'
out_like "a step: its params" \
	'^    params = \{ kind = "tea", count = 99, fast = true, to = \{ city = "TEXT" \}, tags = \[\] \}$'
run_matins describe shop.order "kind=it's" --json
json_is "as JSON" tool order server shop arguments '#6' \
	arguments[0].given "it's" arguments[1].default 1 missing '#5' \
	example.count 1 call "~kind=it"
run_matins describe shop.deep
out_like "members of an object" '^    where\.city +string, required$'
out_like "what a member refers to, with its bounds" \
	'^    where\.level +integer, required, 3 to 9$'
out_like "elements of an array" '^    ways +array of object, required$'
out_like "members of elements" '^    ways\[\]\.zip +string$'
out_like "a title, where there is no description" '^        Name of it$'
out_like "missing members" '^  missing: where, where.city, where.level, ways$'
run_matins describe shop.deep --json
json_is "as JSON: members, bounds, elements" \
	arguments[0].properties[1].maximum 9 \
	arguments[0].properties[0].title "Name of it" \
	arguments[1].items.properties '#3' missing '#4' \
	example.where '{"city": "TEXT", "level": 3}' \
	example.ways[0].level 3
"$PYTHON" -c 'import json,sys; print(json.dumps(json.load(open(sys.argv[1]))["example"]))' \
	"$out" >example.json
run_matins call shop.deep --strict --args @example.json
exit_is "the example is a call that fits the schema" 0
run_matins describe shop.deep 'where:={"level":4}' 'via:={}' 'ways:=[]' --json
json_is "what is given is completed" missing '["where.city", "via.city", "via.level"]' \
	example.where '{"level": 4, "city": "TEXT"}' example.ways '#0' \
	arguments[0].properties[1].given 4
run_matins describe shop.round --json
exit_is "a schema that goes in circles" 0
run_matins describe shop.plain
out_unlike "nothing is missing where nothing is required" 'missing'
run_matins describe plain -- "$PYTHON" "$PWD/offer.py"
out_like "a tool of a program" '^    matins call plain -- PROGRAM$'
run_matins describe shop.oder
exit_is "an unknown tool: status 1" 1
err_like "an unknown tool: the nearest" 'did you mean order'
run_matins describe
exit_is "no tool: status 64" 64

# ---- asking ----

# asked ANSWERS ARGS...: where a person is
asked() {
	local answers=$1

	shift
	run_program /dev/null "$PYTHON" "$TOP/tests/blackbox/on_terminal.py" \
		"$answers" "$BIN" "$@"
}

asked 'cocoa,2,many,3,maybe,y,Ghent,warm,soon,' call shop.order --ask
exit_is "missing arguments are asked for: status 0" 0
out_like "a choice by its number, and what is no value is asked again" \
	'"kind": "coffee", "count": 3, "fast": true'
out_like "members of an object that a reference names, elements of an array" \
	'"to": \{"city": "Ghent"\}, "tags": \["warm", "soon"\]'
out_like "choices are listed" '3\) "it.s"'
asked 'n,Rome,' call shop.order --ask kind=tea count=2
out_like "what is given is not asked for" \
	'"kind": "tea", "count": 2, "fast": false, "to": \{"city": "Rome"\}, "tags": \[\]'
out_unlike "what is given is not asked for: no question" '1\) "tea"'
asked ',n,Rome,' call shop.order --ask kind=tea
out_like "an empty answer is the default" '"count": 1,'
run_matins call shop.order --ask
exit_is "without a terminal: status 64" 64
err_like "without a terminal: it says so" '--ask needs a terminal'
run_matins call shop.plain --ask
exit_is "nothing is missing: no terminal is needed" 0
run_matins call shop.order --ask --no-list
exit_is "without the list there is no schema: status 64" 64

done_testing
