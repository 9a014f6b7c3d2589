#!/usr/bin/env bash
# `matins serve` and clients of other makers: the TypeScript SDK, mcporter and
# the Inspector's command line call a routine and a tool of a server through it.
. "${BASH_SOURCE%/*}/lib.sh"

modules=$TOP/build/npm/node_modules
sdk=$modules/@modelcontextprotocol/sdk/dist/esm/client
if [[ -z $NODE || ! -e $sdk/index.js || ! -e $modules/.bin/mcporter ]] ||
	! _reachable "$modules/.bin/mcporter"; then
	skip_all "node or the clients are not here: make build/npm/.installed"
fi

cat >server.py <<'END'
import json
import sys

for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    p = m.get("params", {})
    r = {"jsonrpc": "2.0", "id": m["id"]}
    if m["method"] == "initialize":
        r["result"] = {
            "protocolVersion": p["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"}}
    elif m["method"] == "tools/list":
        r["result"] = {"tools": [{"name": "say", "inputSchema": {
            "type": "object", "properties": {"text": {"type": "string"}}}}]}
    elif m["method"] == "tools/call":
        r["result"] = {"content": [
            {"type": "text", "text": "said: " + p["arguments"]["text"]}]}
    else:
        r["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(r), flush=True)
END
cat >matins.toml <<-END
	[servers.s]
	command = "$PYTHON"
	args = ["server.py", "mark-of-$T"]
	[routines.two]
	[[routines.two.steps]]
	name = "first"
	type = "script"
	command = "echo"
	args = ["of the routine"]
	[[routines.two.steps]]
	name = "second"
	type = "script"
	command = "true"
END

# client.mjs URL TOKEN | client.mjs PROGRAM ARGS...
cat >client.mjs <<-END
	import { Client } from '$sdk/index.js';
	import { StdioClientTransport } from '$sdk/stdio.js';
	import { StreamableHTTPClientTransport } from '$sdk/streamableHttp.js';
	const [first, ...rest] = process.argv.slice(2);
	const transport = first.startsWith('http')
		? new StreamableHTTPClientTransport(new URL(first), { requestInit: {
			headers: { Authorization: 'Bearer ' + rest[0] } } })
		: new StdioClientTransport({ command: first, args: rest,
			env: process.env, cwd: process.cwd() });
	const client = new Client({ name: 'sdk', version: '1' });
	await client.connect(transport);
	console.log((await client.listTools()).tools.map((t) => t.name)
		.filter((n) => n.startsWith('routine__') || n.startsWith('mcp__')).join(' '));
	// the SDK drops progress that it reads together with the answer
	let steps = 0;
	const heard = transport.onmessage;
	transport.onmessage = (message, extra) => {
		steps += message.method === 'notifications/progress' ? 1 : 0;
		heard(message, extra);
	};
	const report = await client.callTool({ name: 'routine__two' }, undefined,
		{ onprogress: () => {} });
	console.log(steps > 0, report.isError ?? false, report.structuredContent.step_results.length);
	const said = await client.callTool({ name: 'mcp__s__say', arguments: { text: 'hello é' } });
	console.log(said.content[0].text);
	await client.callTool({ name: 'mcp__s__nope' }).catch((e) => console.log(e.code));
	if (transport.terminateSession)
		await transport.terminateSession();
	await client.close();
END
all='mcp__s__say routine__two
true false 2
said: hello é
-32602'

client() { # NAME ARGS...: what a program of node says
	timeout -k 5 90 "$NODE" "$@" 2>>client.err | tr -d '\r'
}
sorted() { # the names of the first line in order
	sed '1{s/\(routine[^ ]*\) \(mcp[^ ]*\)/\2 \1/}'
}

# ---- stdio ----

is "the SDK over stdio: lists, a routine with progress, a tool, an error" \
	"$(client client.mjs "$BIN" serve | sorted)" "$all"
like "mcporter over stdio: a routine" "$(client "$modules/.bin/mcporter" \
	call --stdio "$BIN serve" --cwd "$T" routine__two)" "of the routine"
like "mcporter over stdio: a tool" "$(client "$modules/.bin/mcporter" \
	call --stdio "$BIN serve" --cwd "$T" mcp__s__say text=hello)" "said: hello"
# it wants to lie beside the package.json of the whole Inspector
mkdir inspector
cp -r "$modules/@modelcontextprotocol/inspector-cli" inspector/cli
ln -s "$modules" inspector/node_modules
echo '{"name": "inspector", "version": "1.0.3"}' >inspector/package.json
inspect=(inspector/cli/build/index.js)
like "the Inspector over stdio: a routine" "$(client "${inspect[@]}" \
	"$BIN" serve --method tools/call --tool-name routine__two)" \
	"of the routine"
like "the Inspector over stdio: a tool" "$(client "${inspect[@]}" \
	"$BIN" serve --method tools/call --tool-name mcp__s__say \
	--tool-arg text=hello)" "said: hello"
nothing_left "stdio: no server is left" "mark-of-$T"

# ---- HTTP ----

if ! ldconfig -p 2>/dev/null | grep -q 'libmicrohttpd\.so\.12'; then
	skip "clients over HTTP" "libmicrohttpd is not installed: make deps"
	done_testing
fi
"$BIN" serve --http 127.0.0.1:0 2>log &
server=$!
wait_for 60 grep -q 'http://' log
url=$(grep -aoE 'http://[0-9.:]+/mcp' log)
token=$(<"$(sed -n 's/.*token in //p' log)")
cat >mcporter.json <<-END
	{"mcpServers": {"m": {"url": "$url", "headers": {"Authorization": "Bearer $token"}}}}
END

is "the SDK over HTTP: lists, a routine with progress, a tool, an error" \
	"$(client client.mjs "$url" "$token" | sorted)" "$all"
is "the SDK over HTTP without the token: nothing" \
	"$(client client.mjs "$url" "not $token")" ""
like "mcporter over HTTP: a routine" "$(client "$modules/.bin/mcporter" \
	--config mcporter.json call m.routine__two)" "of the routine"
like "mcporter over HTTP: a tool" "$(client "$modules/.bin/mcporter" \
	--config mcporter.json call m.mcp__s__say text=hello)" "said: hello"
like "the Inspector over HTTP: a routine" "$(client "${inspect[@]}" "$url" \
	--transport http --header "Authorization: Bearer $token" \
	--method tools/call --tool-name routine__two)" "of the routine"
like "the Inspector over HTTP: a tool" "$(client "${inspect[@]}" "$url" \
	--transport http --header "Authorization: Bearer $token" \
	--method tools/call --tool-name mcp__s__say --tool-arg text=hello)" \
	"said: hello"
kill "$server"
wait "$server"
nothing_left "HTTP: no server is left" "mark-of-$T"

done_testing
