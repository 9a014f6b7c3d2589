#!/usr/bin/env bash
# `add npm` installs an official server, with all of its packages, from a file.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

[[ -n $NODE && -x /usr/bin/npm ]] || skip_all "npm is not installed: make check-deps"

# ---- an official server, with all of its packages in one file ----

# Only what it needs is packed, of all that is installed for tests.
cat >needs.cjs <<-'END'
	const todo = process.argv.slice(2), { readFileSync } = require('fs');
	for (const name of todo) {
	  const about = JSON.parse(readFileSync(name + '/package.json'));
	  for (const next of Object.keys(about.dependencies || {}))
	    if (!todo.includes(next)) todo.push(next);
	}
	console.log(todo.slice(1).join('\n'));
END
modules=$TOP/build/npm/node_modules
if [[ -d $modules/@modelcontextprotocol/server-memory ]]; then
	cp -rL "$modules/@modelcontextprotocol/server-memory" memory
	mkdir memory/node_modules
	(cd "$modules" && node "$T/needs.cjs" @modelcontextprotocol/server-memory |
		xargs cp -r --parents -t "$T/memory/node_modules")
	node -e "const f = 'memory/package.json', p = JSON.parse(require('fs').readFileSync(f)); p.bundleDependencies = Object.keys(p.dependencies); delete p.scripts; require('fs').writeFileSync(f, JSON.stringify(p))"
	(cd memory && npm pack --pack-destination .. >/dev/null 2>&1)
	LIMIT_S=180 offline_matins add npm modelcontextprotocol-server-memory-*.tgz \
		--name memory
	exit_is "an official server, offline" 0
	offline_matins servers test memory
	exit_is "it runs offline" 0
else
	skip "an official server, offline" "it is not installed: make check"
fi

# ---- the registry, only where it is asked for ----

if [[ ${MATINS_TEST_REGISTRY:-} == 1 ]]; then
	LIMIT_S=300 run_matins add npm \
		@modelcontextprotocol/server-sequential-thinking --name thinking
	exit_is "a package of the registry" 0
	offline_matins servers test thinking
	exit_is "it runs offline from then on" 0
else
	skip "a package of the registry" "MATINS_TEST_REGISTRY=1 asks for it"
fi

done_testing
