#!/usr/bin/env node
// Stands for a browser and its user: opens the page, goes where it leads.
import { appendFileSync } from "node:fs";
import { get } from "node:http";

// As a navigation, not as a script of a page would ask.
const open = (url) => new Promise((resolve, reject) => {
	get(url, (answer) => {
		answer.resume();
		resolve(answer.headers.location);
	}).on("error", reject);
});

let url = process.argv[2];

for (let i = 0; i < 10; i++) {
	const next = await open(url);

	if (!next)
		break;
	url = new URL(next, url).href;
	const code = new URL(url).searchParams.get("code");
	if (code && process.env.MATINS_CONFORMANCE_SEEN)
		appendFileSync(process.env.MATINS_CONFORMANCE_SEEN, code + "\n");
}
