#!/usr/bin/env bash
# `wrap` and `import`: a package of a folder is found from the folder where the
# client starts the server, and stays found wherever that is.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# shellcheck disable=SC2154
if [[ -z $NODE ]]; then
	skip_all "node is not here"
fi

package() { # package FOLDER VERSION: an installed package that says its version
	local module=$1/node_modules/mcp-of-a-test

	mkdir -p "$module"
	echo "{\"name\": \"mcp-of-a-test\", \"version\": \"$2\", \"bin\": \"s.js\"}" >"$module/package.json"
	printf '#!/usr/bin/env node\nconsole.log("%s");\n' "$2" >"$module/s.js"
	chmod +x "$module/s.js"
}
# started FILE FOLDER: what the one server of a file says, started in a folder
started() {
	local words

	mapfile -t words < <("$PYTHON" -c '
import json, sys
root = json.load(open(sys.argv[1]))
while "command" not in root:
    root = next(iter(root.values()))
print(root["command"], *root["args"], sep="\n")' "$1")
	(cd "$2" && "${words[@]}" 2>"$T/started.err")
}
entry='{"command": "npx", "args": ["-y", "mcp-of-a-test"]}'
package proj 1.0.0
mkdir "$HOME/.cursor" far

# ---- a file of the user: its client may start servers anywhere ----

user=$HOME/.cursor/mcp.json
echo "{\"mcpServers\": {\"a\": $entry}}" >"$user"
cp "$user" old
cd proj || exit
run_matins wrap "$user" --write
exit_is "a package of the caller's folder: status" 0
err_like "a package of the caller's folder: said" "a: its package is in $T/proj, so it starts there"
for folder in / "$HOME" "$T/far" "$T/proj"; do
	is "it starts in $folder" "$(started "$user" "$folder")" 1.0.0
done
run_matins wrap "$user" --undo
ok "undone exactly" cmp "$user" "$T/old"
run_matins wrap "$user" --serve --write
exit_is "behind serve: status" 0
is "behind serve: the folder" \
	"$(grep -h '^cwd' "$XDG_STATE_HOME"/matins/wrap/*.serve/matins.toml)" "cwd = \"$T/proj\""
run_matins wrap "$user" --undo
mkdir deep
cd deep || exit
run_matins wrap "$user" --write
like "the folder that holds the modules is written" "$(<"$user")" "\"--cwd\", \"$T/proj\", \"--\""
run_matins wrap "$user" --undo
cd "$T/far" || exit
run_matins wrap "$user" --write
exit_is "a package that is nowhere: status" 1
err_like "a package that is nowhere: said" 'mcp-of-a-test is not installed'
ok "a package that is nowhere: the file stays" cmp "$user" "$T/old"
package "$HOME" 2.0.0
run_matins wrap "$user" --write
is "a package of HOME starts elsewhere, too" "$(started "$user" /)" 2.0.0
run_matins wrap "$user" --undo
rm -r "$HOME/node_modules"

# ---- an entry with a folder of its own, and files of projects ----

cd "$T" || exit
echo "{\"mcpServers\": {\"a\": {\"cwd\": \"$T/proj\", \"command\": \"npx\", \"args\": [\"-y\", \"mcp-of-a-test\"]}}}" >"$user"
run_matins wrap "$user" --write
like "a folder of the entry is the client's to enter" "$(<"$user")" '\["exec", "--", "npx"'
is "a folder of the entry: it starts" "$(started "$user" "$T/proj")" 1.0.0
echo "{\"mcpServers\": {\"a\": {\"cwd\": \"$T/far\", \"command\": \"npx\", \"args\": [\"-y\", \"mcp-of-a-test\"]}}}" >"$user"
cp "$user" old
cd proj || exit
run_matins wrap "$user" --write
exit_is "a package that is not in the folder of the entry: status" 1
ok "a package that is not in the folder of the entry: the file stays" cmp "$user" "$T/old"
cd "$T" || exit
echo "{\"mcpServers\": {\"a\": $entry}}" >proj/.mcp.json
run_matins wrap proj/.mcp.json --write
exit_is "a file of a project: status" 0
like "a file of a project: its client starts there" "$(<proj/.mcp.json)" '\["exec", "--", "npx"'
echo "{\"projects\": {\"$T/proj\": {\"mcpServers\": {\"a\": $entry}}}}" >"$HOME/.claude.json"
cp "$HOME/.claude.json" old
run_matins wrap "$HOME/.claude.json" --write
exit_is "a project of a file of the user: status" 0
is "a project of a file of the user: it starts" "$(started "$HOME/.claude.json" "$T/proj")" 1.0.0
cp old "$HOME/.claude.json"

# ---- import ----

cd far || exit
run_matins import "$HOME/.claude.json" --write
exit_is "import of a project's server: status" 0
file_has "its folder is written" matins.toml "cwd = \"$T/proj\""
run_matins check
exit_is "what is written passes check" 0
cp matins.toml first
run_matins import "$HOME/.claude.json" --write
ok "a second import changes nothing" cmp matins.toml first
echo "{\"projects\": {\"$T/proj\": {\"mcpServers\": {\"b\": {\"command\": \"true\"}}}}}" >"$T/b.json"
run_matins import "$T/b.json"
err_like "a folder that it would not see is said" "b: not carried: the folder of its project, $T/proj"
cd "$T/proj" || exit
run_matins import "$HOME/.claude.json"
unlike "in the project itself no folder is needed" "$(<"$out")" cwd

done_testing
