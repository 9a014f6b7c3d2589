// What the suite says of checks that failed, or of which it warns.
import { readFileSync } from "node:fs";

for (const check of JSON.parse(readFileSync(process.argv[2])))
	if (check.status === "FAILURE" || check.status === "WARNING")
		console.log(`#   ${check.status} ${check.id}: ${check.errorMessage ?? ""}`);
