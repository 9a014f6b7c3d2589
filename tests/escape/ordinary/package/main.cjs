#!/usr/bin/env node
console.log("from a package", process.argv.length, require("./common.cjs"));
