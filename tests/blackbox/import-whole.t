#!/usr/bin/env bash
# `import`: a credential that a person gives reaches no configuration, and what
# a definition says is carried or listed.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# servers BODY: import them, and write them into a new configuration
servers() {
	rm -rf matins.toml keys
	printf '{"inputs": [{"type": "promptString", "id": "pw", "password": true},
		{"type": "promptString", "id": "tok", "password": true}],
		"mcpServers": {%s}}' "$1" >given.json
	run_matins import given.json --write
}

# ---- inputs that are passwords ----

export PW=p=wordless TOK=tea
servers '
	"a": {"command": "true", "args": ["--db=${input:pw}", "user/${input:pw}@h",
		"${input:pw}", "--token", "${input:tok}", "-p${input:pw}=x", "kept"]},
	"b": {"command": "true", "env": {"CONN": "Server=h;Uid=u;Pw=${input:pw}", "P": "${input:pw}"}},
	"d": {"command": "docker", "args": ["run", "-e", "CONN=u:${input:pw}", "x"]},
	"c": {"url": "https://h.example/${input:pw}", "headers": {"X-A": "a ${input:pw}"}}'
exit_is "passwords: status" 0
unlike "no value of a password is in the configuration, or shown" \
	"$(cat matins.toml "$out" "$err")" 'wordless|tea"'
file_has "*** stands in the place of each argument that has one" matins.toml \
	'args = ["--db=***", "***", "***", "--token", "***", "***", "kept"]'
file_has "a variable with one is a reference" matins.toml 'env.CONN = { file = "keys/b-CONN" }'
is "its file has the whole text" "$(<keys/b-CONN)" 'Server=h;Uid=u;Pw=p=wordless'
is "which is the user's alone" "$(stat -c %a keys/b-CONN)" 600
file_has "a variable that is one stays one" matins.toml 'env.P = { env = "PW" }'
file_has "one of a container is a reference, too" matins.toml 'env.CONN = { file = "keys/d-CONN" }'
file_has "a variable stands in a header" matins.toml 'headers.X-A = "a ${PW}"'
file_has "a server whose argument was one is off" matins.toml 'enabled = false'

# ---- what has no place is listed ----

servers '
	"p": {"command": "true", "headers": {"X-A": "1"}, "bearer_token_env_var": "TOK"},
	"u": {"url": "https://h.example/mcp", "cwd": "/srv", "args": ["--key", "hunter2"]},
	"b": {"command": "npx", "args": ["mcp-remote", "https://b.example/mcp"]}'
exit_is "keys of the other kind: status" 0
for key in X-A Authorization; do
	file_has "a header of a program: $key" matins.toml \
		"# not carried: headers.$key is for a url; a program is sent none"
done
for key in cwd args; do
	file_has "of a url: $key" matins.toml \
		"# not carried: $key is for a program; nothing is started for a url"
done
is "nothing else" "$(grep -c '^# not carried' matins.toml)" 4
file_unlike "and no value of it" matins.toml hunter2

servers '"null": null,
	"n": {"command": "true", "args": ["a", null, "b"], "cwd": null, "env": {"K": null, "L": "l"}},
	"w": {"command": ["true", null]},
	"u": {"command": null, "args": null, "url": "https://h.example/mcp"}'
err_like "a server that is null" 'null: not imported: .*neither a program nor a url'
for line in 'args is not a list of texts alone' 'env.K is no text' \
	'command is not a list of texts alone'; do
	file_has "of null: $line" matins.toml "# not carried: $line"
done
is "a key that is null says nothing" "$(grep -c '^# not carried' matins.toml)" 3
file_has "what stands beside it is carried" matins.toml 'env.L = "l"'
printf 'extensions:\n  n:\n    cmd: "true"\n    args: [a, ~]\n' >given.yaml
run_matins import given.yaml
out_like "null of YAML" '^# not carried: args is not a list of texts alone'

printf '{"imports": ["cursor", "codex"], "mcpServers": {"a": {"command": "true"}}}' >given.json
run_matins import given.json
err_like "files that another one brings" 'given\.json: not carried: imports of cursor, codex; .*import --from'
printf '{"imports": [], "mcpServers": {"a": {"command": "true"}}}' >given.json
run_matins import given.json
err_unlike "an empty list of them" 'not carried'

# ---- switches ----

servers '"a": {"command": "true", "enabled": 0}, "b": {"command": "true", "disabled": "true"},
	"c": {"command": "true", "enabled": "1"}, "d": {"command": "true", "disabled": 0},
	"e": {"command": "true", "enabled": 2}'
is "0 and 1 are a switch, too" "$(grep -B 2 '^enabled = false' matins.toml | grep -o 'servers\..')" \
	$'servers.a\nservers.b'
is "nothing else is" "$(grep '^# not carried' matins.toml)" \
	'# not carried: enabled is neither true nor false'
"$PYTHON" - given.db <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("CREATE TABLE mcp_servers (name TEXT PRIMARY KEY, command TEXT, enabled INTEGER)")
	db.executemany("INSERT INTO mcp_servers VALUES (?, 'true', ?)", [("off", 0), ("on", 1)])
	db.commit()
	db.close()
END
rm matins.toml
run_matins import given.db --write
is "in a database, too" "$(grep -B 2 '^enabled = false' matins.toml | grep -o 'servers\..*')" 'servers.off]'

done_testing
