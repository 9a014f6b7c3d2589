# Servers in the files of four clients, started as these clients start them;
# source it after lib.sh. Without node or the SDK the test is skipped.
#
#	client FILE NAME TOOL JSON [HOW]	what the tool of a server says
#	none_left				has every server ended?
#
# The test goes on in $T/project, which holds the files .mcp.json,
# .vscode/mcp.json, .cursor/mcp.json and claude_desktop_config.json: each with
# the servers s (of server.py) and all; $T/far/file is granted to none.
#
# shellcheck shell=bash
# shellcheck disable=SC2154

sdk=$TOP/build/npm/node_modules/@modelcontextprotocol
if [[ -z $NODE ]] || ! [[ -d $sdk/sdk ]] || ! _reachable "$sdk/sdk/package.json"; then
	skip_all "node or the SDK is not here"
fi

# client.mjs FILE NAME TOOL JSON [HOW]: the server as its client starts it. A
# terminal's client hands over all variables and starts in the project, one of
# the desktop few of them and in /. The process ends by HOW: close, or a signal.
cat >client.mjs <<-END
	import { readFileSync } from 'node:fs';
	import { Client } from '$sdk/sdk/dist/esm/client/index.js';
	import { StdioClientTransport } from '$sdk/sdk/dist/esm/client/stdio.js';
	const [file, name, tool, json, how] = process.argv.slice(2);
	const root = new Function('return ' + readFileSync(file))();
	const s = (root.servers ?? root.mcpServers)[name];
	const fill = (t) => t.replaceAll('\${workspaceFolder}', process.cwd())
		.replaceAll(/\\$\{(?:env:)?(\w+)\}/g, (_, n) => process.env[n]);
	const env = Object.fromEntries(Object.entries(s.env ?? {})
		.map(([k, v]) => [k, fill(v)]));
	const desktop = file.includes('claude_desktop');
	const transport = new StdioClientTransport({
		command: fill(s.command), args: (s.args ?? []).map(fill),
		env: desktop ? env : { ...process.env, ...env },
		cwd: desktop ? '/' : process.cwd(),
	});
	const client = new Client({ name: 'a client', version: '1' });
	await client.connect(transport);
	const r = await client.callTool({ name: tool, arguments: JSON.parse(json) });
	console.log(r.content[0].text);
	if (how && how !== 'close')
		process.kill(transport.pid, how);
	else
		await client.close();
	process.exit(0);
END
mkdir project far
echo "not for servers" >far/file
echo "of the project" >project/file
cat >project/server.py <<-'END'
	import json, os, sys
	def read(path):
	    try:
	        return open(path).read().strip()
	    except OSError as e:
	        return "refused: " + e.strerror
	for line in sys.stdin:
	    m = json.loads(line)
	    if "id" not in m:
	        continue
	    r = {"jsonrpc": "2.0", "id": m["id"]}
	    if m["method"] == "initialize":
	        r["result"] = {"protocolVersion": m["params"]["protocolVersion"],
	            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
	    elif m["method"] == "tools/call":
	        p = m["params"]["arguments"]
	        text = read(p["path"]) if "path" in p else os.environ.get(p["name"], "unset")
	        r["result"] = {"content": [{"type": "text", "text": text}]}
	    else:
	        r["result"] = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
	    print(json.dumps(r), flush=True)
END
everything="\"all\": {\"command\": \"$NODE\", \"args\": [\"$sdk/server-everything/dist/index.js\", \"stdio\"]}"
cat >project/.mcp.json <<-END
	{"mcpServers": {"s": {"type": "stdio", "command": "$PYTHON", "args": ["./server.py", "mark-of-$T"],
		"env": {"API_TOKEN": "\${SOME_TOKEN}"}}, $everything}}
END
mkdir project/.vscode project/.cursor
cat >project/.vscode/mcp.json <<-END
	{ // of the project
		"servers": {"s": {"command": "$PYTHON", "args": ["\${workspaceFolder}/server.py", "mark-of-$T"],
			"env": {"API_TOKEN": "\${env:SOME_TOKEN}"},}, $everything,}, }
END
cat >project/.cursor/mcp.json <<-END
	{"mcpServers": {"s": {"command": "$PYTHON", "args": ["\${workspaceFolder}/server.py", "mark-of-$T"],
		"env": {"API_TOKEN": "\${env:SOME_TOKEN}"}}, $everything}}
END
cat >project/claude_desktop_config.json <<-END
	{"mcpServers": {"s": {"command": "$PYTHON", "args": ["$T/project/server.py", "mark-of-$T"],
		"env": {"API_TOKEN": "abcdefgh12345678"}}, $everything}}
END
export SOME_TOKEN=abcdefgh12345678 NOT_FOR_SERVERS=secret
cd project || exit

client() { # says what the tool of a server says
	timeout -k 5 120 "$NODE" ../client.mjs "$@" 2>"$T/client.err" ||
		diag "client $1 $2 $3: status $?" "$(tail -n 5 "$T/client.err")" >&2
}
mark="[m]ark-of-$T"
none_left() { # does no process of the servers run?
	for _ in {1..200}; do
		# the pattern does not find itself
		grep -qsa "$mark" /proc/[0-9]*/cmdline || return 0
		sleep 0.1
	done
	return 1
}
