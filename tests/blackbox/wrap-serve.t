#!/usr/bin/env bash
# `wrap --serve`: servers of a client's file behind one `matins serve`, with a
# configuration of its own; what cannot go there starts by itself, and all is
# put back byte for byte.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"
# shellcheck source=tests/blackbox/wrap.sh
. "$TOP/tests/blackbox/wrap.sh"

here=$(readlink -f "$BIN")
state=$XDG_STATE_HOME/matins

# ---- forms ----

mkdir forms
# behind TITLE OLD NEW [OPTION]: a file OLD becomes NEW, where E is the entry
# of a and b, F that of b alone; and is put back
behind() {
	local old=$2 new=$3 kept

	printf '%s' "$old" >forms/f.json
	cp forms/f.json "$T/old"
	run_matins wrap forms/f.json --serve --write
	exit_is "$1: status" 0
	kept=$(find "$state/wrap" -name '*.serve')
	printf '%s' "$new" | sed "s|\\([EF]\\)(\\([^)]*\\))|{\\2\"command\":\"$here\",\"args\":[\"serve\",\"--config\",\"$kept/matins.toml\",\"--servers\",\"\\1\"]}|g; s|,\"E\"]|,\"a,b\"]|; s|,\"F\"]|,\"b\"]|" >"$T/expected"
	ok "$1" cmp forms/f.json "$T/expected"
	run_matins check -c "$kept/matins.toml"
	exit_is "$1: its configuration loads" 0
	run_matins wrap forms/f.json --serve --write
	ok "$1: a second time changes nothing" cmp forms/f.json "$T/expected"
	run_matins wrap forms/f.json --undo
	ok "$1: undone exactly" cmp forms/f.json "$T/old"
	is "$1: nothing of it is kept" "$(find "$state/wrap" -mindepth 1)" ""
}
a='"a": {"command": "true"}'
b='"b": {"command": "true", "args": ["x"]}'
behind "two servers become one entry" \
	"{\"mcpServers\": {$a, $b}}" '{"mcpServers": {"matins": E()}}'
behind "one server, too" \
	"{\"mcpServers\": {$b}}" '{"mcpServers": {"matins": F()}}'
behind "other bytes stay" \
	"{ // one
	\"x\": [1,], \"servers\" : { /* two */
		$a,
		$b, // three
	}, \"inputs\": [ ],
}
" '{ // one
	"x": [1,], "servers" : { /* two */
		"matins": E(), // three
	}, "inputs": [ ],
}
'
behind "a server between that stays" \
	"{\"mcpServers\": {$a, \"far\": {\"url\": \"https://far.example.com/mcp\"}, $b}}" \
	'{"mcpServers": {"matins": E(), "far": {"url": "https://far.example.com/mcp"}}}'
behind "a server before that stays" \
	"{\"mcpServers\": {\"far\": {\"url\": \"https://far.example.com/mcp\"}, $a, $b }}" \
	'{"mcpServers": {"far": {"url": "https://far.example.com/mcp"}, "matins": E() }}'
behind "a name that is taken, and words that a client asks for" \
	"{\"mcpServers\": {\"matins\": {\"url\": \"https://far.example.com/mcp\"}, \"b\": {\"type\": \"stdio\", \"command\": \"true\"}}}" \
	'{"mcpServers": {"matins": {"url": "https://far.example.com/mcp"}, "matins-2": F("type":"stdio",)}}'
behind "names with quotes and backslashes" \
	'{"mcpServers": {"b": {"command": "true"}}, "x\\": 1, "y\"": {"z": ","}}' \
	'{"mcpServers": {"matins": F()}, "x\\": 1, "y\"": {"z": ","}}'

printf '{"mcpServers": {%s, "q\\"\\\\": {"command": "true"}, "\\\\\\"": {"command": "true"}}}' "$a" >forms/f.json
run_matins wrap forms/f.json --serve --write
exit_is "names that need escapes: status" 0
like "names that need escapes go" "$(<forms/f.json)" '^\{"mcpServers": \{"matins": \{[^{}]*\}\}\}$'
run_matins wrap forms/f.json --undo

# each project of a file has its own servers, and its own entry
mkdir -p one/x two/x
cat >forms/user.json <<-END
	{"mcpServers": {$a},
	"projects": {"$PWD/one": {"mcpServers": {"a": {"command": "true", "args": ["./x"]}}},
		"$PWD/two": {"mcpServers": {"a": {"command": "true", "args": ["./x"]}}}}}
END
cp forms/user.json "$T/old"
run_matins wrap forms/user.json --serve --write
exit_is "projects: status" 0
is "projects: each has its servers" \
	"$(grep -o '"--servers","[^"]*"' forms/user.json | tr '\n' ' ')" \
	'"--servers","a" "--servers","a-2" "--servers","a-3" '
config=$(find "$state/wrap" -name matins.toml)
like "projects: a folder of one is granted where it lies" "$(<"$config")" \
	"sandbox.read = \\[\"$PWD/one/x\"\\]"
like "projects: and that of the other" "$(<"$config")" \
	"sandbox.read = \\[\"$PWD/two/x\"\\]"
run_matins wrap forms/user.json --undo
ok "projects: undone exactly" cmp forms/user.json "$T/old"

# ---- what stays beside ----

echo A=b >forms/b.env
cat >forms/f.json <<-END
	{"mcpServers": {$a,
		"off": {"command": "true", "disabled": true},
		"own": {"command": "true", "alwaysAllow": ["x"]},
		"env": {"command": "true", "envFile": "$PWD/forms/b.env"},
		"box": {"command": "docker", "args": ["run", "box"]},
		"twice": {"command": "true"}, "twice": {"command": "false"},
		"load": {"command": "true", "env": {"LD_PRELOAD": "/x"}}
	}}
END
cp forms/f.json "$T/old"
run_matins wrap forms/f.json --serve --write
exit_is "what stays is told, and the status says so" 1
for row in "off is disabled" "own has what only its client knows .*alwaysAllow" \
	"env has a file of variables" "twice stands there twice"; do
	err_like "beside: ${row%% *}" "$row.*: it starts by itself, confined"
	like "beside: ${row%% *} is confined" "$(<forms/f.json)" \
		"\"${row%% *}\": \\{\"command\": \"$here\", \"args\": \\[\"exec\""
done
err_like "unconfined: a container" 'box is a container'
err_like "unconfined: a variable that reaches matins" 'load sets LD_PRELOAD'
like "one entry for the rest" "$(<forms/f.json)" '"--servers","a"\]'
run_matins wrap forms/f.json --undo
ok "what stays: undone exactly" cmp forms/f.json "$T/old"
for file in toml yaml; do
	printf '[mcp_servers.a]\ncommand = "true"\n' >forms/f.toml
	printf 'extensions:\n  a:\n    cmd: "true"\n' >forms/f.yaml
	run_matins wrap "forms/f.$file" --serve --write
	err_like "$file is not edited so" 'a stands in a file that is not JSON: it starts by itself, confined'
	like "$file: it is confined" "$(<"forms/f.$file")" '"exec"'
done

# ---- the file and its configuration ----

printf '{"mcpServers": {"a": {"command": "true", "env": {"API_TOKEN": "abcdefgh12345678"}}}}' >forms/f.json
cp forms/f.json "$T/old"
run_matins wrap forms/f.json --serve
ok "without --write the file stays" cmp forms/f.json "$T/old"
out_like "without --write both texts are printed" '^\+env.API_TOKEN = \{ file = '
unlike "no credential is printed" "$(cat "$out" "$err")" abcdefgh12345678
is "without --write no configuration is left" "$(find "$state/wrap" -name '*.serve')" ""
run_matins wrap forms/f.json --serve --write
config=$(find "$state/wrap" -name matins.toml)
is "the configuration and its credential are the user's alone" \
	"$(find "${config%/*}" -type f ! -perm 600 -o -type d ! -perm 700)" ""
file_has "calls are audited" "$config" 'audit = true'
is "the credential has its file" "$(cat "${config%/*}"/keys/*)" abcdefgh12345678
run_matins exec -- sh -c "cat '$config'"
isnt "no confined program reads it" "$status" 0
cp "$config" "$T/before"
run_matins exec --write "$T" -- sh -c "echo >>'$config'"
ok "and none writes it" cmp "$config" "$T/before"
sed -i 's/^/ /' forms/f.json
run_matins wrap forms/f.json --undo
exit_is "a file that was edited stays: status" 1
ok "and its configuration, too" test -e "$config"
sed -i 's/^ //' forms/f.json
run_matins wrap forms/f.json --undo
ok "as it was written it is put back" cmp forms/f.json "$T/old"
ok "its configuration is gone" test ! -e "$config"
run_matins wrap forms/f.json --serve --undo
exit_is "--undo with --serve: usage" 64

# two at once: one of them wins, and both texts stay whole
cp forms/f.json "$T/old"
for _ in 1 2 3; do
	"$BIN" wrap forms/f.json --serve --write >/dev/null 2>&1 &
	"$BIN" wrap forms/f.json --serve --write >/dev/null 2>&1 &
	wait
	like "two at once: one entry" "$(<forms/f.json)" '^\{"mcpServers": \{"matins": \{[^{}]*\}\}\}$'
	run_matins wrap forms/f.json --undo
	ok "two at once: undone exactly" cmp forms/f.json "$T/old"
done

# ---- started as the clients do ----

for file in .mcp.json .vscode/mcp.json .cursor/mcp.json claude_desktop_config.json; do
	cp "$file" ../old
	run_matins wrap "$file" --serve --write
	exit_is "$file: wrapped" 0
	is "$file: a real server answers through the one entry" \
		"$(client "$file" matins mcp__all__echo '{"message": "hi"}')" "Echo: hi"
	like "$file: the call is audited" "$("$BIN" audit)" 'all.*echo'
	is "$file: a server has its credential, which no answer shows" \
		"$(client "$file" matins mcp__s__t '{"name": "API_TOKEN"}')" '***'
	is "$file: and no others" \
		"$(client "$file" matins mcp__s__t '{"name": "NOT_FOR_SERVERS"}')" unset
	like "$file: a file that was not granted is refused" \
		"$(client "$file" matins mcp__s__t "{\"path\": \"$T/far/file\"}")" '^refused'
	is "$file: and it answers before its client is killed" \
		"$(client "$file" matins mcp__s__t '{"name": "API_TOKEN"}' SIGKILL)" '***'
	ok "$file: nothing is left behind" none_left
	run_matins wrap "$file" --undo
	ok "$file: put back exactly" cmp "$file" ../old
done
cp .mcp.json ../old
sed -i "s|\"mark-of|\"./file\", \"mark-of|" .mcp.json
run_matins wrap .mcp.json --serve --write
is "a file of the project that an argument names is granted" \
	"$(client .mcp.json matins mcp__s__t "{\"path\": \"$T/project/file\"}")" "of the project"
run_matins wrap .mcp.json --undo

done_testing
