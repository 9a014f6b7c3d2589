#!/usr/bin/env bash
# `add` installs servers into folders of their own and writes their tables;
# `remove` takes both away. A tree that changed is refused.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# shellcheck disable=SC2154
base=$HOME/.local/share/matins
servers=$base/servers

mkdir -p made/data
printf '%s\n' 'def text(name):' '    return open(name).read()' >made/helper.py
echo first >made/data/text.txt
tool_server made/server.py <<-'END'
	import os, helper
	text = helper.text(os.path.dirname(__file__) + "/data/text.txt")
END

# ---- a folder ----

run_matins add custom made -- "$PYTHON" server.py --verbose
exit_is "a folder is installed" 0
out_like "the table that is written is shown" '^\+\[servers.made\]$'
file_has "its program starts from the copy" matins.toml \
	"args = [\"$servers/made/tree/server.py\", \"--verbose\"]"
file_has "the copy is granted, for reading" matins.toml \
	"sandbox.read = [\"$servers/made/tree\"]"
file_unlike "and nothing of it for writing" matins.toml '^sandbox.write'
is "nothing else is left" "$(leftovers)" made
mv made gone
run_matins call t --server made
exit_is "it runs without the folder that it came from" 0
out_is "files that no start needed are there" first
run_matins check
exit_is "what is written passes check" 0
cp matins.toml first.toml
mv gone made

run_matins add custom made -- "$PYTHON" server.py
exit_is "a name that the configuration has" 1
err_like "the ways out are said" '--name'
file_is "nothing is written" matins.toml first.toml
run_matins add custom made --name made-two -- "$PYTHON" ./server.py
exit_is "another name" 0
run_matins call t --server made-two
out_is "both are there" first
run_matins servers --json
json_is "they are listed with their kind" servers[0].name made \
	servers[0].kind custom servers[0].state ok servers[1].name made-two
: >other.toml
run_matins add custom made -c other.toml -- "$PYTHON" server.py
exit_is "a server that another configuration has installed" 0
err_like "it is not installed twice" 'made is installed from there already'
file_has "its table starts the installed tree" other.toml "args = [\"$servers/made/tree/server.py\"]"
is "the tree is the only one" "$(leftovers)" $'made\nmade-two'
run_matins call t --server made -c other.toml
out_is "both configurations start it" first
mv "$servers/made" away
run_matins call t --server made -c other.toml
exit_is "a server whose files are gone" 1
err_like "it is said how to install it" 'made is not installed: .*matins add KIND SOURCE --name made'
mv away "$servers/made"
: >other.toml
cp -r made changed
echo second >changed/data/text.txt
run_matins add custom changed --name made -c other.toml -- "$PYTHON" server.py
exit_is "another server of a name that another configuration has installed" 1
err_like "it says where" 'is installed in'
rm -r changed
is "no draft is left" "$(ls -A "$base/installing")" ""

# ---- words as they are typed in the folder ----

cp matins.toml first.toml
run_matins add custom made --name broken -- "$PYTHON" nofile.py
exit_is "a file that the folder has not" 127
err_like "it is named" "made has no file .*nofile\.py"
: >made.tgz
mkdir crash
echo 'import no_module_of_a_test' >crash/server.py
run_matins add custom crash --print -- "$PYTHON" server.py
exit_is "a server that does not start: status" 2
err_like "the end of its stderr is shown" "No module named 'no_module_of_a_test'"
run_matins remove crash
: >made.tgz
run_matins add custom made.tgz -- "$PYTHON" server.py
exit_is "a file in place of a folder" 64
err_like "what to do" 'made.tgz is not a folder; unpack it'
file_is "nothing is written" matins.toml first.toml
is "nothing is installed" "$(leftovers)" $'made\nmade-two'
if [[ -n $NODE ]] && command -v npx >/dev/null; then
	module=launched/node_modules/mcp-of-a-test
	mkdir -p "$module"
	echo '{"name": "mcp-of-a-test", "version": "1.0.0", "bin": "s.js"}' >"$module/package.json"
	cat >"$module/s.js" <<-'END'
		#!/usr/bin/env node
		require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
			const m = JSON.parse(line);
			const result = m.method === 'initialize'
				? { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} },
					serverInfo: { name: 's', version: '1' } }
				: m.method === 'tools/list'
					? { tools: [{ name: 't', inputSchema: { type: 'object' } }] }
					: { content: [{ type: 'text', text: 'launched' }] };
			if ('id' in m)
				console.log(JSON.stringify({ jsonrpc: '2.0', id: m.id, result }));
		});
	END
	chmod +x "$module/s.js"
	run_matins add custom launched -- npx -y mcp-of-a-test
	exit_is "a package of the folder, by its launcher" 0
	mv launched away
	run_matins call t --server launched
	out_is "it starts from the copy" launched
	run_matins servers --json
	json_is "it is one that was installed" servers[2].name launched servers[2].kind custom servers[2].state ok
	echo "// changed" >>"$servers/launched/tree/node_modules/mcp-of-a-test/s.js"
	run_matins call t --server launched
	err_like "changed files are refused" 'server launched is not as it was installed'
	run_matins remove launched
	exit_is "it is removed" 0
	ok "with its files" test ! -e "$servers/launched"
	run_matins add custom made --name none -- npx -y mcp-of-a-test
	exit_is "a package that the folder has not" 127
	err_like "a package that the folder has not: said" 'mcp-of-a-test is not installed'
else
	skip "a package of the folder, by its launcher" "node is not here"
fi

# ---- ended by a signal ----

mkdir mute
echo 'import time; time.sleep(60)' >mute/server.py
"$BIN" add custom mute -- "$PYTHON" server.py >/dev/null 2>&1 &
for _ in {1..200}; do
	grep -qsa "$servers/mute/tree/[s]erver.py" /proc/[0-9]*/cmdline && break
	sleep 0.05
done
kill -TERM $!
wait $!
is "add that SIGTERM ended: status" $? 143
ok "nothing of it is installed" test ! -e "$servers/mute"
rm -r mute

# ---- a tree that changed is refused ----

tamper() { # NAME COMMAND...: changed and refused, changed back and not
	local name=$1

	shift
	cp -a "$servers/made/tree" kept
	(cd "$servers/made/tree" && "$@")
	run_matins call t --server made
	isnt "$name: refused" "$status" 0
	err_like "$name: it is said" 'not as it was installed'
	rm -rf "$servers/made/tree"
	mv kept "$servers/made/tree"
	run_matins call t --server made
	exit_is "$name: the same files again are the same tree" 0
}
tamper "a byte" sed -i s/read/READ/ helper.py
tamper "a file more" touch data/new
tamper "a file less" rm data/text.txt
tamper "a link in place of a file" \
	sh -c 'cp helper.py h && ln -sf h helper.py'
tamper "a file that may be executed" chmod +x helper.py
tamper "a FIFO" mkfifo data/fifo
tamper "a link that leads out" ln -sf ../../../../../../made/helper.py helper.py
tamper "a link that leads out behind a folder" ln -sf data/../../../made/helper.py helper.py
tamper "an absolute link to another file" ln -sf "$T/made/helper.py" helper.py
echo changed >"$servers/made/tree/data/text.txt"
run_matins servers --json
json_is "the list says so" servers[0].state '~^error: .*not as it was installed'
cat >>matins.toml <<-END
	[[routines.r.steps]]
	name = "s"
	type = "mcp-client"
	server = "made"
	tool = "t"
END
run_matins run r --json
exit_is "a step is denied" 2
json_is "by its pin" step_results[0].state denied step_results[0].reason pin
changed="server made is not as it was installed: files in $servers/made/tree have changed"
run_matins doctor r
exit_is "the doctor: status" 1
out_like "the doctor says so" "$changed"
run_matins check
err_like "check says so" "matins.toml:[0-9]+:[0-9]+: warning: $changed"
run_matins call t --server made --integrity off
out_is "files may be edited in place, when that is said" changed
sed -i '/^\[servers.made\]/a integrity = "off"' matins.toml
run_matins check
err_unlike "nor does check speak of it then" 'not as it was'
run_matins run r --json
exit_is "by the key of the server, too" 0
rm -r "$servers/made"
run_matins servers --json
json_is "without its folder" servers[0].state "not installed"
cp first.toml matins.toml

# ---- a server that writes among its own files ----

mkdir writer own
tool_server writer/server.py <<-'END'
	import os
	text, bad = "done", False
	try:
	    open(os.environ.get("LOG", os.path.dirname(__file__) + "/log.txt"), "w")
	except OSError as e:
	    text, bad = str(e), True
END
run_matins add custom writer -- "$PYTHON" server.py
run_matins call t --server writer
exit_is "a server that writes into its tree: it fails" 2
err_like "it is told that no grant helps" \
	"$servers/writer/tree/log.txt lies with the files of an installed server, which are never written: give it another place"
err_unlike "and to no trace" 'matins trace'
if [[ $(id -u) -eq 0 ]]; then chmod 777 own; fi
sed -i "/^\[servers.writer\]/a env = { LOG = \"$T/own/log.txt\" }\nsandbox.write = [\"$T/own\"]" matins.toml
run_matins call t --server writer
exit_is "with another place it writes" 0
cp first.toml matins.toml
rm -r "$servers/writer"

# ---- links of a folder ----

# link TARGET NAME: the folder has one more link
link() {
	rm -rf linked
	cp -a made linked
	ln -s "$1" "linked/$2"
}
# no_link TITLE TARGET NAME WHY: such a folder is not installed
no_link() {
	link "$2" "$3"
	run_matins add custom linked -- "$PYTHON" server.py
	exit_is "$1: status 1" 1
	err_like "$1: why" "$4"
	not_ok "$1: nothing is left" test -e "$servers/linked"
}
no_link "a link out of the folder" ../made/helper.py far.py 'links to ../made/helper.py, which leads out'
no_link "out of a folder in it" ../../made/helper.py data/far.py 'leads out'
no_link "out by a way down" data/../../made/helper.py far.py 'leads out'
no_link "to a folder elsewhere" "$T/made" far 'no program and lies outside'
echo private >"$T/diary"
chmod 600 "$T/diary"
no_link "to a private file elsewhere" "$T/diary" far 'no program and lies outside'
no_link "to nothing elsewhere" "$T/none" far 'links to .*No such file'
for target in helper.py ./data/text.txt data /usr/bin/env /usr/lib; do
	link "$target" more
	run_matins add custom linked -- "$PYTHON" server.py
	exit_is "a link to $target: installed" 0
	is "a link to $target stays one" "$(readlink "$servers/linked/tree/more")" "$target"
	run_matins remove linked
done
link ../helper.py data/more
ln -s data/more linked/again
echo '# one' >far.py
chmod 700 far.py
ln -s "$T/far.py" linked/far.py
run_matins add custom linked -- "$PYTHON" server.py
exit_is "a link up in the folder, and one to a program elsewhere: installed" 0
run_matins call t --server linked
exit_is "while that file is as it was the server starts" 0
echo '# two' >far.py
run_matins call t --server linked
isnt "when it is edited the server is refused" "$status" 0
err_like "that is said" 'not as it was installed'

# ---- trees that are too large ----

truncate -s 5G "$servers/linked/tree/large"
run_matins remove linked
exit_is "a tree over the bounds is removed" 0
not_ok "it is gone" test -e "$servers/linked"
is "so is its draft" "$(ls -A "$base/installing")" ""
link helper.py more
truncate -s 5G linked/large
run_matins add custom linked -- "$PYTHON" server.py
exit_is "a folder over the bounds is not installed" 1
err_like "it is named" "$T/linked has more than"
rm linked/large
truncate -s 5G large
chmod +x large
ln -s "$T/large" linked/far
run_matins add custom linked -- "$PYTHON" server.py
exit_is "nor one with a link to a file over the bounds" 1
rm -r linked large
deep() { # a folder whose path is longer than the kernel takes
	mkdir -p "$base/installing/deep.left/tree"
	(cd -P "$base/installing/deep.left/tree" && for ((i = 0; i < 60; i++)); do
		mkdir "${1}" && cd -P "$1" || exit
	done)
}
deep "$(printf '%0100d' 0)"
run_matins servers
not_ok "a draft of any depth is swept away" test -e "$base/installing/deep.left"

# ---- what the program cannot do ----

run_matins remove made-two
run_matins remove made
exit_is "a table without its folder is removed" 0
mkdir writer
tool_server writer/server.py <<-'END'
	import os
	text = str(os.access(os.path.dirname(__file__), os.W_OK))
END
run_matins add custom writer -- "$PYTHON" server.py
run_matins call t --server writer
out_is "a server cannot write its own files" False
run_matins call t --server writer --write "$HOME" --integrity off
out_is "nor where its folder lies in a grant" False
run_matins exec --write "$base" -- touch "$servers/writer/tree/x"
isnt "nor can another program" "$status" 0
not_ok "the file is not there" test -e "$servers/writer/tree/x"
run_matins exec --write "$base" -- touch "$base/x"
exit_is "beside the servers it can" 0
ok "that file is there" test -e "$base/x"
rm -f "$base/x"

# ---- what it reaches for at its first start ----

mkdir -p "$HOME/Documents" greedy
echo secret >"$HOME/Documents/diary"
tool_server greedy/main.py <<-'END'
	text = diary
END
cat - greedy/main.py >greedy/server.py <<-'END'
	import os
	diary = "none"
	try:
	    open(os.path.expanduser("~/Documents/planted"), "w").close()
	except OSError:
	    pass
	try:
	    diary = open(os.path.expanduser("~/Documents/diary")).read().strip()
	except OSError:
	    pass
END
cp matins.toml first.toml
run_matins add custom greedy -- "$PYTHON" server.py
exit_is "a server that reads a diary at once is installed" 0
err_like "it is said" 'not granted: sandbox.write = .*Documents'
file_unlike "no row grants it" matins.toml '^sandbox.*Documents'
file_like "a comment names it" matins.toml '^# wanted .*Documents'
run_matins call t --server greedy
out_is "the diary is closed" none
run_matins remove greedy
cp first.toml matins.toml
run_matins allow
run_matins add custom greedy --grant -- "$PYTHON" server.py
file_like "--grant grants it" matins.toml '^sandbox.*Documents'
file_unlike "and leaves no comment" matins.toml '^# wanted'
run_matins call t --server greedy
out_is "the diary is open then, and a server that may write still starts" secret
run_matins remove greedy

mkdir foreign
cat >foreign/matins.toml <<-END
	[sandbox]
	write = ["$T/out"]
END
mkdir out
sed -i "s|^diary = .*|try: open('$T/out/planted', 'w').close()\\nexcept OSError: pass|" greedy/server.py
cd foreign || exit
MATINS_ALLOW="" run_matins add custom ../greedy --print -- "$PYTHON" server.py
out_like "below a configuration that is not allowed it is installed" greedy
not_ok "and its first start gets nothing of that" \
	test -e "$T/out/planted"
cat >client.json <<-END
	{"mcpServers": {"g": {"command": "$PYTHON",
	    "args": ["$T/greedy/server.py"]}}}
END
MATINS_ALLOW="" run_matins import client.json --trace
not_ok "nor does that of import" test -e "$T/out/planted"
run_matins import client.json --trace -c matins.toml
ok "one that is named gives it" test -e "$T/out/planted"
cd .. || exit
run_matins remove greedy

chmod 700 "$HOME/.local"
run_matins add custom writer --name closed -- "$PYTHON" server.py
exit_is "a server below a folder that is closed to others starts" 0
run_matins remove closed

# ---- a url, --print ----

run_matins add url https://mcp.example.com/mcp
exit_is "a url" 0
file_has "its name is of the host" matins.toml '[servers.example]'
run_matins add url 'not a url'
isnt "a text that is no URL" "$status" 0
run_matins add url http://mcp.example.com/mcp --name plain
exit_is "plain http beyond this machine is refused" 1
err_like "plain http: said" 'plain http is for loopback only'
run_matins add url https://mcp.example.com/mcp --name a/b
exit_is "a name with a slash" 64
cp matins.toml first.toml
run_matins add url https://docs.example.org/mcp --print
exit_is "--print" 0
out_is "prints the table alone" '# from matins add url https://docs.example.org/mcp
[servers.docs]
url = "https://docs.example.org/mcp"'
run_matins add custom made --print -- "$PYTHON" server.py
out_like "--print of a folder, which is installed" "tree/server.py"
is "it stays" "$(leftovers)" "made
writer"
file_is "nothing is written" matins.toml first.toml

# ---- removed ----

run_matins remove made
exit_is "an installed server that no table names is removed" 0
run_matins remove example
exit_is "a url is removed" 0
file_unlike "with its comment" matins.toml 'example'
cat >>matins.toml <<-END

	# kept
	[[routines.r.steps]]
	name = "s"
	type = "mcp-client"
	server = "writer"
	tool = "t"
END
cp matins.toml first.toml
run_matins remove writer
exit_is "a server that a step names stays" 1
err_like "the step is named" \
	'matins\.toml:[0-9]+: step r/s names the server writer; take the step out'
file_is "so does its table" matins.toml first.toml
is "so do its files" "$(leftovers)" writer
sed -i '/^# kept/,$d' matins.toml
run_matins remove writer
exit_is "without the step it goes" 0
is "with its files" "$(leftovers)" ""
file_unlike "with its table" matins.toml 'servers'
run_matins remove writer
exit_is "it is not there twice" 1

# ---- failures leave nothing ----

run_matins add custom nowhere -- x
exit_is "a folder that is not there" 1
run_matins add custom made
exit_is "no program" 64
mkfifo made/fifo
run_matins add custom made -- "$PYTHON" server.py
exit_is "a folder with something that is no file" 1
rm made/fifo
run_matins add flatpak made
exit_is "an unknown kind" 64
is "nothing is left" "$(leftovers)" ""
mv matins.toml first.toml
echo 'broken' >matins.toml
run_matins add custom made -- "$PYTHON" server.py
exit_is "a configuration that is broken" 1
is "nothing is installed" "$(leftovers)" ""
mv first.toml matins.toml
mkdir bad
echo 'import sys; sys.exit(3)' >bad/server.py
run_matins add custom bad -- "$PYTHON" server.py
exit_is "a server that does not start is installed, and it is told" 2
err_like "with the way to try again" 'servers test bad'
run_matins servers
out_like "the list says so" '^bad +custom +error: '
run_matins remove bad

# ---- two at once, and killed at any time ----

seq 300 | while read -r i; do head -c 20000 /dev/zero >"made/data/$i"; done
for i in 1 2 3 4; do
	"$BIN" add custom made --name "m$i" -- "$PYTHON" server.py \
		>"two.$i" 2>&1 &
done
wait
is "four at once are installed" "$(leftovers)" "m1
m2
m3
m4"
is "all have their table" "$(grep -c '^\[servers.m' matins.toml)" 4
for i in 1 2; do
	"$BIN" add custom made --name same -- "$PYTHON" server.py >"two.$i" 2>&1 &
done
wait
is "of two with one name there is one" \
	"$(grep -c '^\[servers.same\]' matins.toml)" 1
run_matins call t --server same
exit_is "and it is whole" 0
for i in 1 2 3 4; do
	"$BIN" remove "m$i" >"two.$i" 2>&1 &
	"$BIN" add url "https://mcp.example.com/$i" --name "u$i" \
		>"url.$i" 2>&1 &
done
wait
is "removed and added at once: all of the ones are gone" \
	"$(grep -c '^\[servers.m[1-4]\]' matins.toml)" 0
is "all of the others are there" "$(grep -c '^\[servers.u' matins.toml)" 4
cp matins.toml first.toml
ls "$servers" >first.list
for ms in 005 020 050 100 200 400; do
	"$BIN" add custom made --name killed -- "$PYTHON" server.py \
		>/dev/null 2>&1 &
	pid=$!
	sleep "0.$ms"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	if grep -q '^\[servers.killed\]' matins.toml; then
		run_matins call t --server killed
		exit_is "after $ms ms: it is in the table, and whole" 0
		run_matins remove killed
	fi
	wait_for 30 swept "$(<first.list)"
	is "after $ms ms: nothing is left" "$(leftovers)" "$(<first.list)"
	file_is "after $ms ms: the configuration is whole" matins.toml first.toml
done
ended() {
	[[ -z $(_with_mark "$servers/killed") ]]
}
wait_for 30 ended
nothing_left "no program is left" "$servers/killed"

# ---- an upgrade that is killed ----

# upgrade_killed FOLDER CALL...: what the server says after an upgrade to the
# folder was killed at these calls, the first ones of each, each answer once
upgrade_killed() {
	local n call

	for call in "${@:2}"; do
		for n in 1 2; do
			rm -f tried
			"$HELPERS/fail" tried "$call" KILL $n -- "$BIN" \
				upgrade up "$1" >said 2>&1
			[[ -e tried ]] || break
			run_matins call t --server up
			cat "$out" "$err"
		done
	done | uniq
}
rm -rf made/data/[0-9]*
cp -r made second
echo second >second/data/text.txt
cp -r made broken
echo 'raise SystemExit(3)' >broken/server.py
run_matins add custom made --name up -- "$PYTHON" server.py
if "$HELPERS/fail" tried lseek EIO 1000 -- "$(type -P true)" 2>/dev/null; then
	is "by one that does not start: the old one stays, whole" \
		"$(upgrade_killed broken rename renameat2)" first
	is "by one that starts: the old one stays, or the new one, whole" \
		"$(upgrade_killed second rename renameat2 unlink)" $'first\nsecond'
else
	skip "an upgrade that is killed" "no process can be traced here"
fi
wait_for 30 swept "$(leftovers | grep -v '^up\.')"
is "nothing is left of it" "$(ls -A "$base/installing")" ""
sed -i '/^\[servers.up\]/i # mine' matins.toml
run_matins upgrade up second
exit_is "then it is upgraded" 0
file_has "a comment that is not as add wrote it stays" matins.toml '# mine'
sed -i '/^# mine$/d' matins.toml
run_matins upgrade up second
file_like "one that is names the new folder" matins.toml '^# from matins add custom second$'
run_matins call t --server up
out_is "then the new one answers" second

as_user run_matins add custom made --name plain -- "$PYTHON" server.py
exit_is "an ordinary user installs, too" 0
as_user run_matins call t --server plain
out_is "and calls" first

done_testing
