// A server of the official TypeScript SDK (version 1): the era of
// initialize, with requests of its own, tasks and lists of several pages.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from
	'@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { CreateMessageResultSchema, ListResourcesRequestSchema,
	 ListRootsResultSchema } from '@modelcontextprotocol/sdk/types.js';

const text = (t) => ({ content: [{ type: 'text', text: String(t) }] });
const server = new McpServer({ name: 'handshake', version: '1.0' }, {
	capabilities: {
		logging: {}, resources: {},
		tasks: { list: {}, cancel: {},
			 requests: { tools: { call: {} } } },
	},
	instructions: 'be kind',
	taskStore: new InMemoryTaskStore(),
	taskMessageQueue: new InMemoryTaskMessageQueue(),
});

server.registerTool('plain', {}, () => text('plain'));
server.registerTool('fails', {}, () => ({ ...text('it went wrong'),
					  isError: true }));
server.registerTool('log', {}, async () => {
	await server.server.sendLoggingMessage({ level: 'warning',
		logger: 'server', data: { at: 'disk' } });
	return text('logged');
});
server.registerTool('progress', {}, async (extra) => {
	const progressToken = extra._meta?.progressToken;

	for (let i = 1; i <= 3; i++)
		await extra.sendNotification({ method: 'notifications/progress',
			params: { progressToken, progress: i, total: 3 } });
	return text('all parts');
});
server.registerTool('change', {}, () => {
	for (let i = 0; i < 5; i++)
		server.sendToolListChanged();
	return text('changed');
});

// What the client has not declared, asked all the same.
server.registerTool('roots', {}, async (extra) => {
	try {
		const got = await extra.sendRequest({ method: 'roots/list' },
			ListRootsResultSchema);

		return text(got.roots.map((r) => r.uri).join(' '));
	} catch (e) {
		return text(`refused ${e.code}`);
	}
});
server.registerTool('sample', {}, async (extra) => {
	try {
		const got = await extra.sendRequest({
			method: 'sampling/createMessage', params: { maxTokens: 9,
				messages: [{ role: 'user', content: {
					type: 'text', text: 'hi' } }] } },
			CreateMessageResultSchema);

		return text(got.content.text);
	} catch (e) {
		return text(`refused ${e.code}`);
	}
});
server.registerTool('ask', {}, async () => {
	try {
		const got = await server.server.elicitInput({
			message: 'Who are you?', requestedSchema: {
				type: 'object', properties: {
					name: { type: 'string' },
					age: { type: 'integer', default: 7 } },
				required: ['name'] } });

		return text(got.action === 'accept'
			? `hello ${got.content.name}, ${got.content.age}`
			: `no: ${got.action}`);
	} catch (e) {
		return text(`refused: ${e.message}`);
	}
});
server.registerTool('ping', {}, async () => {
	await server.server.ping();
	return text('pong came');
});

server.experimental.tasks.registerToolTask('task', {
	execution: { taskSupport: 'optional' },
}, {
	async createTask(extra) {
		const task = await extra.taskStore.createTask({ ttl: 60000,
			pollInterval: 250 });

		setTimeout(() => extra.taskStore.storeTaskResult(task.taskId,
			'completed', text('from a task')), 300);
		return { task };
	},
	getTask: (extra) => extra.taskStore.getTask(extra.taskId),
	getTaskResult: (extra) => extra.taskStore.getTaskResult(extra.taskId),
});

// Three pages; the one in the middle is empty and not the end.
const pages = {
	first: [['a', 'b', 'c'], 'second'],
	second: [[], ''],
	'': [['d', 'e']],
};
server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
	const [names, nextCursor] = pages[params?.cursor ?? 'first'];

	return { resources: names.map((name) => ({ uri: `test://${name}`, name })),
		 nextCursor };
});

await server.connect(new StdioServerTransport());
