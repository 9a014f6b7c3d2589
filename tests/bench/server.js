// The stub server in node: as much of it as one step needs.
const lines = require("readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
	const request = JSON.parse(line);
	if (request.id === undefined)
		return;
	const result = request.method === "initialize"
		? { protocolVersion: request.params.protocolVersion,
		    capabilities: { tools: {} },
		    serverInfo: { name: "stub", version: "1" } }
		: { content: [{ type: "text", text: "x".repeat(64) }] };
	console.log(JSON.stringify({ jsonrpc: "2.0", id: request.id, result }));
});
