#!/usr/bin/env bash
# `wrap`: files of other clients, edited so that their servers start confined,
# each other byte kept, and put back byte for byte.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

here=$(readlink -f "$BIN")
export USER=josephine REGION=eu-1 TENANT=t-1

# ---- the files of all clients ----

cp -r "$TOP/tests/blackbox/import" given
for file in given/*.{json,toml,yaml}; do
	name=${file##*/}
	cp "$file" old
	run_matins wrap "$file"
	ok "$name: without --write it stays" cmp "$file" old
	unlike "$name: no credential is printed" "$(cat "$out" "$err")" \
		'tk_abcd|hunter2|ghp_0123|wk_abcd|bx_abcd|gs_abcd|sk-abcd|abcdefgh12345678'
	run_matins wrap "$file" --write
	cmp -s "$file" old && continue
	is "$name: what was dropped started a server" \
		"$(diff old "$file" | grep '^<' | grep -vE 'command|cmd|args')" ""
	cp "$file" new
	run_matins wrap "$file" --write
	ok "$name: a second time changes nothing" cmp "$file" new
	run_matins wrap "$file" --undo
	exit_is "$name: --undo: status" 0
	ok "$name: --undo is exact" cmp "$file" old
done

# ---- forms ----

# form TITLE FILE OLD NEW: OLD becomes NEW; M stands for matins
form() {
	local m=\"$here\"

	printf '%s' "$3" >"$2"
	printf '%s' "${4//M/$m}" >expected
	run_matins wrap "$2" --write
	exit_is "$1: status" 0
	ok "$1" cmp "$2" expected
	printf '%s' "$3" >expected
	run_matins wrap "$2" --undo
	ok "$1: undone" cmp "$2" expected
}
E='"exec", "--",'
form "comments and commas stay" c.json \
	'{"servers": {"a": /* x */ {"command": "true", /* y */ "args": ["a",], },}} // z' \
	"{\"servers\": {\"a\": /* x */ {\"command\": M, /* y */ \"args\": [$E \"true\", \"a\",], },}} // z"
form "no arguments, on one line" one.json \
	'{"mcpServers":{"a":{"command":"true"}}}' \
	"{\"mcpServers\":{\"a\":{\"command\":M, \"args\": [$E \"true\"]}}}"
form "no arguments, on lines" lines.json \
	$'{"mcpServers": {"a": {\r\n\t"command": "true",\r\n\t"env": {"A": "b"}}}}' \
	$'{"mcpServers": {"a": {\r\n\t"command": M,\n\t"args": ["exec", "--env", "A", "--", "true"],\r\n\t"env": {"A": "b"}}}}'
form "empty arguments, and a byte order mark" empty.json \
	$'\xef\xbb\xbf{"mcpServers": {"a": {"args": [], "command": "true"}}}' \
	$'\xef\xbb\xbf'"{\"mcpServers\": {\"a\": {\"args\": [$E \"true\"], \"command\": M}}}"
form "a program with its arguments in one list" list.json \
	'{"mcpServers": {"a": {"command": ["true", "x"]}}}' \
	"{\"mcpServers\": {\"a\": {\"command\": [M, $E \"true\", \"x\"]}}}"
form "a program in a table of its own" zed.json \
	'{"context_servers": {"a": {"command": {"path": "/usr/bin/true", "args": ["x"], "env": {}}}}}' \
	"{\"context_servers\": {\"a\": {\"command\": {\"path\": M, \"args\": [$E \"/usr/bin/true\", \"x\"], \"env\": {}}}}}"
form "words of a client that splits them" words.json \
	'{"mcpServers": {"a": {"command": "true \"x y\"", "args": ["z"]}}}' \
	"{\"mcpServers\": {\"a\": {\"command\": M, \"args\": [$E \"true\", \"x y\", \"z\"]}}}"
form "words with a slash in them" slash.json \
	'{"mcpServers": {"a": {"command": "true -y @example/server"}}}' \
	"{\"mcpServers\": {\"a\": {\"command\": M, \"args\": [$E \"true\", \"-y\", \"@example/server\"]}}}"
touch x
mkdir rel
touch rel/x
form "a relative file is granted as any argument" rel/rel.json \
	'{"mcpServers": {"a": {"command": "true", "args": ["./x"]}}}' \
	"{\"mcpServers\": {\"a\": {\"command\": M, \"args\": [$E \"true\", \"./x\"]}}}"
form "TOML" config.toml \
	$'# é\n[mcp_servers.a] # x\ncommand = \'true\' # y\nenv = { A = "b" }\n[mcp_servers]\nb = { command = "true", args = ["c"] }\n' \
	$'# é\n[mcp_servers.a] # x\ncommand = M\nargs = ["exec", "--env", "A", "--", "true"] # y\nenv = { A = "b" }\n[mcp_servers]\nb = { command = M, args = ["exec", "--", "true", "c"] }\n'
form "YAML" config.yaml \
	$'extensions:\n  é: # x\n    cmd: true # y\n    args:\n      - a\n  b: {cmd: sh, args: [a]}\n  c:\n    type: stdio\n    cmd: "sh"\n' \
	$'extensions:\n  é: # x\n    cmd: M # y\n    args:\n      - "exec"\n      - "--"\n      - "true"\n      - a\n  b: {cmd: M, args: ["exec", "--", "sh", a]}\n  c:\n    type: stdio\n    cmd: M\n    args: ["exec", "--", "sh"]\n'

# ---- servers that stay ----

cat >stay.json <<-'END'
	{"mcpServers": {
		"far": {"url": "https://far.example.com/mcp"},
		"bridge": {"command": "npx", "args": ["mcp-remote", "https://far.example.com/mcp"]},
		"box": {"command": "docker", "args": ["run", "box"]},
		"gone": {"command": "npx", "args": ["-y", "no-such-package-of-a-test"]},
		"here": {"command": "true"}
	}}
END
cp stay.json old
run_matins wrap stay.json --write
exit_is "a server that cannot start confined: status" 1
err_like "it is named" 'gone cannot start confined, .*no-such-package-of-a-test is not installed'
err_like "so is a container" 'box is a container'
err_like "a server with a url alone is said to stay outside" 'as the client speaks to their url itself: far;'
err_like "and a bridge to a URL" 'bridge only speaks to a URL'
is "the other one starts confined" "$(diff old stay.json | grep -c '^>')" 1
printf '{"mcpServers": {"a": {"command": "true", "args": "x"}}}' >odd.json
cp odd.json old
run_matins wrap odd.json --write
exit_is "a form that is not known: status" 1
ok "and it stays" cmp odd.json old
printf '{"mcpServers": {"a": {"command": "true"}, "d": {"command": "true", "args": "x.js"}}}' >odd.json
run_matins wrap odd.json --write
exit_is "arguments in a text: status" 1
err_like "arguments in a text: named" 'd has args which are not a list: it stays as it is'
is "arguments in a text: the others start confined" "$(<odd.json)" \
	"{\"mcpServers\": {\"a\": {\"command\": \"$here\", \"args\": [$E \"true\"]}, \"d\": {\"command\": \"true\", \"args\": \"x.js\"}}}"
cat >yaml.yaml <<-'END'
	extensions:
	  a:
	    cmd: &x true
	  b: {cmd: *x}
	  c: {cmd: sh}
END
cp yaml.yaml old
run_matins wrap yaml.yaml --write
exit_is "an anchor in YAML: status" 1
err_like "an anchor in YAML: named" 'a has a form that cannot be edited'
like "an anchor in YAML: the others start confined" "$(diff old yaml.yaml)" '> +c: .*exec'
unlike "an anchor in YAML: it stays" "$(diff old yaml.yaml)" '&x'

# stays TITLE WHY JSON: the one server of a file stays, with status 1
stays() {
	printf '{"mcpServers": {"a": {%s}}}' "$3" >one.json
	cp one.json old
	run_matins wrap one.json --write
	exit_is "$1: status" 1
	err_like "$1: why" "a $2"
	ok "$1: it stays" cmp one.json old
}
# starts TITLE JSON: the one server of a file starts confined
starts() {
	printf '{"mcpServers": {"a": {%s}}}' "$2" >one.json
	run_matins wrap one.json --write
	exit_is "$1: status" 0
	like "$1: it starts confined" "$(cat one.json)" '"exec", .*"--", "true"'
}
echo LD_PRELOAD=/x >ld.env
echo A=b >other.env
for name in LD_PRELOAD LD_LIBRARY_PATH GLIBC_TUNABLES GCONV_PATH LOCPATH \
	MATINS_STATE MODULEX_CONFIG HOME XDG_STATE_HOME 'LD_PRELOAD=/x.so:' HOME=/; do
	stays "a variable that reaches matins: $name" "sets ${name%%=*}, " \
		"\"command\": \"true\", \"env\": {\"A\": \"b\", \"$name\": \"x\"}"
done
stays "such a variable of a table" "sets LD_PRELOAD" \
	'"command": {"path": "true", "env": {"LD_PRELOAD": "x"}}'
stays "such a variable of a server that starts by matins" "sets LD_PRELOAD" \
	"\"command\": \"$here\", \"args\": [\"exec\", \"true\"], \"env\": {\"LD_PRELOAD\": \"x\"}"
unread='sets variables in a form that is not read'
for env in '["LD_PRELOAD=/x"]' '"LD_PRELOAD=/x"' '{"A": "b", "LD_PRELOAD": ["/x"]}' \
	'{"LD_PRELOAD": {"value": "/x"}}' 1; do
	stays "variables of no such form: $env" "$unread" "\"command\": \"true\", \"env\": $env"
done
stays "such a form in a table" "$unread" '"command": {"path": "true", "env": ["LD_PRELOAD=/x"]}'
stays "such a form of a server that starts by matins" "$unread" \
	"\"command\": \"$here\", \"args\": [\"exec\", \"true\"], \"env\": [\"LD_PRELOAD=/x\"]"
stays "a file of variables that is not there" "$unread" '"command": "true", "envFile": "gone.env"'
stays "a file of variables with one that reaches matins" "sets LD_PRELOAD" '"command": "true", "envFile": "ld.env"'
# line TITLE TEXT WHY: a file of variables with that text
line() {
	printf '%b' "$2" >odd.env
	stays "a file of variables with $1" "$3" '"command": "true", "envFile": "odd.env"'
}
line "CR at the end of a line" 'A=b\rLD_PRELOAD=/x\r' "sets LD_PRELOAD"
line "a colon" 'LD_PRELOAD: /x\n' "sets LD_PRELOAD"
line "a colon and no blank" 'LD_PRELOAD:/x=y\n' "sets LD_PRELOAD"
line "a byte order mark" '\xef\xbb\xbfLD_PRELOAD=/x\n' "sets LD_PRELOAD"
line "export and a tab" 'export\tLD_PRELOAD=/x\n' "sets LD_PRELOAD"
line "such a variable twice" 'LD_PRELOAD=/x\nLD_PRELOAD=/y z\n' "sets LD_PRELOAD"
for text in '\xc2\xa0LD_PRELOAD=/x' '\xe3\x80\x80LD_PRELOAD=/x' 'A=b\fLD_PRELOAD=/x' '# x\xe2\x80\xa8LD_PRELOAD=/x' \
	'A="b\n#" LD_PRELOAD=/x' 'A="b" LD_PRELOAD=/x' "'LD_PRELOAD'=/x" 'set LD_PRELOAD=/x' 'A=b\x00LD_PRELOAD=/x'; do
	line "a line that not all read alike: $text" "$text\n" "$unread"
done
printf 'A=b\r\n\r\n# c: d\r\nexport B="c # d" # e\r\n\tC = d\r\nE=\xc3\xa9\r\nF\r\nG=\r\nH=https://h/?a=b\r\n' >crlf.env
starts "a file of variables with CR and LF" '"command": "true", "envFile": "crlf.env"'
starts "a file of other variables" '"command": "true", "envFile": "other.env"'
err_like "a file of variables is read at each start: said" 'a: the client reads other.env at each start, .*keep it where no server may write'
# a server that may write its project cannot make LD_PRELOAD of the next start
mkdir own
printf 'A=b\n' >own/.env
if [[ $(id -u) -eq 0 ]]; then chmod 777 own && chmod 666 own/.env; fi
run_matins exec --write own -- sh -c 'echo LD_PRELOAD=/x >own/.env; mv own/.env own/x; touch own/made'
is "a .env in a writable grant stays as it is" "$(<own/.env)" 'A=b'
ok "other files there can be made" test -e own/made
mkdir -p venv/.env
chmod -R a+rwX venv
run_matins exec --write venv -- sh -c 'echo x >.env/made || echo x >venv/.env/made'
ok "a folder of that name, as of a virtualenv, can be written" test -e venv/.env/made
run_matins exec --write own --write own/.env -- sh -c 'echo C=d >own/.env'
is "a .env that is granted by name can be written" "$(<own/.env)" 'C=d'
starts "no variables" '"command": "true", "env": {}'
starts "variables that are numbers and switches" '"command": "true", "env": {"A": 1, "B": true, "C": null}'
starts "other variables" '"command": "true", "env": {"OLD_HOME": "x", "LD": "x", "HOMES": "x"}'
stays "two programs" "has two programs" '"command": "true", "path": "true"'
stays "two programs, one empty" "has two programs" '"cmd": "true", "command": ""'
stays "two programs, one in a table" "has two programs" '"command": {"path": "true"}, "cmd": "true"'
stays "two programs in a table" "has two programs" '"command": {"path": "true", "cmd": "true"}'
stays "two lists of arguments" "has two programs" '"command": "true", "args": ["a"], "args_json": "[]"'
stays "arguments in a text" "has its arguments in a text" '"command": "true", "args_json": "[]"'
stays "a program and a url" "has a program and a url" \
	'"type": "stdio", "command": "true", "url": "https://far.example.com/mcp"'
stays "a url and a program" "has a program and a url" \
	'"url": "https://far.example.com/mcp", "command": "true"'
starts "a program and an empty url" '"command": "true", "url": ""'
stays "a container" "is a container" '"command": "docker", "args": ["run", "box"]'
stays "a bridge" "only speaks to a URL" \
	'"command": "npx", "args": ["mcp-remote", "https://far.example.com/mcp"]'
printf '{"mcpServers": {"a": {"command": "%s", "args": ["exec", "true"]}}}' "$here" >one.json
run_matins wrap one.json --write
exit_is "a server that starts by this matins: status" 0
err_like "a server that starts by this matins stays" 'a starts by matins already'
# A policy that the file brought with it is no policy of wrap.
own() { # own WORDS SAID: the policy of a start by matins in a file of others is said
	printf '{"mcpServers": {"a": {"command": "%s", "args": [%s, "--", "true"], "env": {"L": "l"}}}}' "$here" "$1" >one.json
	cp one.json old
	run_matins wrap one.json --write
	exit_is "a policy of the file: status: $1" 1
	err_like "a policy of the file is said: $1" "a starts by matins already, with a policy that wrap did not write: $2;"
	ok "a policy of the file: the file stays: $1" cmp one.json old
}
own '"exec", "--read", "~", "--write", "~/x", "--net", "all"' '--read ~ --write ~/x --net all'
own '"exec", "--isolate=off"' '--isolate=off'
own '"exec", "--env", "L", "--env", "AWS_SECRET_ACCESS_KEY"' '--env AWS_SECRET_ACCESS_KEY'
own '"exec", "--env", "K=hunter2hunter2"' '--env K'
own '"exec", "--env", "--", "--net", "all"' '--env'
printf '{"mcpServers": {"a": {"command": "%s", "args": ["exec", "--env", "L", "--", "true"], "env": {"L": "l"}}}}' "$here" >one.json
run_matins wrap one.json --write
exit_is "a start without grants: status" 0
printf '{"mcpServers": {"a": {"command": "true", "args": ["-y", "%s/x"], "env": {"L": "l"}}}}' "$T" >one.json
run_matins wrap one.json --write --allow-read "$T/x"
sed -i 's/{"a"/{"b": {"command": "true"}, "a"/' one.json
run_matins wrap one.json --write
exit_is "a policy that wrap wrote, in a file that was edited since: status" 0
err_like "a policy that wrap wrote is taken" 'a starts by matins already: it stays'
sed -i "s|\"--read\", \"$T/x\"|\"--read\", \"~\"|; s|\"--\", \"true\", \"-y\"|\"--read\", \"/srv\", &|" one.json
run_matins wrap one.json --write
exit_is "a policy of wrap that was edited: status" 1
err_like "a policy of wrap that was edited is said" 'wrap did not write: .*--read /srv'
state=$XDG_STATE_HOME/matins
for words in "$state/wrap/../../x.toml" "$state/wrap/a.serve/../../../x.serve/matins.toml"; do
	printf '{"mcpServers": {"a": {"command": "%s", "args": ["serve", "--config", "%s", "--servers", "a"]}}}' "$here" "$words" >one.json
	run_matins wrap one.json --write
	err_unlike "no start of serve that wrap wrote: $words" 'starts by matins already'
	like "a start of serve with another file starts confined: $words" "$(<one.json)" '"exec", "--", '
done
mkdir other
printf '#!/bin/sh\n' >other/matins
chmod +x other/matins
for words in "$T/other/matins exec" "$here serve"; do
	printf '{"mcpServers": {"a": {"command": "%s", "args": ["%s"]}}}' "${words% *}" "${words#* }" >one.json
	run_matins wrap one.json --write
	unlike "no confined start: $words" "$(cat "$err")" 'starts by matins already'
	like "it starts confined: $words" "$(cat one.json)" "\"exec\", .*\"--\", \"${words% *}\""
done

# A reader that ends a comment at CR sees a server that others do not.
hides() { # hides TITLE FILE TEXT PLACE: the file is refused at the place, and stays
	printf '%b' "$3" >"$2"
	cp "$2" old
	run_matins wrap "$2" --write
	exit_is "$1: status" 1
	err_like "$1: its place" "$2: $4: a line end for some readers alone"
	ok "$1: the file stays" cmp "$2" old
}
hides "a server behind a CR in a comment" one.json \
	'{"mcpServers": { // x\r"a": {"command": "true"},\n"b": {"command": "true"}}}' 'line 1, column 22'
hides "a variable behind U+2028 in a comment" one.json \
	'{"mcpServers": {"a": {"command": "true",\n// x\xe2\x80\xa8"env": {"LD_PRELOAD": "x"},\n}}}' 'line 2, column 5'
hides "a variable behind a CR in YAML" one.yaml \
	'extensions:\n  a:\n    cmd: true # x\r    envs: {LD_PRELOAD: x}\n' 'line 3, column 18'
starts "CR and LF behind a comment" $'"command": "true", // x\r\n "args": []'

# Some readers of YAML merge << and others do not.
for text in \
	$'d: &d {envs: {LD_PRELOAD: /x}}\nextensions:\n  a: {cmd: true, <<: *d}\n' \
	$'d: &d {cmd: true}\nextensions:\n  a: {<<: *d}\n' \
	$'d: &d {LD_PRELOAD: /x}\nextensions:\n  a: {cmd: true, envs: {<<: *d}}\n' \
	$'d: &d {b: {cmd: true}}\nextensions: {<<: [*d]}\n' \
	$'<<: &d {extensions: {b: {cmd: true}}}\nextensions: {}\n' \
	$'mcp:\n  <<: {servers: {b: {command: true}}}\n'; do
	printf '%s' "$text" >merge.yaml
	cp merge.yaml old
	run_matins wrap merge.yaml --write
	exit_is "a merge key: status: $text" 1
	err_like "a merge key: said: $text" '(a|<<) (gets keys by <<|sets variables in a form)'
	ok "a merge key: the file stays: $text" cmp merge.yaml old
	run_matins import merge.yaml
	err_like "import: a merge key is said: $text" '(<< brings keys of another place|envs.<< is no text)'
done

# ---- files and folders that a server names ----

# The file of a client is the user's words, but a server of a project that was
# copied may name anything: beside its own project nothing is granted unasked.
mkdir proj proj/notes "$HOME/docs"
: >"$HOME/memory.json"
named() { # named JSON: the one server of a file in a project
	printf '{"mcpServers": {"a": {"command": "true", %s}}}' "$1" >proj/.mcp.json
}
rows() { # rows TITLE OPTIONS ARGS...: wrap writes these options of exec
	local title=$1 options=$2

	shift 2
	run_matins wrap proj/.mcp.json --write "$@"
	is "$title" "$(sed 's/.*"exec", //; s/"--", "true".*//; s/[",]//g; s/ $//' proj/.mcp.json)" "$options"
}
named '"args": ["-y", "./notes"]'
rows "a relative folder of the project: it alone is granted" "--read $T/proj/notes"
named "\"args\": [\"$T/proj/notes\"]"
rows "so is an absolute one" "--read $T/proj/notes"
exit_is "which is a success" 0
err_like "the option to write it is named" "a: argument 1 names $T/proj/notes, which it may read alone; .*--allow-write $T/proj/notes\$"
named '"args": ["."]'
rows "the project itself is not granted" ""
err_like "but said" "argument 1 names $T/proj, which it will not see: --allow-read $T/proj, "
named "\"args\": [\"$HOME/docs\"]"
rows "a folder beside the project is not granted" ""
exit_is "a folder beside the project: status" 1
err_like "a folder beside the project: the option" "a: argument 1 names $HOME/docs, which it will not see: --allow-read $HOME/docs, or where it writes --allow-write $HOME/docs\$"
named "\"args\": [\"--dir=$HOME/docs\"]"
rows "an option grants it" "--read ~/docs" --allow-read "$HOME/docs"
exit_is "an option grants it: status" 0
named "\"env\": {\"MEMORY_FILE_PATH\": \"$HOME/memory.json\"}"
rows "a file of a variable is not granted" "--env MEMORY_FILE_PATH"
exit_is "a file of a variable: status" 1
err_like "a file of a variable: the option" "a: env.MEMORY_FILE_PATH names $HOME/memory.json, which it will not see: .*--allow-write $HOME/memory.json\$"
named "\"env\": {\"MEMORY_FILE_PATH\": \"$HOME/memory.json\"}"
rows "the option for writing grants it" "--env MEMORY_FILE_PATH --write ~/memory.json" --allow-write "$HOME/memory.json"
named "\"env\": {\"DB\": \"$HOME/new.db\"}"
rows "a file to be made is not granted" "--env DB"
exit_is "a file to be made: status" 1
err_like "a file to be made in HOME: what to do" "env.DB names $HOME/new.db, which is not there, .*name one in a folder of its own"
named "\"env\": {\"DB\": \"$HOME/docs/new.db\"}"
rows "a file to be made in a folder is not granted" "--env DB"
err_like "a file to be made in a folder: what to do" "env.DB names $HOME/docs/new.db, which is not there, .*--allow-write $HOME/docs, its folder"
named "\"env\": {\"DB\": \"$HOME/docs/new.db\"}"
rows "so it can be made" "--env DB --write ~/docs" --allow-write "$HOME/docs"
exit_is "so it can be made: status" 0
printf '{"mcpServers": {"a": {"command": "bash", "args": ["%s"]}}}' \
	"$HOME/docs/gone.sh" >proj/.mcp.json
run_matins wrap proj/.mcp.json
err_like "a script that is not there is no file to be made" \
	"a: argument 1 names $HOME/docs/gone.sh, which it runs, and which is not there\$"
printf '{"mcpServers": {"a": {"command": "true", "args": ["%s"]}, "bad": {"command": "no-such-program-of-a-test", "args": ["%s"]}}}' \
	"$HOME/memory.json" "$HOME/docs" >proj/.mcp.json
run_matins wrap proj/.mcp.json --write --allow-write "$HOME/memory.json" --allow-write "$HOME/docs"
exit_is "a path that a server names that cannot start: status" 1
err_like "a path that a server names that cannot start: said" "--allow-write $HOME/docs: bad alone names that path"
like "the others are written" "$(<proj/.mcp.json)" '"exec", "--write", "~/memory.json"'
printf '{"mcpServers": {"a": {"command": "true"}, "bad": {"command": "no-such-program-of-a-test", "args": ["%s"]}}}' \
	"$HOME/docs" >proj/.mcp.json
run_matins import proj/.mcp.json --allow-write "$HOME/docs"
exit_is "import prints the others, too" 0
out_like "import prints the others, too: said" '^\[servers.a\]'
named '"args": ["/mcp-of-a-test", "--level=./none/such", "/etc/hosts", "a/b"], "env": {"SHELL": "/bin/sh"}'
rows "words that are no paths of the user are not granted" "--env SHELL"
err_unlike "words that are no paths of the user say nothing" names
# The gate opens a file whose name is an argument: beside the project it is said.
echo private >"$HOME/notes.txt"
ln -s "$HOME/notes.txt" proj/link
echo data >proj/data.txt
mkdir "$HOME/code"
echo pass >"$HOME/code/server.py"
for word in "$HOME/notes.txt" ./link link "$T/proj/link"; do
	named "\"args\": [\"$word\"]"
	run_matins wrap proj/.mcp.json
	exit_is "a file beside the project: status: $word" 1
	err_like "a file beside the project is said: $word" "a: argument 1 names $HOME/notes.txt, outside of its project, which it may read; --allow-read $HOME/notes.txt"
	run_matins wrap proj/.mcp.json --allow-read "$HOME/notes.txt"
	exit_is "a file that the option means: status: $word" 0
	err_unlike "a file that the option means is not said: $word" names
done
run_matins import proj/.mcp.json
err_like "import says it, too" "a: argument 1 names $HOME/notes.txt, outside of its project"
for word in ./data.txt data.txt /etc/hosts /usr/bin/env; do
	named "\"args\": [\"$word\"]"
	run_matins wrap proj/.mcp.json
	exit_is "a file of the project or the system: status: $word" 0
	err_unlike "a file of the project or the system is not said: $word" names
done
printf '{"mcpServers": {"a": {"command": "%s", "args": ["%s/code/server.py"]}}}' "$PYTHON" "$HOME" >proj/.mcp.json
run_matins wrap proj/.mcp.json
exit_is "the script of a server: status" 0
err_unlike "the script of a server is not said" names
rm proj/link proj/data.txt "$HOME/notes.txt"
# closed TITLE WHAT JSON: no row is written, and none is proposed
closed() {
	named "$3"
	run_matins wrap proj/.mcp.json --write
	exit_is "$1: status" 1
	unlike "$1: no row is written" "$(<proj/.mcp.json)" '"--(read|write)"'
	err_like "$1: said" "a: $2, which it will not see"
	err_unlike "$1: nothing is proposed" 'a: .*--allow-'
}
mkdir "$HOME/.ssh" "$HOME/.config/app" -p
: >"$HOME/.ssh/id_ed25519"
for dir in "$HOME/.ssh" / /etc "$HOME/" "$HOME/.config/app"; do
	[[ $dir == / ]] && continue
	closed "a folder to start in: $dir" 'cwd names [^,]*' "\"cwd\": \"$dir\""
done
named '"cwd": "/"'
rows "nor is the root granted" ""
closed "keys of an argument" "argument 1 names $HOME/.ssh" "\"args\": [\"$HOME/.ssh\"]"
closed "a key of a variable" "env.K names $HOME/.ssh/id_ed25519" "\"env\": {\"K\": \"$HOME/.ssh/id_ed25519\"}"
closed "HOME of a variable" "env.H names $HOME" "\"env\": {\"H\": \"$HOME\"}"
closed "the folder of homes" "env.G names ${HOME%/*}" "\"env\": {\"G\": \"${HOME%/*}\"}"
closed "a key to be made" "env.N names $HOME/.ssh/new" "\"env\": {\"N\": \"$HOME/.ssh/new\"}"
named '"cwd": "./notes"'
rows "a folder of the project to start in is granted, for reading" "--read $T/proj/notes"
named '"args": ["-y"]'
run_matins wrap proj/.mcp.json --write --allow-read "$HOME/docs"
exit_is "an option that no server names: usage" 64
like "an option that no server names: nothing is written" "$(<proj/.mcp.json)" '"command": "true"'
printf '{"mcpServers": {"a": {"command": "true", "args": ["./docs"]}}}' >"$HOME/.mcp.json"
run_matins wrap "$HOME/.mcp.json"
exit_is "HOME is no project: status" 1
err_like "HOME is no project" "argument 1 names $HOME/docs, which it will not see"

# ---- the file itself ----

mkdir real
printf '{"mcpServers": {"a": {"command": "true"}}}' >real/mcp.json
chmod 640 real/mcp.json
ln -s real/mcp.json link.json
cp real/mcp.json old
run_matins wrap link.json --write
exit_is "a link: status" 0
ok "a link stays one" test -L link.json
is "its file keeps its mode" "$(stat -c %a real/mcp.json)" 640
is "what was there is the user's alone" \
	"$(find "$XDG_STATE_HOME/matins/wrap" -type f ! -perm 600)" ""
echo >>real/mcp.json
cp real/mcp.json edited
run_matins wrap link.json --undo
exit_is "a file that was edited since: status" 1
err_like "a file that was edited since: what to do" 'was edited after .*/wrap/'
ok "a file that was edited since stays" cmp real/mcp.json edited
truncate -s -1 real/mcp.json
run_matins wrap link.json --undo
exit_is "as it was written it is put back" 0
err_like "as it was written it is put back: said" 'link.json is as it was$|real/mcp.json is as it was$'
ok "exactly" cmp real/mcp.json old
run_matins wrap link.json --undo
exit_is "and once only" 1
err_like "then there is none" 'not written by matins wrap'

# a file that cannot be written
mkdir 'read only'
printf '{"mcpServers": {"a": {"command": "true"}}}' >'read only/mcp.json'
cp 'read only/mcp.json' old
if [[ $(id -u) -ne 0 ]]; then
	chmod 500 'read only'
	chmod 400 'read only/mcp.json'
	run_matins wrap 'read only/mcp.json' --write
	chmod 700 'read only'
elif unshare --mount true 2>/dev/null; then
	# shellcheck disable=SC2016
	run_program /dev/null unshare --mount sh -c \
		'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"' \
		"$PWD/read only" "$BIN" wrap 'read only/mcp.json' --write
else
	status=1
fi
exit_is "a file that cannot be written: status" 1
ok "a file that cannot be written stays" cmp 'read only/mcp.json' old
run_matins wrap 'read only/mcp.json' --undo
err_like "--undo then says that it was not written" 'mcp.json was not written by matins wrap'
chmod 600 'read only/mcp.json'
run_matins wrap 'read only/mcp.json' --write
err_like "a path with a blank is quoted in what to type" "matins wrap 'read only/mcp.json' --undo puts it back"
run_matins wrap 'read only/mcp.json' --undo
exit_is "and it is put back" 0

# two writes, as of a server whose program came later
printf '{"mcpServers": {"a": {"command": "true"}, "b": {"command": "%s/later"}}}' "$T" >again.json
cp again.json first
run_matins wrap again.json --write
cp /bin/sh later
run_matins wrap again.json --write
run_matins wrap again.json --undo
err_like "--undo of two writes: an earlier text is told of" 'is as it was before the last write; an earlier text is kept'
run_matins wrap again.json --undo
err_like "--undo, again: none is left" 'again.json is as it was$'
ok "--undo, again: as it was" cmp again.json first

# two edits are undone one after the other
printf '{"mcpServers": {"a": {"command": "true"}\n}}' >two.json
cp two.json first
run_matins wrap two.json --write
sed -i '$s/^}/,"b": {"command": "true"}}/' two.json
cp two.json second
run_matins wrap two.json --write
isnt "a server that was added is wrapped" "$(cat two.json)" "$(cat second)"
run_matins wrap two.json --undo
ok "--undo: one step back" cmp two.json second
sed -i 's/^,"b": {"command": "true"}}/}/' two.json
run_matins wrap two.json --undo
ok "--undo: one more" cmp two.json first

# the newest of texts that were kept within one second is named
for n in 1 2 3 4 5 6 7 8; do
	printf '{"mcpServers": {"a": {"command": "true", "args": ["%s"]}}}' $n >eight.json
	run_matins wrap eight.json --write
done
echo >>eight.json
run_matins wrap eight.json --undo
exit_is "eight texts: an edited file: status" 1
like "eight texts: the newest one is named" \
	"$(cat "$(sed -n 's/.*the text before is \([^:]*\):.*/\1/p' "$err")")" '\["8"\]'

for bad in '' '{' '{"a": 1}' 'null'; do
	printf '%s' "$bad" >bad.json
	run_matins wrap bad.json --write
	exit_is "no servers: $bad: status" 1
	is "no servers: $bad: it stays" "$(cat bad.json)" "$bad"
done
# shared TITLE SAID: the file is not read, by import either
shared() {
	for command in import "wrap --write"; do
		# shellcheck disable=SC2086
		run_matins $command shared.json
		exit_is "$1: $command: status" 1
		err_like "$1: $command: said" "shared.json $2"
		is "$1: $command: it stays" "$(<shared.json)" '{"mcpServers": {"a": {"command": "true"}}}'
	done
}
printf '{"mcpServers": {"a": {"command": "true"}}}' >shared.json
chmod 666 shared.json
shared "a file that others may write" 'is writable by others, who could make you run anything'
chmod 644 shared.json
echo A=b >shared.env
chmod 666 shared.env
stays "a file of variables that others may write" "$unread" '"command": "true", "envFile": "shared.env"'
if [[ $(id -u) -eq 0 ]]; then
	chown 1234 shared.json
	shared "a file of another user" 'belongs to another user .uid 1234.'
else
	skip "a file of another user" "only root can make one"
fi
mkdir open
printf '{"mcpServers": {"a": {"command": "true"}}}' >open/c.json
ln -s open/c.json led.json
chmod 777 open
for file in open/c.json led.json; do
	for command in import wrap; do
		run_matins "$command" "$file"
		exit_is "a file in a folder of others: $command $file: status" 1
		err_like "a file in a folder of others: $command $file: said" \
			"$file lies in .*open, where another user could put one"
	done
done
chmod 1777 open
run_matins wrap open/c.json
exit_is "a file of ours in a sticky folder is read" 0
mkfifo pipe.json
run_matins wrap pipe.json --write
exit_is "a FIFO: status" 1
run_matins wrap none.json
exit_is "a file that is not there: status" 1
run_matins wrap
exit_is "no file: usage" 64
run_matins wrap c.json --undo --trace
exit_is "--undo starts nothing: usage" 64

done_testing
