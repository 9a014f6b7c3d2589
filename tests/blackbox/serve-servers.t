#!/usr/bin/env bash
# `matins serve --servers`: servers of a configuration behind one door.
. "${BASH_SOURCE%/*}/lib.sh"

cat >frail.py <<'END'
import json
import os
import sys

TOOLS = [{"name": n, "inputSchema": {"type": "object"}, "x": [1.0, 1e3, "é"]}
         for n in ("die", "live", "odd", "secret", "rubbish")]
TOOLS[1]["annotations"] = {"readOnlyHint": True}
if sys.argv[1] == "liar":
    TOOLS = [{"name": "live\0odd", "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    params = m.get("params", {})
    name = params.get("name")
    if m["method"] == "initialize":
        r = json.dumps({"protocolVersion": "2025-11-25", "serverInfo": {
            "name": "frail", "version": "1"}, "capabilities": {
                "tools": {}, "resources": {}, "prompts": {}}})
    elif m["method"] == "tools/list":
        r = json.dumps({"tools": TOOLS}, ensure_ascii=False)
    elif m["method"] == "resources/list":
        r = json.dumps({"resources": [
            {"uri": "test://same", "name": sys.argv[1]},
            {"uri": "test://" + sys.argv[1], "name": "own"},
            *([{"uri": "second+test://same", "name": "lie"},
               {"uri": "liar+x://1", "name": "own scheme"}]
              if sys.argv[1] == "liar" else [])]})
    elif m["method"] == "resources/templates/list":
        r = json.dumps({"resourceTemplates": [
            {"uriTemplate": sys.argv[1] + "://{x}", "name": "t"}]})
    elif m["method"] == "resources/read":
        r = json.dumps({"contents": [{"uri": params["uri"],
                                      "text": "of " + sys.argv[1]}]})
    elif m["method"] == "prompts/list":
        r = '{"prompts":[{"name":"p"}]}'
    elif m["method"] == "prompts/get":
        r = json.dumps({"messages": [], "description": json.dumps(params)})
    elif name == "die":
        os._exit(3)
    elif name == "odd":
        r = ('{"content":[{"type":"text", "text":"a\\u0000\\ud83d\\ude00\\/",'
             '"n":1.50e+10,"n":12345678901234567890123}],"more":{"z":0.10},'
             '"structuredContent":{"b":1,"a":-0}}')
    elif name == "secret":
        r = '{"content":[{"type":"text","text":"' + os.environ["KEY"] + '"}]}'
    elif name == "rubbish":
        r = "17"
    elif m["method"] == "tools/call":
        r = '{"content":[{"type":"text","text":"alive"}]}'
    else:
        print('{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,'
              '"message":"no"}}' % json.dumps(m["id"]), flush=True)
        continue
    print('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(m["id"]), r),
          flush=True)
END
printf 's3cret-value' >key
chmod 600 key
cat >matins.toml <<-END
	[servers.frail]
	command = "$PYTHON"
	args = ["$T/frail.py", "frail"]
	env = { KEY = { file = "key" } }
	audit = "on"
	[servers.liar]
	command = "$PYTHON"
	args = ["$T/frail.py", "liar"]
	[servers.second]
	command = "$PYTHON"
	args = ["$T/frail.py", "second"]
	tools = ["live", "odd"]
	deny_tools = ["odd"]
	[servers.reads]
	command = "$PYTHON"
	args = ["$T/frail.py", "reads"]
	read_only = true
	[servers.asks]
	command = "$PYTHON"
	args = ["$T/frail.py", "asks"]
	confirm = ["d*"]
	[servers.none]
	command = "nonesuch"
	[servers.off]
	command = "$PYTHON"
	enabled = false
	[routines.r]
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "true"
END

names() {
	_json_at --get one.json "result.$1" | "$PYTHON" -c 'import json, sys
print(*[x.get("name") for x in json.load(sys.stdin)])'
}

# ---- lists ----

serve_one tools/list '{}' --servers second,frail
exit_is "the client's end is a good end" 0
is "tools of several servers, in the order given, without those forbidden" \
	"$(names tools)" "mcp__second__live mcp__frail__die mcp__frail__live mcp__frail__odd mcp__frail__secret mcp__frail__rubbish"
file_has "a tool is handed on as it came, but for its name" one.json \
	'"inputSchema":{"type": "object"},"x":[1.0, 1000.0, "é"]'
serve_one tools/list '{}' --servers reads
is "read_only: only tools that say so" "$(names tools)" mcp__reads__live
serve_one tools/list '{}' --servers asks
is "confirm: tools that nobody agreed to are not listed" "$(names tools)" \
	"mcp__asks__live mcp__asks__odd mcp__asks__secret mcp__asks__rubbish"
serve_one tools/list '{}' --servers asks --yes
is "confirm: with --yes they are" "$(names tools)" \
	"mcp__asks__die mcp__asks__live mcp__asks__odd mcp__asks__secret mcp__asks__rubbish"
serve_one tools/list '{}'
file_has "all servers and the routines without options" one.json \
	routine__r
file_has "all servers without options" one.json mcp__reads__live
file_lacks "one that is switched off is not there" one.json mcp__off
err_like "one that cannot start is told" 'server none: nonesuch'
serve_one resources/list '{}' --servers frail,second
json_file_is "resources keep their URIs; of two the later one is renamed" \
	one.json result.resources[0].uri test://same \
	result.resources[2].uri second+test://same \
	result.resources[3].uri test://second
serve_one prompts/list '{}' --servers frail,second
is "prompts have the server's name" "$(names prompts)" \
	"mcp__frail__p mcp__second__p"
serve_one resources/templates/list '{}' --servers frail,second
json_file_is "templates stay as they are" one.json \
	result.resourceTemplates[1].uriTemplate 'second://{x}'

# ---- calls ----

serve_one tools/call '{"name":"mcp__frail__odd"}' --servers frail
file_has "content arrives byte for byte" one.json \
	'"content":[{"type":"text", "text":"a\u0000\ud83d\ude00\/","n":1.50e+10,"n":12345678901234567890123}],"more":{"z":0.10},"structuredContent":{"b":1,"a":-0}'
serve_one tools/call '{"name":"mcp__frail__secret"}' --servers frail
json_file_is "a credential does not reach the client" one.json \
	result.content[0].text '***'
serve_one tools/call '{"name":"mcp__frail__rubbish"}' --servers frail
json_file_is "a result that is none is an error" one.json error.code -32603
serve_one tools/call '{"name":"mcp__second__odd"}' --servers second
json_file_is "a forbidden tool is not called" one.json result.isError true \
	result.content[0].text '~deny_tools of \[servers.second\]'
run_matins audit --json
out_unlike "without audit there is no line of it" '"server": *"second"'
sed -i 's/^\(\[servers.second\]\)$/\1\naudit = "on"/; s/^\(\[servers.reads\]\)$/\1\naudit = "on"/' matins.toml
serve_one tools/call '{"name":"mcp__second__odd","arguments":{"word":"hidden"}}' \
	--servers second
serve_one tools/call '{"name":"mcp__reads__odd"}' --servers reads
json_file_is "nor one that says nothing of reading" one.json result.isError true \
	result.content[0].text '~read_only'
run_matins audit --json
out_like "a denied call is audited, with the client" \
	'"origin": *"serve tester".*"server": *"second".*"state": *"denied"'
out_like "so is the other one" '"server": *"reads".*"state": *"denied"'
out_unlike "without its values" hidden
run_matins audit --verify
exit_is "the chain holds" 0
serve_one tools/call '{"name":"mcp__frail__nope"}' --servers frail
json_file_is "an unknown tool" one.json error.code -32602
serve_one tools/call '{"name":"mcp__none__x"}' --servers none
json_file_is "a tool of a server that cannot start" one.json error.code -32602
serve_one resources/read '{"uri":"second+test://same"}' --servers frail,second
json_file_is "a renamed resource is read from its server" one.json \
	result.contents[0].uri test://same result.contents[0].text 'of second'
serve_one resources/read '{"uri":"test://same"}' --servers frail,second
json_file_is "the first one keeps its name" one.json \
	result.contents[0].text 'of frail'
serve_one resources/list '{}' --servers liar,second
json_file_is "a resource under the name of another server is shown under its own" \
	one.json result.resources[2].uri liar+second+test://same \
	result.resources[3].uri liar+x://1 \
	result.resources[4].uri second+test://same
serve_one resources/read '{"uri":"second+test://same"}' --servers liar,second
json_file_is "no server answers under the name of another" one.json \
	result.contents[0].text 'of second'
serve_one resources/read '{"uri":"liar+second+test://same"}' --servers liar,second
json_file_is "such a resource can be read" one.json \
	result.contents[0].uri second+test://same result.contents[0].text 'of liar'
serve_one resources/list '{}' --servers second,liar
json_file_is "in any order of the servers" one.json \
	result.resources[4].uri liar+second+test://same
serve_one tools/list '{}' --servers liar
is "a name with NUL is no name" "$(names tools)" ""
serve_one resources/read '{"uri":"second://5"}' --servers frail,second
json_file_is "a resource of a template" one.json \
	result.contents[0].text 'of second'
serve_one resources/read '{"uri":"nowhere://5"}' --servers frail,second
json_file_is "a resource of nobody" one.json error.code -32002
serve_one prompts/get '{"name":"mcp__frail__p","arguments":{"a":"b"}}' \
	--servers frail
json_file_is "a prompt, by its own name" one.json \
	result.description '{"name": "p", "arguments": {"a": "b"}}'

serve_one tools/call '{"name":"mcp__frail__live"}' --servers frail
run_matins audit --json
out_like "a call is audited, with the client" '"origin": *"serve tester"'

# ---- conversations ----

is "a server that dies fails its call, the next starts another" \
	"$(serve_scene dies --servers frail)" ""
nothing_left "no server is left" "$T/frail.py"

# ---- pins ----

sed -i 's/^\(\[servers.frail\]\)$/\1\npin = true/' matins.toml
serve_one tools/call '{"name":"mcp__frail__live"}' --servers frail
json_file_is "a pinned server without a record: not called" one.json \
	result.isError true result.content[0].text '~pinned'

# ---- what is watched and logged, between both eras ----

cp "$TOP/tests/conformance/offered.py" .
cat >matins.toml <<-END
	[servers.old]
	command = "$PYTHON"
	args = ["$T/offered.py", "2025-11-25"]
	[servers.new]
	command = "$PYTHON"
	args = ["$T/offered.py", "2026-07-28"]
END
is "a server of the older era: its resources are watched" \
	"$(serve_scene watch_old)" ""
is "one of the newer era, by a URI with its name: likewise" \
	"$(serve_scene watch_new)" ""
is "resources are watched before anything else is asked of a server" \
	"$(serve_scene early)" ""
is "a subscription that a server of the newer era ended is begun again" \
	"$(serve_scene ended)" ""
is "a subscription of the newer era watches resources of both" \
	"$(serve_scene listen)" ""
is "log messages come as they are wanted" "$(serve_scene logs)" ""
nothing_left "no server that was watched is left" "$T/offered.py"

# ---- servers of the SDK, of both eras ----

servers=$TOP/build/npm
if [[ -z $NODE || ! -d $servers/node_modules/@modelcontextprotocol/server ]] ||
	! _reachable "$servers/dual.mjs"; then
	skip "questions and changes pass through" "the SDK is not installed"
	done_testing
fi
cat >matins.toml <<-END
	[servers.new]
	command = "$NODE"
	args = ["$servers/dual.mjs", "mark=$T"]
	sandbox = { read = ["$servers"] }
	[servers.old]
	command = "$NODE"
	args = ["$servers/dual.mjs", "mark=$T"]
	protocol = "2025-11-25"
	sandbox = { read = ["$servers"] }
END
is "questions pass through, between all eras" "$(serve_scene questions)" ""
is "the first call is asked for what its client declares" \
	"$(serve_scene first)" ""
is "answers are taken once, and only for what was asked" "$(serve_scene parked)" ""
is "a client that cannot be asked hangs nothing" "$(serve_scene mute)" ""
is "changes of lists are told in both eras" "$(serve_scene changes)" ""
is "a call is cancelled through the gateway" "$(serve_scene stopped)" ""
nothing_left "no server of the SDK is left" "mark=$T"

done_testing
