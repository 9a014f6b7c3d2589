// A server of the official SDK behind a WebSocket server, which the
// specification does not know: `websocket.mjs` prints its port. Arguments
// make it misbehave: `close-on-call`, `wrong-protocol`, `token TOKEN`.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebSocketServer } from 'ws';
import { createServer } from 'node:http';

const [mode, token] = process.argv.slice(2);

// What the SDK calls a transport, over one socket.
function transport(socket) {
	return {
		async start() {
			socket.on('message', (text) =>
				this.onmessage?.(JSON.parse(text)));
			socket.on('close', () => this.onclose?.());
		},
		async send(message) {
			// in two parts, with a ping between
			const text = JSON.stringify(message);

			socket.send(text.slice(0, 7), { fin: false });
			socket.ping('still there');
			socket.send(text.slice(7), { fin: true });
		},
		async close() {
			socket.close(1000);
		},
	};
}

function serve(socket) {
	const server = new McpServer({ name: 'over-websocket', version: '1' });

	server.registerTool('echo', { description: 'Says hello' }, () => {
		if (mode === 'close-on-call')
			socket.terminate();
		return { content: [{ type: 'text', text: 'hello' }] };
	});
	server.connect(transport(socket));
}

const http = createServer((request, response) => {
	response.writeHead(400).end();
});
const sockets = new WebSocketServer({
	noServer: true,
	handleProtocols: (offered) => mode === 'wrong-protocol'
		? 'other' : offered.has('mcp') && 'mcp',
});

http.on('upgrade', (request, socket, head) => {
	if (mode === 'token' &&
	    request.headers.authorization !== `Bearer ${token}`) {
		socket.end('HTTP/1.1 401 Unauthorized\r\n' +
			'WWW-Authenticate: Bearer\r\n' +
			'Content-Length: 0\r\nConnection: close\r\n\r\n');
		return;
	}
	sockets.handleUpgrade(request, socket, head, serve);
});
http.listen(0, '127.0.0.1', () => console.log(http.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
