#!/usr/bin/env bash
# `add` writes no credential that it was given on the command line.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# refused TITLE WHY ARGS...: nothing of it is written or shown
refused() {
	local title=$1 why=$2

	shift 2
	run_matins add "$@"
	exit_is "$title: status" 64
	err_like "$title: what to do" "$why"
	unlike "$title: it is not shown" "$(cat "$out" "$err")" '0123456789abcdef|hunter'
	ok "$title: nothing is written" test ! -e matins.toml
	not_ok "$title: nothing is installed" test -e "$HOME/.local/share/matins/servers/c"
}
mkdir made
key=sk-ant-0123456789abcdef0123
refused "a url with a key" 'the url has what looks like .*\$\{NAME\}' \
	url "https://x.example/mcp?api_key=$key" --name c
refused "a url with a key, printed" 'the url has what looks like' \
	url "https://x.example/mcp?api_key=$key" --name c --print
refused "a url with a password" 'the url has what looks like a URL with a password' \
	url "https://me:hunter2hunter@x.example/mcp" --name c
refused "a default that is a key" 'the url has what looks like' \
	url "https://x.example/mcp?api_key=\${KEY:-$key}" --name c
refused "an option with a key" 'argument 2 looks like .*env\.NAME = \{ file = ' \
	custom made --name c -- node s.js "--api-key=$key"
refused "a key behind an option" 'argument 3 looks like' \
	custom made --name c -- node s.js --token 0123456789abcdef0123
refused "an argument of a package" 'argument 1 looks like' \
	npm some-package --name c -- "$key"
refused "a value of a bundle" 'set .*looks like' \
	bundle x.mcpb --name c --set "api_key=$key"

KEY=$key run_matins add url 'https://x.example/mcp?api_key=${KEY}' --name c
exit_is "a variable in its place" 0
file_has "it stays one" matins.toml 'url = "https://x.example/mcp?api_key=${KEY}"'
file_unlike "its value is nowhere" matins.toml 0123456789
run_matins add url 'https://x.example/mcp?api_key=${KEY}' --name d
exit_is "a variable that is not set: status" 1
err_like "a variable that is not set: said" 'KEY, which is not set'
file_unlike "a variable that is not set: nothing is written" matins.toml 'servers.d'
run_matins add url 'https://x.example/mcp?page=3&lang=en' --name plain
exit_is "a url without a credential" 0

done_testing
