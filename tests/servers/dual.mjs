// A server of the official TypeScript SDK (version 2), which speaks both
// eras: 2025-11-25 with initialize, and 2026-07-28. One tool for each thing
// that a client must understand.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { ResourceTemplate, McpServer, acceptedContent, createMcpHandler,
	 fromJsonSchema, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const object = (properties = {}, required = []) =>
	fromJsonSchema({ type: 'object', properties, required });
const text = (t) => ({ content: [{ type: 'text', text: String(t) }] });
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk' +
	'+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function addContent(server) {
	server.registerTool('echo', {
		title: 'Echo', description: 'Says it again',
		inputSchema: object({ text: { type: 'string' } }, ['text']),
		annotations: { readOnlyHint: true },
	}, ({ text: t }) => text(t));
	server.registerTool('blocks', { description: 'One block of each type' },
		() => ({ content: [
			{ type: 'text', text: 'plain' },
			{ type: 'image', data: PIXEL, mimeType: 'image/png' },
			{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
			{ type: 'resource', resource: { uri: 'test://a', text: 'in' } },
			{ type: 'resource_link', uri: 'test://b', name: 'b' },
		] }));
	server.registerTool('structured', {
		outputSchema: object({ n: { type: 'integer' } }, ['n']),
	}, () => ({ content: [{ type: 'text', text: '{"n":42}' }],
		    structuredContent: { n: 42 } }));
	server.registerTool('fails', {}, () => ({ ...text('it went wrong'),
						  isError: true }));
	server.registerTool('throws', {}, () => { throw new Error('thrown'); });
}

// Over HTTP this argument goes into a header field, too.
function addHeaders(server) {
	server.registerTool('regional', {
		inputSchema: object({ region: { type: 'string',
						'x-mcp-header': 'Region' } }),
	}, ({ region }) => text(region));
}

function addSigns(server) {
	server.registerTool('progress', {}, async (ctx) => {
		const progressToken = ctx.mcpReq._meta?.progressToken;

		for (let i = 1; i <= 3; i++)
			await ctx.mcpReq.notify({
				method: 'notifications/progress',
				params: { progressToken, progress: i, total: 3,
					  message: `part ${i}` } });
		return text('all parts');
	});
	server.registerTool('log', {}, async (ctx) => {
		await ctx.mcpReq.log('warning', { at: 'disk' }, 'server');
		return text('logged');
	});
	server.registerTool('slow', {}, (ctx) => new Promise((done) => {
		const timer = setTimeout(() => done(text('late')), 60000);

		ctx.mcpReq.signal.addEventListener('abort', () => {
			clearTimeout(timer);
			console.error('slow: cancelled');
			done(text('cancelled'));
		});
	}));
	server.registerTool('change', {}, async () => {
		for (let i = 0; i < 5; i++)
			server.sendToolListChanged();
		return text('changed');
	});
}

// The same in both eras: a result that asks, or a request to the client.
function addQuestions(server) {
	server.registerTool('ask', {}, (ctx) => {
		const got = inputResponse(ctx.mcpReq.inputResponses, 'who');
		const content = acceptedContent(ctx.mcpReq.inputResponses, 'who');

		if (got.kind !== 'missing')
			return text(content ? `hello ${content.name}, ${content.age}`
				: `no: ${got.action}`);
		return inputRequired({ inputRequests: { who: inputRequired.elicit({
			message: 'Who are you?',
			requestedSchema: { type: 'object', properties: {
				name: { type: 'string' },
				age: { type: 'integer', default: 7 } },
				required: ['name'] } }) },
			requestState: 'state "é\u0001' });
	});
	server.registerTool('roots', {}, (ctx) => {
		const got = inputResponse(ctx.mcpReq.inputResponses, 'r');

		return got.kind === 'roots'
			? text(got.roots.map((r) => r.uri).join(' '))
			: inputRequired({ inputRequests: {
				r: inputRequired.listRoots() } });
	});
	server.registerTool('sample', {}, (ctx) => {
		const got = inputResponse(ctx.mcpReq.inputResponses, 's');

		return got.kind === 'sampling'
			? text(got.result.content.text)
			: inputRequired({ inputRequests: {
				s: inputRequired.createMessage({ maxTokens: 9,
					messages: [{ role: 'user', content: {
						type: 'text', text: 'hi' } }] }) } });
	});
}

function addRest(server) {
	server.registerResource('note', 'test://note',
		{ mimeType: 'text/plain', description: 'a note' },
		(uri) => ({ contents: [{ uri: uri.href, text: 'a note\n' }] }));
	server.registerResource('bytes', 'test://bytes', {},
		(uri) => ({ contents: [{ uri: uri.href, blob: 'AAEC/w==' }] }));
	server.registerResource('item',
		new ResourceTemplate('test://item/{id}', { list: undefined }), {},
		(uri, { id }) => ({ contents: [{ uri: uri.href, text: `item ${id}` }] }));
	server.registerPrompt('greet', {
		description: 'A greeting',
		argsSchema: object({ name: { type: 'string' } }, ['name']),
	}, ({ name }) => ({ messages: [{ role: 'user', content: {
		type: 'text', text: `Greet ${name}` } }] }));
}

function make() {
	const server = new McpServer({ name: 'dual', version: '2.0' }, {
		capabilities: { logging: {} }, instructions: 'be kind' });

	addContent(server);
	addSigns(server);
	addQuestions(server);
	addRest(server);
	addHeaders(server);
	return server;
}

// Over HTTP on a port of its own, which is printed.
function serveHttp(options) {
	const handler = createMcpHandler(make, options);
	const listener = createServer(async (req, res) => {
		const gone = new AbortController();
		const hasBody = req.method !== 'GET' && req.method !== 'HEAD';

		res.on('close', () => gone.abort());
		console.error(`${req.method} ${req.headers['mcp-method'] ?? ''} ` +
			`${req.headers['mcp-param-region'] ?? ''}`);
		const reply = await handler.fetch(new Request(
			`http://${req.headers.host}${req.url}`, {
				method: req.method, headers: req.headers,
				body: hasBody ? Readable.toWeb(req) : undefined,
				duplex: 'half', signal: gone.signal }));

		res.writeHead(reply.status, Object.fromEntries(reply.headers));
		if (reply.body)
			Readable.fromWeb(reply.body).on('error', () => {}).pipe(res);
		else
			res.end();
	});

	listener.listen(0, '127.0.0.1',
		() => console.log(listener.address().port));
}

const options = {
	legacy: process.argv.includes('modern') ? 'reject' : undefined };

if (process.argv.includes('http'))
	serveHttp(options);
else
	serveStdio(make, { legacy: options.legacy ?? 'serve' });
