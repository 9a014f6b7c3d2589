// Parse the text of a job by what its scheduler's makers publish.
//
// schedulers.mjs MODULES k8s|nomad <TEXT
//
// k8s    YAML; the schemas of kubernetes-models judge values, and its types
//        tell which names there are: a schema takes any other name, too
// nomad  HCL2 by its makers' parser, printed as JSON; names are not judged
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, kind] = process.argv.slice(2);
const require = createRequire(path.join(modules, "/"));
const text = fs.readFileSync(0, "utf8");

// Types of the fields of a model: its declarations, as "I..." or not.
function fieldsOf(file) {
	const code = fs.readFileSync(file + ".d.ts", "utf8");
	const body = /^export interface \w+.*?\{\n(.*?)^\}/ms.exec(code)[1];
	const found = {};
	for (const [, name, type] of body.matchAll(/^ {4}"(\w+)"\??: (.*);$/gm)) {
		const model = /\bI(Io\w+)/.exec(type)?.[1];
		const from = model && code.match(
			new RegExp(`\\bI${model}\\b.* from "(.*)"`))[1];
		found[name] = !from ? null
			: from.startsWith(".") ? path.join(path.dirname(file), from)
			: path.join(modules, "node_modules", from);
	}
	return found;
}

function judgeNames(value, file, at) {
	if (Array.isArray(value)) {
		value.forEach((v, i) => judgeNames(v, file, `${at}[${i}]`));
		return;
	}
	const fields = fieldsOf(file);
	for (const [name, v] of Object.entries(value)) {
		if (!(name in fields))
			throw new Error(`${at}.${name}: there is no such field`);
		if (fields[name])
			judgeNames(v, fields[name], `${at}.${name}`);
	}
}

try {
	if (kind === "nomad") {
		const { parse } = require("@cdktf/hcl2json");
		console.log(JSON.stringify(await parse("job.hcl", text)));
	} else {
		const job = require("yaml").parse(text, { strict: true });
		const { Job } = require("kubernetes-models/batch/v1/Job");
		new Job(job).validate();
		judgeNames(job, path.join(modules,
			"node_modules/kubernetes-models/batch/v1/Job"), "job");
		console.log(JSON.stringify(job));
	}
} catch (e) {
	console.error(e.message);
	process.exit(1);
}
