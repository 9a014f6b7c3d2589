#!/usr/bin/env bash
# Advice in the report of a step that was refused something: its line, put into
# the step, makes the step work. Failures of other causes get none.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

mkdir elsewhere shelf dist
echo "call the dentist" >elsewhere/a.md
chmod 777 shelf dist

# step NAME KEYS [LINE]...: run a file with one step, and further lines of it
step() {
	local name=$1 keys=$2

	shift 2
	{
		printf '[[routines.r.steps]]\nname = "%s"\n' "$name"
		printf '%s\n' "$keys" "$@"
	} >"$name.toml"
	run_matins run -c "$name.toml" r --json
}

# lines: the TOML lines of the advice
lines() {
	"$PYTHON" -c 'import json, sys
for a in json.load(open(sys.argv[1]))["step_results"][0].get("advice", []):
    if a["toml"]:
        print(a["toml"])' "$out"
}

# follow NAME KEYS WANTED OUTPUT: refused at first, with this advice; then the
# step works, with the advised lines in the place of its own ones of that key
follow() {
	local name=$1 keys=$2 advised line

	step "$name" "$keys"
	advised=$(lines)
	is "$name: the advice" "$advised" "$3"
	json_is "$name: the last piece finds the rest" \
		step_results[0].advice[-1].text "~matins trace -c [^ ]*.toml r $name" \
		step_results[0].advice[-1].toml ''
	while read -r line; do
		keys=$(grep -v "^${line%% *} " <<<"$keys")
	done <<<"$advised"
	step "$name" "$keys" "$advised"
	json_is "$name: the advice makes it work" step_results[0].state ok \
		step_results[0].output "$4"
	is "$name: then there is none left" "$(lines)" ''
}

# none NAME KEYS: a failure that the sandbox has no part in
none() {
	step "$1" "$2"
	isnt "$1: it failed" "$status" 0
	is "$1: no advice" "$(grep -c '"advice"' "$out")" 0
}

script='type = "script"'
in_place='# in place of the row that is there'

# a line stands where the sandbox of the step is written
follow in-table "$script
command = 'sh'
args = ['-c', 'echo read: \$(cat elsewhere/a.md)']
on_refusal = 'fail'
[routines.r.steps.sandbox]
memory = '64MiB'" 'read = ["elsewhere/a.md"] # in [routines.r.steps.sandbox]' \
	'read: call the dentist'
step in-braces "$script
command = 'sh'
args = ['-c', 'echo read: \$(cat elsewhere/a.md)']
sandbox = { memory = '64MiB', read = ['elsewhere/b.md'] }"
is "in braces: the advice" "$(lines)" \
	'read = ["elsewhere/b.md", "elsewhere/a.md"] # in sandbox = { }, in place of the row that is there'

# Steps share the program of a declared server, and so its sandbox.
mkdir serves
tool_server serves/reads.py <<END
try:
    text, bad = open("$T/elsewhere/a.md").read().strip(), False
except OSError as e:
    text, bad = str(e), True
END
for own in '' 'sandbox.memory = "512MiB"' 'sandbox = { memory = "512MiB" }' \
	$'[servers.s.sandbox]\nmemory = "512MiB"'; do
	{
		printf '[servers.s]\ncommand = "%s"\n' "$PYTHON"
		printf 'args = ["serves/reads.py"]\n%s\n' "$own"
		printf '[[routines.r.steps]]\nname = "s"\ntype = "mcp-client"\n'
		printf 'server = "s"\ntool = "t"\n'
	} >shared.toml
	run_matins run -c shared.toml r --json
	case $own in
	*']'*) where="read = [\"elsewhere/a.md\"] # in [servers.s.sandbox]" ;;
	*'{'*) where="read = [\"elsewhere/a.md\"] # in sandbox = { } of [servers.s]" ;;
	*) where="sandbox.read = [\"elsewhere/a.md\"] # in [servers.s]" ;;
	esac
	is "the server has ${own:-no sandbox}: its line" "$(lines)" "$where"
	[[ $own == *'{'* ]] && continue
	sed -i "/^\[\[routines/i $where" shared.toml
	run_matins run -c shared.toml r --json
	json_is "the server has ${own:-no sandbox}: it works there" \
		step_results[0].output 'call the dentist'
done

# ---- programs ----

follow weather "$script
command = 'sh'
args = ['-c', 'echo \$(basename /a/news): \$(cat elsewhere/a.md)']
cwd = '$T'
sandbox.preset = ['none']
sandbox.read = ['.']" \
	'sandbox.exec = ["basename", "cat"]' 'news: call the dentist'
follow archive "$script
command = 'tar'
args = ['cvzf', '$T/shelf/a.tgz', 'a.md']
cwd = 'elsewhere'
sandbox.preset = ['none']
sandbox.read = ['elsewhere']
sandbox.write = ['shelf']" \
	'sandbox.exec = ["sh", "gzip"]' 'a.md'

if type -P make gcc >/dev/null; then
	printf 'a: a.c\n\t@gcc -o $@ $<\n' >shelf/Makefile
	echo 'int main(void) { return 0; }' >shelf/a.c
	follow tools "$script
command = '$PYTHON'
args = ['-c', 'import subprocess as s; print(s.call([\"make\", \"-B\", \"-C\", \"$T/shelf\", \"-s\"]))']
cwd = 'shelf'
sandbox.write = ['shelf']" \
		'sandbox.preset = ["build"]' '0'
else
	skip "make with gcc" "no gcc or make"
fi

# ---- files ----

follow reading "$script
command = '$PYTHON'
args = ['-c', 'print(open(\"$T/elsewhere/a.md\").read())']" \
	"sandbox.read = [\"$T/elsewhere/a.md\"]" 'call the dentist'
follow writing "$script
command = 'sh'
args = ['-c', 'echo x >$T/shelf/new && echo done']
sandbox.read = ['shelf']" \
	"sandbox.write = [\"$T/shelf\"]" 'done'

echo "cat $T/elsewhere/a.md" >shelf/read.sh
follow a-script "$script
command = 'sh'
args = ['$T/shelf/read.sh']
sandbox.read = ['shelf/read.sh']" \
	"sandbox.read = [\"shelf/read.sh\", \"$T/elsewhere/a.md\"] $in_place" \
	'call the dentist'
# a path that the program alone names makes no row
echo "$T/elsewhere/a.md" >shelf/list
step its-own-wish "$script
command = 'sh'
args = ['-c', 'while read -r f; do cat \"\$f\"; done <shelf/list']
sandbox.read = ['shelf/list']"
is "a path in the words of a program alone: no line" "$(lines)" ''
json_is "a path in the words of a program alone: it is named" \
	step_results[0].advice[0].text "$T/elsewhere/a.md is not granted" \
	step_results[0].advice[-1].text '~matins trace -c'
step ends-well "$script
command = 'sh'
args = ['-c', 'while read -r f; do cat \"\$f\"; done <shelf/list; :']
sandbox.read = ['shelf/list']"
is "said by one that ended well: no line" "$(lines)" ''
json_is "said by one that ended well: it counts as refused" \
	step_results[0].refused true \
	step_results[0].advice[0].text "$T/elsewhere/a.md is not granted"

echo "buy bread" >shelf/b.md
follow one-more "$script
command = 'sh'
args = ['-c', 'cat elsewhere/a.md shelf/b.md']
sandbox.read = ['elsewhere', '~']" \
	"sandbox.read = [\"elsewhere\", \"~\", \"shelf/b.md\"] $in_place" \
	$'call the dentist\nbuy bread'

# "." is one row only where neither HOME nor keys lie in it.
step home "$script
command = 'sh'
args = ['-c', 'echo x >result; ls']"
json_is "a folder around HOME: no line opens it" \
	step_results[0].advice[0].toml '' step_results[0].refused true \
	step_results[0].advice[0].text '~dropped with it: result; HOME or keys lie in there, so let it write into a folder of its own \(move the file there\)'
mkdir -m "$(stat -c %a .)" project
chown --reference=. project
cd project || exit 1
mkdir -m 777 notes backup
cp ../elsewhere/a.md notes
follow named "$script
command = 'tar'
args = ['cvf', 'backup/notes.tar', 'notes']" \
	'sandbox.read = ["notes"]
sandbox.write = ["backup"]' $'notes/\nnotes/a.md'
follow beside "$script
command = 'tar'
args = ['cvf', 'notes.tar', 'notes']" \
	'sandbox.write = ["."]' $'notes/\nnotes/a.md'
step gone "$script
command = 'tar'
args = ['-cf', '-', '-C', 'notes/gone', 'x']"
is "a folder to start in that is not there needs no grant" "$(lines)" ""
follow copied "$script
command = 'cp'
args = ['$PWD/notes/a.md', '$PWD/backup/b.md']" \
	"sandbox.write = [\"$PWD/backup\"]" ''
follow teed "$script
command = 'tee'
args = ['$PWD/backup/c.md']" "sandbox.write = [\"$PWD/backup\"]" ''
follow in-place "$script
command = 'sed'
args = ['-i', 's/call/phone/', '$PWD/notes/a.md']" \
	"sandbox.write = [\"$PWD/notes\"]" ''
cp ../elsewhere/a.md notes
chmod 666 notes/a.md
follow removed "$script
command = 'sh'
args = ['-c', 'rm -f $PWD/notes/a.md; ls notes']
sandbox.read = ['notes', 'notes/a.md']" \
	"sandbox.write = [\"$PWD/notes\"]" ''
cp ../elsewhere/a.md notes
if command -v sqlite3 >/dev/null; then
	sqlite3 notes/t.db 'create table t(a)'
	chmod 666 notes/t.db
	follow database "$script
command = 'sqlite3'
args = ['$PWD/notes/t.db', 'insert into t values(1)']" \
		"sandbox.write = [\"$PWD/notes\"]" ''
	rm notes/t.db
else
	skip "database: a database that is only read" "sqlite3 is not installed"
fi
step nowhere "$script
command = 'cat'
args = ['none.md']"
is "a file that is nowhere: no row is advised" "$(lines)" ""
printf '%s\n' '[[routines.r.steps]]' 'name = "today"' 'type = "script"' \
	'command = "printf"' 'args = ["buy milk\\ncall"]' \
	'[[routines.r.steps]]' 'name = "find"' 'type = "script"' \
	'command = "grep"' 'args = ["x", "$steps.today.output"]' >data.toml
run_matins run -c data.toml r --json
json_is "a text that a program takes for a file: no row either" \
	step_results[1].advice '#1' step_results[1].advice[0].text \
	'argument 2 is the value of a reference, and the program takes it for the name of a file'
ln -s .. up
step outside "$script
command = 'tar'
args = ['cvf', 'backup/../../notes.tar', '..', 'up', 'up/x.tar', 'none/x']"
is "paths that lead out of the folder are not advised" "$(lines)" \
	'sandbox.read = ["."]'

cd ..

# ---- files that stay as they are ----

# kept NAME COMMAND FILE WHY: a change of a file in a granted folder is refused,
# the file and the reason are said, and nothing is advised that cannot help
kept() {
	step "$1" "$script
command = 'sh'
args = ['-c', '$2']
sandbox.preset = ['git']
sandbox.write = ['.']"
	isnt "$1: it failed" "$status" 0
	json_is "$1: the file, and why" \
		step_results[0].advice[0].text "~project/$3 $4" \
		step_results[0].advice[0].toml ''
	is "$1: no trace is offered, which would find nothing" \
		"$(grep -c 'everything that it needs' "$out")" 0
}

cd project || exit
git init -q
chown -R --reference=. .git
touch .envrc
chmod 666 .envrc
own='is never writable for a program, because matins starts what it says'
other='stays as it is in a folder that is granted, .* add the file itself to'
for to in changed.toml ./changed.toml; do
	kept changed "echo x >$to" changed.toml "$own"
done
kept moved 'echo x >new; mv -f new moved.toml' moved.toml "$own"
kept entered 'echo x >.envrc' .envrc "$other"
kept git 'git config user.name x' .git/config "$other"
kept edited 'sed -i s/x/y/ edited.toml' \
	'.*edited.toml' 'cannot be replaced by a program'
step meant "$script
command = 'sh'
args = ['-c', 'echo x >.envrc && git config user.name x && echo done']
sandbox.preset = ['git']
sandbox.write = ['.', '.envrc', '.git/config']"
json_is "their twins, which write names: changed" \
	step_results[0].output 'done'
rm -rf .git .envrc

# What a program makes, replaces or removes: a row of the folder, at once.
mkdir -m 777 "$HOME/out"
echo old >"$HOME/out/old"
echo milk >"$HOME/out/list"
chmod 666 "$HOME"/out/*
out_row="sandbox.write = [\"$HOME/out\"]"
step nowhere "$script
command = 'sh'
args = ['-c', 'echo new >$HOME/out/new']"
json_is "a shell that says the folder is not there: the folder to grant" \
	step_results[0].advice[0].toml "$out_row"
step nowhere "$script
command = 'sh'
args = ['-c', 'echo new >$HOME/absent/new']"
out_unlike "a folder that is nowhere is not offered" 'sandbox.write'
for row in '' "sandbox.read = ['~/out/old']"; do
	step removed "$script
command = 'sh'
args = ['-c', 'rm -f ~/out/old; echo done']
$row"
	json_is "a file that is removed: refused, whatever the status ($row)" \
		step_results[0].refused true step_results[0].advice[0].toml "$out_row" \
		step_results[0].advice[0].text "denied: write $HOME/out/old, which lies in no folder granted for it"
done
[[ -e $HOME/out/old ]]
is "and it is still there" $? 0
follow edited "$script
command = 'sed'
args = ['-i', 's/milk/beer/', '$HOME/out/list']" "$out_row" ''
follow copied "$script
command = 'cp'
args = ['$HOME/out/list', '$HOME/out/copy']" "$out_row" ''
follow teed "$script
command = 'sh'
args = ['-c', 'echo hi | tee ~/out/teed']
sandbox.preset = ['none']
sandbox.exec = ['tee']" "$out_row" hi
follow appended "$script
command = 'sh'
args = ['-c', 'echo hi >>~/out/list && echo done']" "$out_row" 'done'

# A name without a mark of a path, of a write that was refused.
follow bare "$script
command = 'sh'
args = ['-c', 'echo x >./result && echo done']
sandbox.read = ['.']" \
	"sandbox.write = [\"$T/project\"]" 'done'
cd ..

step tilde "$script
command = 'cat'
args = ['~/none.md']"
json_is "an argument that begins with ~: said first" \
	step_results[0].advice[0].text '~^\~/none\.md was passed on as it is' \
	step_results[0].advice[0].toml ''

step variable "$script
command = 'cat'
args = ['\$HOME/none.md']"
json_is "likewise one that begins with a variable" \
	step_results[0].advice[0].text \
	'~^\$HOME/none\.md was passed on as it is.*: write the whole path$'
is "and the start folder is not to blame" "$(lines)" ''
step value "$script
command = 'sh'
args = ['-c', 'cat \"\$WHERE\"']
env = { WHERE = '~/none.md' }"
json_is "the value of a variable that begins with ~: said, too" \
	step_results[0].advice[0].text \
	'~^WHERE=\~/none\.md was passed on as it is.*: write the whole path$'
step pattern "$script
command = 'cat'
args = ['elsewhere/*.md']
sandbox.read = ['elsewhere']"
json_is "a pattern that the program does not know" \
	step_results[0].advice[0].text '~^elsewhere/.*.md was passed on as it is'
step quiet "$script
command = 'sh'
args = ['-c', '~/none.sh']
sandbox.read = ['elsewhere']"
is "behind -c a shell reads it" "$(grep -c 'passed on' "$out")" 0

# Files that a script only looks for, in the ways that shells name them.
mkdir -p "$HOME/my notes"
cp elsewhere/a.md "$HOME/my notes/a.md"
cp elsewhere/a.md "$HOME/b.md"
mkdir -p "$HOME/diary"
touch "$HOME/diary/a.md"
looks() {
	follow "$1" "$script
command = 'bash'
args = ['-c', '$2 && echo yes || echo no']" "sandbox.read = [\"home/$3\"]" yes
}
looks blank '[ -f "$HOME/my notes/a.md" ]' 'my notes/a.md'
looks quoted-home '[ -f "$HOME"/b.md ]' b.md
looks braces 'ls ~/diary/{a,b}.md >/dev/null 2>&1; [ -f ~/diary/a.md ]' diary

# ---- the network ----

cat >web.py <<-'END'
	import http.server
	class Hello(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.send_response(200)
	        self.end_headers()
	        self.wfile.write(b"hello")
	    def log_message(self, *ignored):
	        pass
	s = http.server.HTTPServer(("127.0.0.1", 0), Hello)
	print(s.server_port, flush=True)
	s.serve_forever()
END
coproc WEB { exec "$PYTHON" web.py; }
web=$WEB_PID
read -r port <&"${WEB[0]}"
follow fetching "$script
command = '$PYTHON'
args = ['-c', '''
import os, urllib.request as u
os.environ.pop(\"NO_PROXY\"); os.environ.pop(\"no_proxy\", 0)
print(u.urlopen(\"http://127.0.0.1:$port/\").read().decode())''']
sandbox.net = ['127.0.0.1:1']" \
	"sandbox.net = [\"127.0.0.1:1\", \"127.0.0.1:$port\"] $in_place" 'hello'
kill "$web"
step asking "$script
command = '$PYTHON'
args = ['-c', 'import socket; socket.create_connection((\"x\", 443), 1)', 'https://api.example.invalid/x']"
is "a URL in an argument names the host" "$(lines)" \
	'sandbox.net = ["api.example.invalid"]'
step told "$script
command = '$PYTHON'
args = ['-c', 'import socket; socket.create_connection((\"x\", 443), 1)']
env = { MODE = 'fast', API_URL = 'https://api.example.invalid/x' }"
is "a URL in a variable names the host" "$(lines)" \
	'sandbox.net = ["api.example.invalid"]'
step guessing "$script
command = '$PYTHON'
args = ['-c', 'import socket; socket.create_connection((\"x\", 443), 1)']"
is "a host that nothing names: no line to paste" "$(lines)" ''
json_is "a host that nothing names: its form is said" \
	step_results[0].advice[0].text '~sandbox.net = ..HOST'
step port "$script
command = '$PYTHON'
args = ['-c', 'import socket; socket.create_connection((\"x\", 443), 1)', 'http://127.0.0.1:8765/']"
is "a port of this machine is taken from the URL" "$(lines)" \
	'sandbox.net = ["127.0.0.1:8765"]'

# ---- a file of HOME ----

mkdir -p "$HOME/lists"
echo "x paid the rent" >"$HOME/lists/todo.txt"
follow tilde "type = 'mcp-client'
command = 'matins'
args = ['brief']
tool = 'todo'
params = { file = '~/lists/todo.txt' }" \
	"sandbox.read = [\"$HOME/lists/todo.txt\"]" '0 open, 1 done'

# ---- a tool ----

tool_server server.py <<-'END'
	try:
	    text = a["say"] if "say" in a else open(a["path"]).read().strip()
	    bad = "say" in a
	except OSError as e:
	    text, bad = str(e), True
END
cp server.py dist/server.py
tool="type = 'mcp-client'
command = '$PYTHON'
tool = 't'"
follow tool "$tool
args = ['server.py']
params = { path = '$T/elsewhere/a.md' }" \
	"sandbox.read = [\"$T/elsewhere/a.md\"]" 'call the dentist'

follow folder "$tool
args = ['server.py', '$T/elsewhere']
params = { path = '$T/elsewhere/a.md' }" \
	"sandbox.read = [\"$T/elsewhere\"]" 'call the dentist'

# ---- a file that the step names, and its server puts in its place ----

tool_server store.py <<-'END'
	import os
	try:
	    name = os.environ["STORE"]
	    if "say" in a:
	        raise OSError("ENOENT: no such file or directory, open '%s'" % a["say"])
	    if os.path.exists(name):
	        open(name).close()
	    open(name + a["draft"], "w").close()
	    os.rename(name + a["draft"], name)
	    text = "saved"
	except OSError as e:
	    text, bad = str(e), True
END

# store PATH PARAMS: the keys of a step whose server keeps a file there
store() {
	printf '%s\n' "$tool" "args = ['store.py']" "env = { STORE = '$1' }" \
		"params = { $2 }"
}

for draft in .ace15ccb.tmp .1234567890; do
	follow saving "$(store "$T/shelf/kg.json" "draft = '$draft'")" \
		"sandbox.write = [\"$T/shelf\"]" saved
done
follow granted-to-read "$(store "$T/shelf/kg.json" "draft = '.1.tmp'")
sandbox.read = ['shelf']" \
	"sandbox.write = [\"$T/shelf\"]" saved
# Words of the server alone, a file that is missing outside, and places that no
# line opens.
for say in "$T/shelf/other.json.1.tmp" "$T/shelf/kg.json.bak" \
	"$T/shelf/kg.json.20261123" "$T/shelf/kg.json/1.tmp"; do
	step words "$(store "$T/shelf/kg.json" "say = '$say'")"
	is "no line for ${say##*/}" "$(lines)" ''
done
mkdir -p "$HOME/.ssh"
for path in "$HOME/kg.json" "$HOME/.ssh/kg.json"; do
	step closed "$(store "$path" "say = '$path.1.tmp'")"
	is "no line opens ${path%/*}" "$(lines)" ''
done

# ---- modules of Python ----

# uses MODULE [KEYS]: the keys of a step that imports it
uses() {
	printf '%s\n' "$script" "command = '$PYTHON'" \
		"args = ['-c', 'import $1; print(\"done\")']" "${2-}"
}

# no_row NAME KEYS SAID: no line, no trace, and these words
no_row() {
	step "$1" "$2"
	is "$1: no line" "$(lines)" ''
	json_is "$1: said" step_results[0].advice[0].text "~$3"
	is "$1: no trace" "$(grep -c 'everything that it needs' "$out")" 0
}

cd project || exit
mkdir -p "$HOME/lib/far_module" part env/lib/python3.9/site-packages env/bin
: >"$HOME/lib/far_module/__init__.py"
: >near_module.py
echo 'import near_module' >part/run.py
: >env/lib/python3.9/site-packages/its_module.py
ln -s "$PYTHON" env/bin/python
follow near "$(uses near_module)" 'sandbox.read = ["."]' 'done'
follow far "$(uses far_module "env = { PYTHONPATH = '$HOME/none:$HOME/lib' }")" \
	"sandbox.read = [\"$HOME/lib\"]" 'done'
follow put-in "$(uses "sys; sys.path.insert(0, \"$HOME/lib\"); import far_module")" \
	"sandbox.read = [\"$HOME/lib\"]" 'done'
step beside "$script
command = '$PYTHON'
args = ['part/run.py']"
json_is "a module that python does not look for there: said" \
	step_results[0].advice[0].text \
	"~near_module lies in $T/project, .* only with PYTHONPATH=$T/project\$"
step joined "$(uses 'sys, os; sys.path.append(os.sep.join([os.environ["HOME"], "li" + "b"])); import far_module')"
json_is "a folder that only the program knows: a trace" \
	step_results[0].advice[0].text '~matins trace -c [^ ]*.toml r joined'
no_row own-python "$(uses its_module)" \
	"its_module is installed for $T/project/env/bin/python: start that one"
no_row nowhere "$(uses matins_no_such_module)" \
	'module matins_no_such_module is not installed: pip install matins_no'
no_row minus-m "$script
command = '$PYTHON'
args = ['-m', 'matins_no_such_module']" 'matins_no_such_module is not installed'
cp near_module.py "$HOME/home_module.py"
step in-home "$(uses home_module "env = { PYTHONPATH = '$HOME' }")"
is "a module in HOME itself: no line opens it" "$(lines)" ''
json_is "a module in HOME itself: where it lies" \
	step_results[0].advice[0].text "~home_module lies in $HOME, "
cd ..

# ---- no advice ----

none broken "$script
command = 'sh'
args = ['-c', 'echo it broke >&2; exit 3']"
none absent "$script
command = 'cat'
args = ['$T/elsewhere/none']"
none refused-by-a-host "$script
command = 'sh'
args = ['-c', 'echo \"git@host: Permission denied (publickey).\" >&2; exit 128']"
none says-no "$tool
args = ['server.py']
params = { say = 'no such issue' }"
# set_mempolicy(2), which the profile refuses and programs live without
none survived "$script
command = '$PYTHON'
args = ['-c', 'import ctypes, sys; ctypes.CDLL(None).syscall(238, 0, 0, 0); sys.exit(4)']"

# Words are no files, and a program does not get its own code to write.
step a-word "$tool
args = ['server.py']
params = { say = \"code: 'EPERM', syscall: 'open'\" }"
is "a word of a message is no file" "$(lines)" ''
step no-tool "$tool
args = ['server.py', 'a b', '']
params = { say = 'MCP error -32602: Tool t not found' }"
json_is "an unknown tool of a command leads to its list" \
	step_results[0].advice[0].text \
	"tools of this server: matins tools -- $PYTHON server.py 'a b' ''"
run_matins tools --read . -- "$PYTHON" server.py 'a b' ''
out_like "the list that it leads to" '^t$'
tool_server reads.py <<'END'
text, bad = "Tool " + m["params"]["name"] + " not found", True
END
sed -i 's/"name": "t"/"name": sys.argv[1]/' reads.py
for name in read_text_file 'read\ntext_file'; do
	step no-tool-near "type = 'mcp-client'
command = '$PYTHON'
tool = 'read_text_flie'
args = ['reads.py', \"$name\"]"
	# a name with a line in it is not repeated
	meant=${name##*\\n*}
	json_is "a misspelt tool of a command: the nearest, if it can be written" \
		step_results[0].advice[0].text \
		"~^${meant:+did you mean ${meant}[?] }tools of this server: matins tools -- "
done
for says in 'sys.exit()' 'print("{")' 'continue'; do
	sed "s/if m..method.. == .tools.list.:/&\n        $says/" \
		reads.py >dies.py
	step no-tool-dies "type = 'mcp-client'
command = '$PYTHON'
tool = 'u'
timeout = 30
args = ['dies.py', 't']"
	json_is "a server that does not list its tools ($says): the words of the tool stay" \
		step_results[0].state tool_error \
		step_results[0].output 'Tool u not found' \
		step_results[0].advice[0].text '~^tools of this server: '
done
step own-code "$tool
args = ['dist/server.py']
params = { say = \"EROFS: read-only file system, open '$T/dist/cache'\" }
sandbox.read = ['dist']"
is "its own code is never writable" "$(lines)" ''
json_is "it is told to write elsewhere" \
	step_results[0].advice[0].text '~let it write elsewhere'
mkdir -p home/.ssh
touch home/.ssh/id_rsa
step a-key "$script
command = '$PYTHON'
args = ['-c', 'open(\"$T/home/.ssh/id_rsa\")']"
is "keys are never advised" "$(lines)" ''

# ---- the useful lines of stderr ----

cut="tar (child): $T/elsewhere/x.tgz: Cannot open: No such file or directory"
step cut-off "$script
command = 'sh'
args = ['-c', '''
echo \"$cut\" >&2
for i in 1 2 3 4 5; do echo line \$i >&2; done
exit 2''']"
json_is "the first line and the last ones stay" \
	step_results[0].said "$cut"$'\nline 3\nline 4\nline 5'
json_is "a file that could not be made: a trace is offered" \
	step_results[0].advice[0].text '~matins trace -c [^ ]*.toml r cut-off'
follow cd "$script
command = 'sh'
args = ['-c', 'cd $T/elsewhere && echo there']" \
	"sandbox.read = [\"$T/elsewhere\"]" there
step dies "type = 'mcp-client'
command = '$PYTHON'
args = ['-c', 'open(\"project/none.cfg\")']
tool = 't'"
json_is "a server that dies at its start: why" step_results[0].said \
	"~No such file or directory: 'project/none.cfg'"
json_is "a server that dies at its start: a trace is offered" \
	step_results[0].advice[0].text '~matins trace -c [^ ]*.toml r dies'
for format in "" --md --html; do
	run_matins run -q -c dies.toml r ${format:+"$format"}
	out_like "a server that dies at its start: why, in ${format:-text}" \
		'No such file or directory: .*project/none.cfg'
	out_like "a server that dies at its start: a trace, in ${format:-text}" \
		'matins trace -c [^ ]*.toml r dies'
done

step noisy "$script
command = 'sh'
args = ['-c', '''
echo \"npm error code ENOENT\" >&2
echo \"npm error the cause\" >&2
echo \"npm error A complete log of this run can be found in: /h/.npm/_logs/1.log\" >&2
exit 1''']"
json_is "the place of a log that is gone is not the last line" \
	step_results[0].said $'npm error code ENOENT\nnpm error the cause'
run_matins run -c noisy.toml r --json --view golden
is "golden views have neither" "$(grep -cE '"said"|"advice"' "$out")" 0

# ---- commands find the configuration from any folder ----

mkdir -p "$HOME/mem" "$T/it's" "$T/config/matins"
echo x >"$T/asked"
cat >"$HOME/mem/matins.toml" <<-END
	[[routines.r.steps]]
	name = "s"
	type = "script"
	command = "sh"
	args = ["-c", "cat $T/asked"]
	[servers.gone]
	command = "false"
	[[routines.gone.steps]]
	name = "s"
	type = "mcp-client"
	server = "gone"
	tool = "t"
END
cp "$HOME/mem/matins.toml" "$T/it's/m.toml"
cp "$HOME/mem/matins.toml" "$T/config/matins/config.toml"

# leads NAME: the command of the last report works in another folder
leads() {
	local line

	line=$(sed -n 's/.*everything that it needs: matins //p' "$out")
	like "$1" "$line" "$2"
	cd / || exit
	eval "run_matins $line"
	out_like "$1: pasted elsewhere, it finds the step" "\"$T/asked\""
	cd "$T" || exit
}

cd "$T" || exit
run_matins run -c home/mem/matins.toml r
leads "a file of -c" '^trace -c ~/mem/matins.toml r s$'
run_matins run -c "it's/m.toml" r
leads "a file whose name a shell would split" "^trace -c '/.*/it'[^ ]*s/m.toml' r s\$"
MATINS_CONFIG=$HOME/mem/matins.toml run_matins run r
leads "a file of \$MATINS_CONFIG" '^trace -c ~/mem/matins.toml r s$'
run_matins run r
leads "its twin, a file that matins finds" '^trace r s$'
run_matins doctor -c home/mem/matins.toml gone --deep
out_like "doctor names the file" ': matins (trace|tools -v) -c ~/mem/matins.toml '
run_matins trace -c home/mem/matins.toml r s --apply
err_like "a trace names it" ': matins step -c ~/mem/matins.toml r s$'

# ---- a server that names the tool, and says no more ----

cat >own.py <<'END'
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    r = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "s", "version": "1"}}}
    if m["method"] == "tools/list":
        r = {"result": {"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}}
    if m["method"] == "tools/call":
        r = {"error": {"code": -32603, "message": repr(KeyError(m["params"]["name"]))}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **r}), flush=True)
END
for tool in cuont count; do
	printf "[[routines.r.steps]]\nname = '%s'\ntype = 'mcp-client'\ncommand = '%s'\nargs = ['%s/own.py']\ntool = '%s'\n" \
		"$tool" "$PYTHON" "$T" "$tool"
done >own.toml
run_matins run -c own.toml r --json
json_is "an error that names the tool: the nearest one is offered" \
	step_results[0].advice[0].text '~^did you mean count\? '
json_is "not where the server has it" step_results[1].advice absent

# ---- working trees of git whose repository is elsewhere ----

if command -v git >"$T/.found"; then
	git() {
		command git -c user.name=t -c user.email=t@example.org \
			-c protocol.file.allow=always "$@" >"$T/.git-said" 2>&1
	}
	git init main && git -C main commit --allow-empty -m first
	git -C main worktree add ../linked
	git init top && git -C top submodule add "$T/main" sub
	log=$'\ncommand = "git"\nargs = ["-C", "%s", "log", "--format=%%s"]'
	# shellcheck disable=SC2059
	log_of() {
		printf "$script$log" "$1"
	}
	follow linked "$(log_of linked)" "sandbox.read = [\"$T/main/.git\"]" first
	follow sub "$(log_of top/sub)" "sandbox.read = [\"$T/top/.git/modules/sub\"]" first
	follow commit "$script
command = \"git\"
args = [\"-C\", \"linked\", \"-c\", \"user.name=t\", \"-c\", \"user.email=t@example.org\", \"commit\", \"-q\", \"--allow-empty\", \"-m\", \"second\"]
sandbox.read = [\"$T/main/.git\"]" "sandbox.write = [\"$T/main/.git\"]" ''
	mkdir astray
	echo "gitdir: $T/none" >astray/.git
	none "a repository that is gone" "$(log_of astray)"
else
	skip "working trees of git" "git is not installed"
fi

# ---- a client that starts in "/" ----

mkdir "$HOME/srv"
touch "$HOME/srv/a"
cd / || exit
true | "$BIN" exec -- ls "$HOME/srv" 2>&1 | cat >"$err"
err_like "in /, the path that was looked for is whole" \
	"not seen there: $HOME/srv; to allow it: --read $HOME/srv\$"
run_matins exec --read "$HOME/srv" -- ls "$HOME/srv"
out_is "in /, the advice makes it work" a
cd "$T" || exit

run_matins exec -- ls "$PWD"
err_unlike "the folder itself is advised by a dot" "read ''"

done_testing
