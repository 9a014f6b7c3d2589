#!/usr/bin/env bash
# `import`: servers of other clients become servers here. Nothing of them is
# lost in silence, no credential reaches the configuration, and what is written
# passes `check`.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

cp -r "$TOP/tests/blackbox/import" given
export USER=josephine REGION=eu-1 TENANT=t-1
export DEPLOY_URL=abcdefghij
# credentials in clear of the files
secrets='tk_abcd|hunter2|ghp_0123|wk_abcd|bx_abcd|ek_abcd|session=abc'
secrets+='|gs_abcd|dk_abcd|sk-abcd|hf_abcd|abcdefgh12345678'

# ---- each client's file: written, checked, and written again ----

for given in given/*.{json,toml,yaml}; do
	name=${given##*/}
	mkdir "w-$name"
	cd "w-$name" || exit
	run_matins import "../$given"
	exit_is "$name: printed" 0
	ok "$name: nothing is written without --write" \
		test -z "$(ls -A)"
	unlike "$name: no credential is printed" "$(cat "$out" "$err")" "$secrets"
	run_matins import "../$given" --write
	exit_is "$name: written" 0
	unlike "$name: no credential in the difference" "$(cat "$out" "$err")" "$secrets"
	unlike "$name: no credential in the configuration" \
		"$(cat matins.toml)" "$secrets"
	is "$name: key files are the user's alone" \
		"$(find keys -type f ! -perm 600 2>/dev/null)" ""
	run_matins check
	exit_is "$name: the result passes check" 0
	cp matins.toml first
	run_matins import "../$given" --write
	exit_is "$name: once more" 0
	is "$name: a second import changes nothing" \
		"$(cat matins.toml)" "$(cat first)"
	cd ..
done

# ---- what becomes of them ----

row() { # FILE ROW: the configuration has this line
	ok "$1: $2" grep -qxF -- "$2" "w-$1/matins.toml"
}
row cursor.json "args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \"$T/given/notes\"]"
row cursor.json '[servers.files-2]'
row cursor.json 'token = { file = "keys/tickets-token" }'
row cursor.json 'env.DB_HOST = "db.example.com"'
row cursor.json 'env.DB_USER = { env = "USER" }'
row cursor.json '# not carried: the key "alwaysAllow" has no counterpart'
row cursor.json 'enabled = false'
row codex.toml 'enabled = false'
row claude_desktop_config.json 'args = ["-y", "@modelcontextprotocol/server-github"]'
row claude_desktop_config.json 'url = "https://wiki.example.com/sse"'
row claude_desktop_config.json 'args = ["run", "-i", "--rm", "-e", "BOX_TOKEN", "example/box"]'
row vscode.json 'env.SEARCH_KEY = { env = "SEARCH_KEY" }'
row vscode.json 'url = "https://events.example.com/${REGION:-eu-1}/sse"'
row vscode.json 'transport = "sse"'
row vscode.json 'headers.Cookie = { file = "keys/events-Cookie" }'
row vscode.json 'headers.X-API-Key = { file = "keys/events-X-API-Key" }'
row vscode.json "command = \"$HOME/bin/search\""
row zed.json '[servers."custom one"]'
row gemini.json 'timeout = "5000ms"'
row gemini.json "cwd = \"$T/given/srv\""
row gemini.json 'tools = ["a", "b"]'
row gemini.json 'deny_tools = ["c"]'
row gemini.json '# not carried: includeTools: the arguments of "b(x)"; the whole tool is meant here'
row codex.toml 'tools = ["read", "list"]'
row codex.toml 'deny_tools = ["list"]'
row codex.toml 'timeout = "45s"'
row codex.toml 'token = { env = "REMOTE_TOKEN" }'
row codex.toml 'headers.X-Region = "${REGION}"'
row goose.yaml 'env.GREETING = "yes: no"'
row goose.yaml 'timeout = "300s"'
row mcporter.json 'args = ["-y", "example-tools"]'
row mcporter.json 'env.LEVEL = "info"'
row windsurf.json 'args = ["--api-key", "***"]'
row windsurf.json 'env.PASS_PHRASE = { file = "/etc/hostname" }'
row lmstudio.json 'token = { file = "keys/hf-token" }'
row claude.json '[servers.app]'
row modulex.json 'args = ["serve"]'
row modulex-table.json 'args = ["serve"]'
is "a token is in its file, without Bearer" \
	"$(cat w-claude_desktop_config.json/keys/wiki-token)" wk_abcdefghijklmnop5678
is "and an argument that was one" \
	"$(cat w-windsurf.json/keys/keys-argument)" sk-abcdefghijklmnop1234

run_matins import given/cursor.json
err_like "a name of two servers is said" 'files of given/cursor.json .* becomes files-2'
printf '{"mcpServers": {"a": {"command": "true", "includeTools": []}, "b": {"command": "true", "tools": ["*"]}}}' >none.json
run_matins import none.json
out_like "an empty list of the only tools leaves none" '^deny_tools = \["\*"\]$'
out_like "all tools" '^tools = \["\*"\]$'
run_matins import given/zed.json
err_like "a server that cannot be had is said" \
	'mcp-server-postgres: not imported: .*neither a program nor a url'
run_matins import given/goose.yaml
err_like "so is what is built in" 'developer: not imported: .*builtin'

# ---- what no configuration takes as it is written ----

mkdir odd
cd odd || exit
cp /bin/true 'a program'
cat >odd.json <<-'END'
	{"mcpServers": {
		"line": {"command": "true -y @example/server"},
		"path": {"command": "/bin/true x.py"},
		"blank": {"command": "./a program", "args": ["x"]},
		"shell": {"command": "true /x | true"},
		"plain": {"url": "http://192.168.1.5:8080/mcp"},
		"token": {"url": "http://192.168.1.5:8080/mcp", "headers": {"Authorization": "Bearer abcdefgh12345678"}},
		"here": {"url": "http://127.0.0.1:8080/mcp"},
		"good": {"command": "true"}
	}}
END
run_matins import odd.json --write
exit_is "servers that no configuration takes: status" 1
file_has "a line of words is split" matins.toml 'args = ["-y", "@example/server"]'
file_has "so is one with the path of a program" matins.toml 'command = "/bin/true"'
file_has "a path with a blank is one word" matins.toml 'command = "./a program"'
err_like "a line of a shell is left out" 'shell: not imported: "command" is one program'
err_like "so is plain http that would carry a credential" 'token: not imported: plain http is for loopback only'
ok "no key file is made for it" test ! -e keys
is "plain http is switched off" "$(grep -A 4 '^\[servers.plain\]' matins.toml | grep -c 'enabled = false\|insecure_http = true')" 2
file_like "plain http: a comment says why" matins.toml '^# enabled = false, as plain http can be read and changed'
file_unlike "neither is in the file" matins.toml 'servers.(shell|token)'
run_matins check
exit_is "what is written passes check" 0
cp matins.toml first
run_matins import odd.json --write
ok "a second import changes nothing" cmp matins.toml first
cd ..

# ---- into a configuration that is there ----

mkdir into
cd into || exit
cat >matins.toml <<-'END'
	# mine
	[servers.gh] # by hand
	command = "other"

	[routines.r]
	steps = [{ name = "s", type = "script", command = "true" }] # stays
END
cp matins.toml old
chmod 600 matins.toml
run_matins import ../given/modulex.json --write
exit_is "into a file: status" 0
err_like "another server of that name is left" 'becomes gh-2'
is "every byte that was there stays" "$(head -n 6 matins.toml)" "$(cat old)"
file_has "the server stands behind it" matins.toml '[servers.gh-2]'
run_matins run r
exit_is "and it works" 0
printf '[servers]\ngh = { command = "x" }\n[servers.y' >bad.toml
run_matins import -c bad.toml ../given/modulex.json --write
exit_is "a broken configuration: status" 1
is "a broken configuration stays" "$(tail -n 1 bad.toml)" "[servers.y"
printf 'servers = { z = { command = "x" } }\n' >inline.toml
cp inline.toml inline.old
run_matins import -c inline.toml ../given/lmstudio.json --write
exit_is "a form that takes no table: status" 1
ok "and the file stays" cmp inline.toml inline.old
ok "and no key file is made" test ! -e keys
run_matins import -c new.toml ../given/lmstudio.json --write
exit_is "a file that is not there yet is made" 0
file_has "with the server" new.toml '[servers.hf]'
sed -i s/hf_/hf_2/ ../given/lmstudio.json
run_matins import -c new.toml ../given/lmstudio.json --write
file_has "another token is another server" new.toml '[servers.hf-2]'
is "and the first file keeps its own" \
	"$(cat keys/hf-token)" hf_abcdefghijklmnopqrstuvwx
cd ..

# ---- clients and their places ----

run_matins import --all
exit_is "--all: no client is here: status" 1
err_like "and how to see where is looked" 'no MCP server .*--from CLIENT says where'
mkdir -p "$HOME/.cursor" "$XDG_CONFIG_HOME/zed" proj/.vscode
echo '{"mcpServers": {}}' >"$HOME/.cursor/mcp.json"
run_matins import --from cursor
exit_is "--from: a file without a server: status" 1
cp given/cursor.json "$HOME/.cursor/mcp.json"
cp given/zed.json "$XDG_CONFIG_HOME/zed/settings.json"
cp given/vscode.json proj/.vscode/mcp.json
cd proj || exit
run_matins import --from cursor
exit_is "--from: status" 0
out_like "--from: the server" '^\[servers.tickets\]'
run_matins import --all
exit_is "--all: status" 0
out_like "--all: of the user" '^\[servers.tickets\]'
out_like "--all: and of the project" '^\[servers.events\]'
err_like "--all: files are named" 'vscode/mcp.json: 2 servers of VS Code'
echo '{' >.vscode/mcp.json
run_matins import --all
exit_is "--all: a broken file is status 1" 1
out_like "and the others are there" '^\[servers.tickets\]'
run_matins import --from goose
exit_is "a client that is not here: status" 1
err_like "a client that is not here: where it was looked for" 'goose/config.yaml'
run_matins import --from cursro
exit_is "an unknown client: usage" 64
run_matins import
exit_is "nothing named: usage" 64
run_matins import x --all
exit_is "two things named: usage" 64
mkdir -p "$HOME/.modulex"
"$PYTHON" - "$HOME/.modulex/store.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("PRAGMA journal_mode = WAL")
	db.execute("CREATE TABLE mcp_servers (name TEXT PRIMARY KEY, command TEXT, args_json TEXT, note TEXT)")
	db.executemany("INSERT INTO mcp_servers VALUES (?, ?, ?, ?)", [
	    ("gh", "gh-mcp", '["serve", "é"]', "issues"), ("plain", "true", None, None)])
	db.commit()
	db.close()
END
sum=$(sha256sum "$HOME/.modulex/store.db")
run_matins import --from modulex
exit_is "a database: status" 0
out_like "a database: a server" '^args = ..serve., .é.'
out_like "a database: one without arguments" '^\[servers.plain\]'
unlike "a database: nothing is lost" "$(cat "$err")" 'not carried'
is "a database is not written to" "$(sha256sum "$HOME/.modulex/store.db")" "$sum"
is "and gets no files beside it" "$(ls "$HOME/.modulex")" store.db
run_matins wrap "$HOME/.modulex/store.db" --write
exit_is "a database cannot be wrapped" 1
err_like "and that is said" 'store.db stays as it is'
is "it stays as it is" "$(sha256sum "$HOME/.modulex/store.db")" "$sum"
echo x >"$HOME/.modulex/store.db-wal"
run_matins import --from modulex
err_like "a database that is in use: said" 'store.db-wal has writes'
rm "$HOME/.modulex/store.db-wal"
cp "$HOME/.modulex/store.db" whole.db
"$PYTHON" - "$HOME/.modulex/store.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("UPDATE mcp_servers SET command = CAST(X'e001' AS TEXT) WHERE name = 'plain'")
	db.commit()
	db.execute("PRAGMA journal_mode = DELETE")
	db.close()
END
run_matins import --from modulex
exit_is "a database with a text of any bytes: status" 1
err_like "a database with a text of any bytes: its place" 'the database: row 2, column 2 is not UTF-8'
cp whole.db "$HOME/.modulex/store.db"
truncate -s 3000 "$HOME/.modulex/store.db"
run_matins import --from modulex
exit_is "a database that was cut: status" 1
err_like "a database that was cut: said" 'store.db: the database: '
printf 'SQLite format 3\0' >"$HOME/.modulex/store.db"
run_matins import --from modulex
exit_is "a database of a few bytes: status" 1
cd ..

# ---- hostile files ----

mkdir hostile
cd hostile || exit
bad() { # TITLE FILE PATTERN
	run_matins import "$2" --write
	exit_is "$1: status" 1
	err_like "$1: said" "$3"
	ok "$1: nothing is written" test ! -e matins.toml
}
mkfifo pipe.json
bad "a FIFO" pipe.json 'pipe.json'
bad "a folder" . 'import|\.'
truncate -s 100M large.json
bad "100 MB" large.json 'large.json'
"$PYTHON" -c 'print("[" * 100000)' >deep.json
bad "deep JSON" deep.json 'deep.json'
"$PYTHON" -c 'print("[" * 100000)' >deep.yaml
bad "deep YAML" deep.yaml 'deep.yaml'
"$PYTHON" - <<-'END'
	import json
	def put(name, servers):
	    json.dump({"mcpServers": servers}, open(name, "w"))
	put("args.json", {"a": {"command": "x", "args": ["${A%d}" % i for i in range(5000)]}})
	put("values.json", {"a%d" % i: {"command": "x", "args": ["y"] * 900} for i in range(12)})
	put("same.json", {"a%d" % k: {"command": "x", "env": {
	    "TOKEN_" + "A" * 200 + str(i): "abcdefgh%d" % i for i in range(400)}} for k in range(4)})
	open("anchors.yaml", "w").write("a:\n" + "".join("- &a%d x\n" % i for i in range(60000)))
END
run_matins import args.json
err_like "a server with many arguments" 'a: not imported: .*more than 1000 values'
bad "many values" values.json 'more than 10000 values'
bad "many anchors" anchors.yaml 'more than 1000 anchors'
begin=$SECONDS
run_matins import same.json
ok "keys whose files would have one name: in time" test $((SECONDS - begin)) -lt 8
is "and each has a file of its own" \
	"$(grep -o 'file = "[^"]*"' "$out" | sort -u | grep -c .)" 1600
printf '{"mcpServers": {"a": {"command": "x\\u0000y"}}}' >nul.json
bad "a NUL" nul.json 'NUL'
echo '{"a": {"b": 1}}' >none.json
bad "no servers" none.json 'no MCP servers'
ln -s none.json link.json
bad "a link is its file" link.json 'no MCP servers'
echo '{"<<": {"command": "true"}, "aa": {"command": "echo"}}' >merge.json
run_matins import merge.json
out_like "a name of YAML for all the rest hides no server beside it" 'servers\.aa'
cat >names.json <<-'END'
	{"mcpServers": {
		"a\"]\n[caveats]\nx = \"": {"command": "x", "description": "y\n[caveats]\n\u202e"},
		"../../up": {"command": "x", "env": {"../TOKEN": "abcdefgh12345678", "A\nB": "1"}},
		"\u202edab": {"url": "https://h/\u001b[31m", "headers": {"A": "b\r\nC: d"}},
		"": {"command": "y", "args": ["\u001b]0;x\u0007", {"deep": []}]}
	}}
END
run_matins import names.json --write
exit_is "hostile names: status" 0
unlike "nothing of them reaches the terminal" "$(cat "$out" "$err")" \
	$'\x1b|\u202e|\x07'
ok "no table of theirs" test -z "$(grep -n '^\[caveats' matins.toml)"
run_matins check
exit_is "hostile names: the result passes check" 0
is "no key file leaves its folder" "$(find "$T/up" "$T"/../*TOKEN "$T"/hostile/*TOKEN 2>/dev/null)" ""
is "the key file" "$(cat keys/*TOKEN)" abcdefgh12345678
mkdir linked
cd linked || exit
mkdir "$T/elsewhere"
ln -s "$T/elsewhere" keys
run_matins import "$T/given/claude_desktop_config.json" --write
exit_is "a link in place of keys/: refused" 1
is "nothing is written behind the link" "$(ls "$T/elsewhere")" ""
cd ../..

# ---- --trace ----

mkdir traced
cd traced || exit
mkdir ../far
echo "far away" >../far/file
cat >server.py <<-END
	import json, os, sys
	open("$T/far/file").read()
	assert os.environ["API_TOKEN"] == "abcdefgh12345678"
	for line in sys.stdin:
	    m = json.loads(line)
	    if "id" not in m:
	        continue
	    reply = {"jsonrpc": "2.0", "id": m["id"]}
	    if m["method"] == "initialize":
	        reply["result"] = {"protocolVersion": m["params"]["protocolVersion"],
	            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
	    elif m["method"] == "tools/list":
	        reply["result"] = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
	    else:
	        reply["error"] = {"code": -32601, "message": "no"}
	    print(json.dumps(reply), flush=True)
END
mkdir conf
cat >mcp.json <<-END
	{"mcpServers": {"s": {"command": "python3", "args": ["$PWD/server.py"],
		"env": {"API_TOKEN": "abcdefgh12345678"}}}}
END
cd conf || exit
cat >odd.json <<-'END'
	{"mcpServers": {
		"db": {"command": "true", "args": ["postgres://me:hunter2hunter2@db/x"]},
		"soon": {"command": "true", "timeout": 5}}}
END
run_matins import odd.json
out_like "a server whose argument was a credential is off" '^enabled = false$'
err_like "until a person completes it" 'db: enabled = false until it has the credential'
err_like "a short time may be one of seconds" 'soon: timeout is taken as milliseconds; .*timeout = "5s"'
cat >odd.json <<-'END'
	{"mcpServers": {
		"two": {"url": "https://h.example/mcp?api_key=abcd1234efgh&x=1&token=ijkl5678%2Fmnop&y=2&token=${MY_TOKEN}"},
		"more": {"command": "true", "args": ["{\"api_key\":\"qrst9012uvwx\"}", "Uid=me;Pwd=hunter2hunter2"],
			"env": {"GITHUB_PAT": "yzab3456", "PGPASS": "cdef7890",
				"HOOK": "https://hooks.slack.com/services/T00000000/B00000000/ghij1234klmn",
				"HEADERS": "{\"token\": \"opqr5678stuv\"}"}}}}
END
run_matins import odd.json
out_like "each credential of a url is a variable" \
	'^url = "https://h.example/mcp\?api_key=\$\{TWO_URL\}&x=1&token=\$\{TWO_URL_2\}&y=2&token=\$\{MY_TOKEN\}"$'
unlike "no credential of many forms is printed" "$(cat "$out" "$err")" \
	'abcd1234|ijkl|mnop|qrst9012|hunter2|yzab3456|cdef7890|ghij1234|opqr5678'
rm odd.json
mkdir git git/.git git/sub kept kept/.git kept/keys
cp ../mcp.json key.json
(cd git/sub && run_matins import ../../key.json --write)
is "keys in a working tree of git stay out of it" "$(<git/sub/keys/.gitignore)" '*'
(cd kept && run_matins import ../key.json --write)
ok "a folder of keys that was there stays as it is" test ! -e kept/keys/.gitignore
run_matins import key.json --write
ok "outside of git there is no such file" test ! -e keys/.gitignore
run_matins remove s
err_like "a key file of a server that is removed is said" 'remove: .*/keys/s-API_TOKEN stays, and nothing else here names it'
rm -r matins.toml keys git kept key.json
mkdir "$HOME/docs"
printf '{"mcpServers": {"n": {"command": "true", "args": ["./conf", "%s"]}}}' "$HOME/docs" >../named.json
run_matins import ../named.json
exit_is "named folders: status" 0
out_like "a folder of the project: it alone is granted" '^sandbox.read = \["\."\]$'
err_like "another one is said, with the option" "n: argument 2 names $HOME/docs, which it will not see: --allow-read $HOME/docs,"
mkdir "$HOME/far"
cp ../named.json "$HOME/far/mcp.json"
mkdir "$HOME/far/conf"
run_matins import "$HOME/far/mcp.json"
out_like "a folder of a project elsewhere is named whole" '^sandbox.read = \["~/far/conf"\]$'
mkdir -p "$T/elsewhere/conf"
cp ../named.json "$T/elsewhere/mcp.json"
run_matins import "$T/elsewhere/mcp.json"
out_like "also outside of HOME" "^sandbox.read = \\[\"$T/elsewhere/conf\"\\]\$"
run_matins import ../named.json --allow-write "$HOME/docs"
out_like "the option grants it" '^sandbox.write = \["~/docs"\]$'
if "$BIN" trace -- true >/dev/null 2>&1; then
	run_matins import ../mcp.json --write
	run_matins tools --server s
	isnt "without a trace the server is refused its file" "$status" 0
	rm -r matins.toml keys
	run_matins import ../mcp.json --trace
	exit_is "--trace: status" 0
	out_like "--trace: a row outside of the project is proposed" '^# not carried: sandbox.read = .*far.*, wanted at its first start'
	out_unlike "--trace: it is not granted" '^sandbox.read = .*far'
	run_matins import ../mcp.json --trace --grant
	out_like "--trace: the row that it needs" '^sandbox.read = .*far'
	ok "--trace alone writes nothing" test -z "$(ls -A)"
	run_matins import ../mcp.json --trace --grant --write
	exit_is "--trace --write: status" 0
	run_matins tools --server s
	exit_is "then the server works" 0
	out_like "then the server lists its tool" '^t'
	printf '{"mcpServers": {"off": {"command": "touch", "args": ["%s/started"], "disabled": true}}}' "$PWD" >../off.json
	run_matins import ../off.json --trace
	err_like "a disabled server is said" 'off is disabled: not traced'
	ok "and does not start" test ! -e started
	sed 's/API_TOKEN/OTHER/; s/"s"/"broken"/' ../mcp.json >../broken.json
	run_matins import ../broken.json --trace --write
	exit_is "a server that fails: status" 1
	err_like "a server that fails: said" 'broken: its needs are not all known'
	file_has "and it is imported" matins.toml '[servers.broken]'
else
	skip "--trace" "no trace works here"
fi

# ---- servers that are wrapped ----

cd "$T" || exit
mkdir -p wrapped/notes wrapped/more
cat >wrapped/old.json <<-END
	{"mcpServers": {"a": {"command": "sh", "args": ["./x", "./notes"], "env": {"A": "b"}}}}
END
touch wrapped/x
cp wrapped/old.json wrapped/new.json
run_matins import wrapped/old.json
sed 's/old.json/new.json/' "$out" >wrapped/wanted
run_matins wrap wrapped/new.json --write
run_matins import wrapped/new.json
out_is "a wrapped server is what it was before" "$(<wrapped/wanted)"
exec_of() { # exec_of OPTIONS JSON: a file with one server behind `matins exec`
	local words

	words=$(printf '"%s", ' $1)
	printf '{"mcpServers": {"a": {"command": "/opt/bin/matins", "args": ["exec", %s"--", "sh", "--read", "y"]%s}}}' \
		"$words" "${2-}" >wrapped/own.json
}
exec_of "--read $T/wrapped/more --env K=v --env=M=w --env L" ', "env": {"L": "l"}'
run_matins import wrapped/own.json
for line in 'command = "sh"' 'args = ["--read", "y"]' 'sandbox.read = ["./wrapped/more"]' \
	'env.K = "v"' 'env.M = "w"' 'env.L = "l"'; do
	ok "behind exec: $line" grep -qxF -- "$line" "$out"
done
mkdir -p "$HOME/.ssh" "$HOME/far"
exec_of "--read / --read $HOME/.ssh --write=$HOME/far --read $HOME/none --net all --profile open --unix /run/x.sock --exec sh --preset p --policy q --env SECRET --memory 9TiB"
run_matins import wrapped/own.json
exit_is "grants of a file of others: status" 0
unlike "grants of a file of others are not taken" "$(grep -v '^#' "$out")" 'sandbox|env\.'
for path in / "$HOME/.ssh"; do
	err_like "a grant that is not proposed: $path" "a: --read of its .matins exec. names $path, which it will not see, and which is not proposed"
done
err_like "a grant that is asked for" "a: --write of its .matins exec. names $HOME/far, which it will not see: .*--allow-write $HOME/far"
err_like "a grant of what is not there" "names $HOME/none, which it will not see"
for word in net profile unix exec preset policy memory; do
	out_like "said, and not taken: --$word" "^# not carried: --$word .*where it is meant, write sandbox.$word"
done
out_like "a variable of the client is said" '^# not carried: --env SECRET .*env.SECRET = \{ env = "SECRET" \}'
run_matins import wrapped/own.json --allow-write "$HOME/far"
out_like "the option grants what was asked for" '^sandbox.write = \["./home/far"\]$'
exec_of "--write $T/wrapped/notes" ', "cwd": "./notes"'
run_matins import wrapped/own.json
out_like "a folder to start in is read, as anywhere" '^sandbox.read = \["./wrapped/notes"\]$'
err_like "and written when a person says so" "names $T/wrapped/notes, which it may read alone; .*--allow-write"
exec_of "--read $T/wrapped/more" ', "cwd": "/"'
run_matins import wrapped/own.json
unlike "the root as a folder to start in is not granted" "$(<"$out")" '^sandbox.read = .*"/"'
ln -s ../docs-later wrapped/link
exec_of "--read $T/wrapped/link"
run_matins import wrapped/own.json
out_unlike "a link that leads nowhere yet is not granted" sandbox
err_like "a link that leads nowhere yet is said" "names $T/wrapped/link, which it will not see"
exec_of "--token ghp_abcdefghijklmnop1234 --key=sk-abcdefghijklmnop1234 ghp_zyxwvutsrqponmlk9876"
run_matins import wrapped/own.json
unlike "values of other options are not printed" "$(cat "$out" "$err")" 'ghp_|sk-abcd'
out_like "other options are said" '^# not carried: --token of .matins exec. has no counterpart'
cat >wrapped/own.json <<-'END'
	{"mcpServers": {"c": {"command": "matins", "args": ["exec"]}, "d": {"command": "matins", "args": ["exec", "--"]},
		"e": {"command": "matins", "args": ["serve"]},
		"f": {"command": "matins", "args": ["exec", "--read", "/srv", "--", "npx", "mcp-remote", "https://h.example/mcp"]}}}
END
run_matins import wrapped/own.json
for line in 'args = ["serve"]' 'args = ["exec"]' 'args = ["exec", "--"]' 'url = "https://h.example/mcp"' \
	'# not carried: --read /srv of `matins exec` is for a program'; do
	ok "other programs of that name: $line" grep -qxF -- "$line" "$out"
done
cp "$out" wrapped/matins.toml
run_matins check -c wrapped/matins.toml
exit_is "the result passes check" 0

done_testing
