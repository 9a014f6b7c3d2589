// Ordinary things that node programs do: node.mjs NAME FOLDER. Each prints the
// same wherever it works.
import assert from "node:assert";
import child from "node:child_process";
import crypto from "node:crypto";
import events from "node:events";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import stream from "node:stream/promises";
import timers from "node:timers/promises";
import url from "node:url";
import worker from "node:worker_threads";
import zlib from "node:zlib";
import { createRequire } from "node:module";

const dir = process.argv[3];
const self = url.fileURLToPath(import.meta.url);
const sum = (n) => {
	let s = 0;
	for (let i = 0; i < n; i++) s = (s + i * i) % 1000003;
	return s;
};
const served = async (body) => {
	const s = http.createServer((q, r) => r.end("served " + q.url));
	s.listen(0, "127.0.0.1");
	await events.once(s, "listening");
	await body(s.address().port);
	s.close();
	s.closeAllConnections();
};

const programs = {
	async workers() {
		const code = `const w = require("worker_threads");
			let s = 0;
			for (let i = 0; i < 1e6; i++) s = (s + i) % 1009;
			w.parentPort.postMessage(s + w.workerData);`;
		const all = [1, 2, 3, 4].map((workerData) => events.once(
			new worker.Worker(code, { eval: true, workerData }),
			"message"));
		console.log((await Promise.all(all)).flat().join());
	},
	async shared() {
		const b = new Int32Array(new SharedArrayBuffer(4));
		const w = new worker.Worker(`const { workerData: b } =
			require("worker_threads"); Atomics.add(b, 0, 5);
			Atomics.notify(b, 0);`, { eval: true, workerData: b });
		await events.once(w, "exit");
		console.log(Atomics.load(b, 0));
	},
	jit() { console.log(sum(3e7)); },
	wasm() {
		const m = new WebAssembly.Module(new Uint8Array([0, 97, 115,
			109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3,
			2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7,
			0, 32, 0, 32, 1, 106, 11]));
		console.log(new WebAssembly.Instance(m).exports.add(40, 2));
	},
	async wasmMemory() {
		const m = new WebAssembly.Memory({ initial: 10, maximum: 100 });
		m.grow(50);
		console.log(m.buffer.byteLength);
	},
	exec() {
		console.log(child.execFileSync("sort",
			{ input: "b\na\n" }).toString());
	},
	shell() { console.log(child.execSync("echo $((6*7))").toString()); },
	async spawn() {
		const c = child.spawn("cat");
		c.stdin.end("through a pipe");
		console.log((await c.stdout.toArray()).join(""));
	},
	async fork() {
		const c = child.fork(self, ["answer"]);
		console.log(await events.once(c, "message"));
	},
	answer() { process.send({ n: 42 }); process.disconnect(); },
	self() {
		console.log(child.execFileSync(process.execPath,
			["-p", "6*7"]).toString());
	},
	files() {
		fs.mkdirSync(path.join(dir, "a/b"), { recursive: true });
		fs.writeFileSync(path.join(dir, "a/b/c"), "text");
		fs.renameSync(path.join(dir, "a/b/c"), path.join(dir, "a/d"));
		fs.symlinkSync("d", path.join(dir, "a/l"));
		fs.copyFileSync(path.join(dir, "a/d"), path.join(dir, "a/e"));
		fs.chmodSync(path.join(dir, "a/e"), 0o600);
		fs.rmSync(path.join(dir, "a/b"), { recursive: true });
		console.log(fs.readdirSync(path.join(dir, "a")).join(),
			fs.readFileSync(path.join(dir, "a/l"), "utf8"));
	},
	async promises() {
		const h = await fs.promises.open(path.join(dir, "p"), "w+");
		await h.write("hello", 0);
		await h.sync();
		await h.truncate(3);
		console.log((await h.stat()).size);
		await h.close();
	},
	async watch() {
		const seen = events.once(fs.watch(dir), "change");
		const timer = setInterval(() =>
			fs.writeFileSync(path.join(dir, "w"), "x"), 20);
		console.log((await seen)[1]);
		process.exit(clearInterval(timer));
	},
	temporary() {
		const d = fs.mkdtempSync(path.join(os.tmpdir(), "x-"));
		fs.writeFileSync(path.join(d, "f"), "x");
		console.log(fs.readdirSync(d).length);
		fs.rmSync(d, { recursive: true });
	},
	hash() {
		console.log(crypto.createHash("sha256").update("x")
			.digest("hex").slice(0, 8), crypto.randomBytes(9).length);
	},
	async keys() {
		const k = crypto.generateKeyPairSync("ed25519");
		const s = crypto.sign(null, Buffer.from("x"), k.privateKey);
		console.log(crypto.verify(null, Buffer.from("x"),
			k.publicKey, s), crypto.scryptSync("a", "b", 8).length);
	},
	async zip() {
		const b = Buffer.alloc(1 << 20, "abc");
		console.log(zlib.gunzipSync(zlib.gzipSync(b)).equals(b),
			zlib.brotliDecompressSync(
				zlib.brotliCompressSync(b)).length);
	},
	async streams() {
		await stream.pipeline(fs.createReadStream(self),
			zlib.createGzip(), zlib.createGunzip(),
			fs.createWriteStream(path.join(dir, "copy")));
		console.log(fs.readFileSync(path.join(dir, "copy")).equals(
			fs.readFileSync(self)));
	},
	async server() {
		await served(async (port) => {
			http.get({ port, host: "127.0.0.1", path: "/x" }, async (r) =>
				console.log((await r.toArray()).join("")));
			await timers.setTimeout(300);
		});
	},
	async fetch() {
		await served(async (port) => console.log(await (
			await fetch(`http://127.0.0.1:${port}/y`)).text()));
	},
	async fetchPort() {
		const r = await fetch(`http://127.0.0.1:${dir}/z`);
		console.log(r.status, await r.text());
	},
	async sockets() {
		const s = net.createServer((c) => c.end("hello"));
		s.listen(0, "127.0.0.1");
		await events.once(s, "listening");
		const c = net.connect(s.address().port, "127.0.0.1");
		console.log((await c.toArray()).join(""));
		s.close();
	},
	async imports() {
		const m = await import("./package/module.mjs");
		const r = createRequire(import.meta.url);
		console.log(m.default, r("./package/common.cjs"));
	},
	async timers() {
		const t = await Promise.all([1, 2, 3].map((n) =>
			timers.setTimeout(n, n)));
		console.log(t.join());
	},
	intl() {
		console.log(new Intl.NumberFormat("de-DE").format(1234.5),
			new Date(0).toISOString());
	},
	machine() {
		console.log(os.cpus().length > 0, os.totalmem() > 0,
			os.userInfo().username.length > 0, os.hostname().length > 0);
	},
	async signals() {
		const seen = events.once(process, "SIGUSR2");
		const alive = setInterval(() => {}, 1000);
		process.kill(process.pid, "SIGUSR2");
		console.log((await seen)[0]);
		clearInterval(alive);
	},
	memory() {
		const all = [];
		for (let i = 0; i < 30; i++) all.push(Buffer.alloc(5 << 20, i));
		console.log(all.reduce((n, b) => n + b.length, 0));
	},
	heap() {
		const all = [];
		for (let i = 0; i < 1e6; i++) all.push({ i });
		console.log(all.length);
	},
	async manyProcesses() {
		const one = (n) => new Promise((done) => child.execFile(
			process.execPath, ["-p", String(n)],
			(e, o) => done(e ? "failed" : o.trim())));
		console.log((await Promise.all([1, 2, 3, 4].map(one))).join());
	},
	asserts() {
		assert.throws(() => fs.readFileSync("/nonexistent"), /ENOENT/);
		console.log("asserted");
	},
	stdin() { console.log(fs.readFileSync(0).length); },
};
await programs[process.argv[2]]();
