// The client under test for the public conformance suite: each scenario is
// some commands of matins. Called as `client.mjs URL` with the scenario, the
// date and a context in the environment; MATINS names the program. Everything
// that the commands wrote is searched for secrets at the end.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const date = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const here = fileURLToPath(new URL(".", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "matins-conformance-"));
const secrets = [];
let written = "";
let status = 0;

process.on("exit", () => rmSync(dir, { recursive: true, force: true }));

// A value in a file of its own, as the options want it.
function file(name, text) {
	const path = join(dir, name);

	secrets.push(text.trim());
	writeFileSync(path, text, { mode: 0o600 });
	return path;
}

function matins(command, ...args) {
	const end = args.indexOf("--url") < 0 ? ["--url", url] : [];
	const r = spawnSync(process.env.MATINS, [command, ...args, ...end], {
		cwd: dir,
		encoding: "utf8",
		maxBuffer: 1 << 28,
		env: {
			PATH: process.env.PATH,
			HOME: dir,
			MATINS_STATE: join(dir, "state"),
			MATINS_CONFORMANCE_SEEN: join(dir, "seen"),
		},
	});

	written += r.stdout + r.stderr;
	process.stdout.write(r.stdout);
	process.stderr.write(r.stderr);
	if (r.status !== 0 && status === 0)
		status = r.status ?? 1;
	return r.stdout;
}

const pinned = date ? ["--protocol", date] : [];
const login = ["--browser", join(here, "browser.mjs")];
const identity = ["--oauth-client-metadata-url",
	"https://conformance-test.local/client-metadata.json"];
const registered = () => ["--oauth-client-id", context.client_id,
	"--oauth-client-secret-file", file("secret", context.client_secret)];
const grant = (name) => ["--oauth-grant", name];

// A secret is used at an issuer that its user names. Where the suite does not
// tell it, the first run must refuse, and its advice is followed as a user does
// who knows that server: it is the suite's own, on this machine.
function atIssuer(run) {
	const before = { status, bytes: written.length };
	let { issuer } = context;

	if (!issuer) {
		run();
		issuer = /add issuer = "(http:\/\/localhost:\d+[^"]*)"/
			.exec(written.slice(before.bytes))?.[1];
		if (!issuer || status === 0)
			throw new Error("no issuer was asked for");
		status = before.status;
	}
	run("--oauth-issuer", issuer);
}

function callTestTool(...options) {
	matins("call", "test-tool", ...pinned, ...options);
}

const scenarios = {
	"initialize": () => matins("tools", ...pinned),
	"tools_call": () => matins("call", "add_numbers", "a:=5", "b:=3", ...pinned),
	"elicitation-sep1034-client-defaults": () =>
		matins("call", "test_client_elicitation_defaults", "--elicit",
			"accept", ...pinned),
	"sse-retry": () => matins("call", "test_reconnection", ...pinned),
	"request-metadata": () => matins("tools", ...pinned),
	"sep-2322-client-request-state": () => {
		const lines = ["test_mrtr_echo_state", "test_mrtr_unrelated",
			"test_mrtr_no_state", "test_mrtr_no_result_type"]
			.map((tool) => JSON.stringify({ tool, arguments: {} }));
		const batch = join(dir, "batch");

		writeFileSync(batch, lines.join("\n") + "\n");
		matins("call", "--batch", batch, "-j", "2", "--elicit", "accept",
			"--elicit-content", '{"confirmed":true}', ...pinned);
	},
	"http-standard-headers": () => {
		const list = (command) =>
			JSON.parse(matins(command, "--json", ...pinned))[command];

		for (const tool of list("tools"))
			matins("call", tool.name, "--args", "{}", ...pinned);
		for (const resource of list("resources"))
			matins("read", resource.uri, ...pinned);
		for (const prompt of list("prompts"))
			matins("prompt", prompt.name, ...pinned);
	},
	"http-custom-headers": () => {
		for (const call of context.toolCalls)
			matins("call", call.name, "--args",
				JSON.stringify(call.arguments), ...pinned);
	},
	"http-invalid-tool-headers": () => {
		const { tools } = JSON.parse(matins("tools", "--json", ...pinned));

		for (const tool of tools)
			matins("call", tool.name, "--args",
				JSON.stringify(sample(tool.inputSchema)), ...pinned);
	},
	"json-schema-ref-no-deref": () => matins("tools", ...pinned),
	"json-schema-2020-12-preservation": () => {
		const tool = JSON.parse(
			matins("tools", "json_schema_2020_12_tool", "--json", ...pinned));

		matins("call", "json_schema_echo", "--args",
			JSON.stringify({ schema: tool.inputSchema }), ...pinned);
	},
	"auth/pre-registration": () =>
		atIssuer((...at) => callTestTool(...login, ...registered(), ...at)),
	"auth/client-credentials-basic": () =>
		atIssuer((...at) => matins("tools", ...pinned,
			...grant("client_credentials"), ...registered(), ...at)),
	"auth/client-credentials-jwt": () =>
		atIssuer((...at) => matins("tools", ...pinned,
			...grant("client_credentials"),
			"--oauth-client-id", context.client_id,
			"--oauth-private-key-file", file("key.pem", context.private_key_pem),
			"--oauth-signing-alg", context.signing_algorithm ?? "ES256",
			...at)),
	"auth/enterprise-managed-authorization": () =>
		atIssuer((...at) => callTestTool(...grant("id-jag"), ...registered(),
			"--idp-token-endpoint", context.idp_token_endpoint,
			"--idp-client-id", context.idp_client_id,
			"--idp-issuer", context.idp_issuer,
			"--idp-id-token-file", file("id-token", context.idp_id_token),
			...at)),
	"auth/wif-jwt-bearer": () =>
		atIssuer((...at) => matins("tools", ...pinned, ...grant("jwt-bearer"),
			"--oauth-client-id", context.client_id,
			"--oauth-assertion-file", file("assertion", context.valid_jwt),
			...at)),
};

// Arguments that a schema of a scenario accepts: what is required, by type.
function sample(schema) {
	const values = { string: "a", integer: 1, number: 1, boolean: true,
		object: {}, array: [] };
	const properties = schema.properties ?? {};

	return Object.fromEntries((schema.required ?? []).map(
		(name) => [name, values[properties[name]?.type] ?? null]));
}

// Of a file that the browser wrote: codes and states of the redirects.
function seen() {
	try {
		return readFileSync(join(dir, "seen"), "utf8").split("\n");
	} catch {
		return [];
	}
}

function everyFile(path) {
	return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
		const inner = join(path, entry.name);

		return entry.isDirectory() ? everyFile(inner) : [inner];
	});
}

// Tokens of the suite's servers begin with these words.
const tokens = /\b(test-token-[\w-]+|test-auth-code[\w-]*|dpop-token[\w-]*)/g;

function checkSecrets() {
	const state = join(dir, "state");
	const texts = [["what was printed", written]];
	const found = new Set([...secrets, ...seen()].filter((s) => s.length > 5));

	if (statSync(state, { throwIfNoEntry: false }))
		for (const path of everyFile(state))
			texts.push([path, readFileSync(path, "latin1")]);
	for (const [where, text] of texts) {
		for (const secret of found)
			if (text.includes(secret))
				leak(where, secret);
		for (const [token] of text.matchAll(tokens))
			leak(where, token);
	}
}

function leak(where, secret) {
	console.error(`a secret is in ${where}: ${secret.slice(0, 8)}…`);
	process.exitCode = status = 99;
}

if (scenarios[scenario])
	scenarios[scenario]();
else if (scenario.startsWith("auth/"))
	callTestTool(...login, ...identity);
else
	throw new Error(`no commands for ${scenario}`);
checkSecrets();
process.exitCode = status;
