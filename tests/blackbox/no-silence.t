#!/usr/bin/env bash
# Nothing is lost in silence: what a program could not see, what it wrote into a
# folder that goes with it, what was refused to it, and which steps did not run
# are said where a person looks.
. "${BASH_SOURCE%/*}/lib.sh"

project=$HOME/project
mkdir "$project" "$project/sub"
echo a >"$project/a"
echo in >"$project/sub/in"
cd "$project" || exit 1
start='^matins: started in a private, empty folder, because \. is not granted: --write \.$'

# ---- files that go with a private folder ----

# dropped NAME TEXT ARGS...: the first line of exec, and the last one
dropped() {
	local name=$1 text=$2

	shift 2
	run_matins exec "$@"
	exit_is "$name: the program's own status" 0
	like "$name: the first line says where it was started" \
		"$(head -n1 "$err")" "$start"
	like "$name: the end says what is gone" "$(tail -n1 "$err")" \
		"^matins: dropped with it: $text\$"
}

dropped "sh" 'f' -- sh -c 'echo >f'
[[ ! -e f ]]
is "nothing of it was written outside" $? 0
dropped "git init" 'x/ \([0-9]+ files\)' -- git init -q x
dropped "git init here" '\.git/ \([0-9]+ files\)' -- git init -q .
if command -v ssh-keygen >/dev/null; then
	dropped "ssh-keygen" 'key, key\.pub' -- ssh-keygen -q -N '' -f key
else
	skip "ssh-keygen" "it is not installed"
fi
dropped "sqlite" 't\.db' -- "$PYTHON" -c \
	'import sqlite3; sqlite3.connect("t.db").execute("create table t (x)")'
dropped "an empty folder" 'd/ \(0 files\)' --exec mkdir -- mkdir d
dropped "many files" '[0-9]+, [0-9]+, [0-9]+, [0-9]+, [0-9]+, … \(40 files\)' -- "$PYTHON" -c \
	'for i in range(40): open(str(i), "w")'
dropped "a folder that others may not enter" 'p/ \(1 file\)' --exec mkdir -- \
	sh -c 'umask 077; mkdir p; : >p/q'
dropped "names that would fake a line" 'a.x0amatins: all is well' -- \
	"$PYTHON" -c 'open("a\nmatins: all is well", "w")'
dropped "a long name" 'n{63}…' -- "$PYTHON" -c 'open("n" * 250, "w")'
dropped "links" 'l' --exec ln -- ln -s nowhere l
dropped "caches of HOME are not the work" 'f' --exec mkdir -- sh -c \
	'mkdir "$HOME/.npm"; : >"$HOME/.npm/log"; : >"$HOME/.history"; : >f'
run_matins exec --exec mkdir -- sh -c 'mkdir "$HOME/.npm"; : >"$HOME/.npm/log"'
is "caches alone are not worth a word" "$(grep -c . "$err")" 1
dropped "without a view" 'f' --isolate off -- sh -c 'echo >f'

# what an argument brings into the folder is none of what the program made
if [[ $(id -u) -eq 0 ]]; then
	run_matins exec -- cp a b
	isnt "cp, as root: the folder of an argument is another user's" "$status" 0
	like "cp: the first line says where it was started" "$(head -n1 "$err")" "$start"
else
	dropped "cp" 'b' -- cp a b
	dropped "beside a granted folder" 'b' --read sub -- cp sub/in b
	ln -s sub/in link
	dropped "a link that an argument names" 'b' -- cp link b
	dropped "a folder that something granted lies in" 'sub/ \(1 file\)' -- \
		sh -c 'read x <sub/in; echo >sub/out' sub/in
fi
run_matins exec -- ls
like "a listing of nothing has the same first line" "$(head -n1 "$err")" "$start"
is "and no other" "$(grep -c . "$err")" 1
run_matins exec -- "$PYTHON" -c 'import os; d = "d"
for i in range(40): os.mkdir(d); os.chdir(d)
open("f", "w")'
err_like "a folder deeper than is looked" 'dropped with it: d/ \(at least 0 files\)'
run_matins exec --report report.json -- sh -c 'echo >f' 
cp report.json "$out"
json_is "the report of exec has it" dropped.names '["f"]' dropped.files 1

# a file of a private place that an argument names
there=/tmp/matins-named-$$
into_tmp() { run_matins exec "$@"; }
into_tmp --read . -- tar cf "$there.tar" a
exit_is "a file in the private /tmp: the program's own status" 0
err_is "is said to be gone" \
	"matins: dropped with a private place: $there.tar; let it write into a folder that --write grants"
into_tmp --read . -- dd if=a of="$there.dd" status=none
err_like "also behind =" "dropped with a private place: $there\.dd;"
into_tmp -- tar cf "$there.tar" a
err_like "in a private working folder as well" \
	"dropped with a private place: $there\.tar;"
into_tmp -- sh -c 'echo >b; echo >"$0"' "$there.txt"
err_like "beside files of the folder" "dropped with it: b, $there\.txt\$"
into_tmp --read . --exec mkdir -- mkdir "$there"
err_like "a folder" "dropped with a private place: $there/ \(0 files\);"
into_tmp --read . --exec ln -- ln -s /etc/passwd "$there"
err_like "a link" "dropped with a private place: $there;"
into_tmp --read . --exec ln -- sh -c 'ln -s /etc "${0%/*}"; :' "/tmp/e/passwd"
is "by a link nothing is found" "$(<"$err")" ""
into_tmp --read . -- cat "$PWD/a" /tmp "$HOME" /tmp/../etc/passwd
err_unlike "nothing else that arguments name is" dropped
into_tmp --read . --write "$T" -- cp a "$T/copy"
is "nor what is granted" "$(<"$err")" ""
is "which is there" "$(<"$T/copy")" a
into_tmp --read . --exec mkdir -- mkdir -p "$HOME/.cache/x"
is "nor dot files of HOME" "$(<"$err")" ""

run_matins exec --tmp shared -- sh -c 'echo >f'
exit_is "a shared /tmp around a private HOME: the program starts" 0
like "in HOME" "$(tail -n1 "$err")" '^matins: dropped with it: f$'

# twins: nothing of this where the folder is granted
run_matins exec --write . -- cp a b
is "a granted folder: nothing is said" "$(<"$err")" ""
is "and the file is there" "$(<b)" a
run_matins exec --read . -- ls
is "a folder that is read: nothing is said" "$(<"$err")" ""
run_matins exec -q -- sh -c 'echo >f'
is "--quiet: nothing is said" "$(<"$err")" ""

# ---- the same of a server that a call starts ----

cat >server.py <<-'END'
	import json, os, sys
	for line in sys.stdin:
	    m = json.loads(line)
	    if "id" not in m:
	        continue
	    r = {}
	    if m["method"] == "initialize":
	        r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
	             "serverInfo": {"name": "s", "version": "1"}}
	    elif m["method"] == "tools/list":
	        r = {"tools": [{"name": n, "inputSchema": {"type": "object"}}
	                       for n in ("save", "look", "run", "net", "empty", "idle")]}
	    elif m["params"]["name"] == "save":
	        open("note", "w").write("x")
	        r = {"content": [{"type": "text", "text": "saved"}]}
	    elif m["params"]["name"] == "idle":
	        r = {"content": [{"type": "text", "text": "idle"}]}
	    elif m["params"]["name"] == "empty":
	        r = {}
	    elif m["params"]["name"] == "net":
	        import socket
	        try:
	            socket.create_connection(("192.0.2.1", 443), 2)
	        except OSError as e:
	            r = {"content": [{"type": "text", "text": "fetch failed"}]}
	    elif m["params"]["name"] == "look":
	        r = {"content": [{"type": "text", "text": str(os.listdir("."))}]}
	    else:
	        try:
	            os.posix_spawn("/usr/bin/date", ["date"], {})
	        except OSError as e:
	            r = {"content": [{"type": "text", "text": e.strerror}]}
	    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
END
mkdir "$HOME/elsewhere"
mv server.py "$HOME/elsewhere"
run_matins call save -- "$PYTHON" "$HOME/elsewhere/server.py"
exit_is "a call: the answer counts" 0
err_like "a call: the end says what is gone" \
	'^matins: started in a private, empty folder, because \. is not granted; dropped with it: note; to allow it: --write \.$'
cat >"$HOME/elsewhere/keep.py" <<-'END'
	import json, os, sys
	for line in sys.stdin:
	    m = json.loads(line)
	    if m.get("method") == "initialize":
	        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
	             "serverInfo": {"name": "s", "version": "1"}}
	    elif m.get("method") == "tools/call":
	        open(os.environ["FILE"], "w").write("new")
	        r = {"content": [{"type": "text", "text": "ok"}]}
	    else:
	        r = {"tools": [{"name": "keep", "inputSchema": {"type": "object"}}]}
	    if "id" in m:
	        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
END
echo old >"$HOME/kept"
FILE=$HOME/kept run_matins call keep --env FILE -- "$PYTHON" "$HOME/elsewhere/keep.py"
exit_is "a call that wrote a file of HOME: the answer counts" 0
err_like "the file is named, with the option that keeps it" "denied: write $HOME/kept, .*to allow it: --write $HOME/kept\$"
FILE=$HOME/kept run_matins call keep --env FILE --write "$HOME/kept" -- "$PYTHON" "$HOME/elsewhere/keep.py"
is "then it is written" "$(<"$HOME/kept")$(<"$err")" new
rm "$HOME/kept"
run_matins call look -- "$PYTHON" "$HOME/elsewhere/server.py"
err_like "a call that listed it: said, with the option that shows it" \
	'started in a private, empty folder, because \. is not granted; to allow it: --read \.$'
run_matins call idle -- "$PYTHON" "$HOME/elsewhere/server.py"
is "a call that neither lost nor missed anything has no line" "$(<"$err")" ""
run_matins call idle -v -- "$PYTHON" "$HOME/elsewhere/server.py"
err_like "but with -v" 'started in a private, empty folder, because \. is not granted; to allow it: --read \.$'
cat >matins.toml <<-END
	[servers.s]
	command = "$PYTHON"
	args = ["$HOME/elsewhere/server.py"]
	[routines.r]
	[[routines.r.steps]]
	name = "save"
	type = "mcp-client"
	server = "s"
	tool = "save"
	[[routines.r.steps]]
	name = "note"
	type = "script"
	command = "sh"
	args = ["-c", "echo note >n; echo done"]
	[[routines.r.steps]]
	name = "kept"
	type = "script"
	command = "sh"
	args = ["-c", "echo note >kept; echo done"]
	sandbox = { write = ["."] }
	[[routines.r.steps]]
	name = "named"
	type = "script"
	command = "cp"
	args = ["a", "/tmp/copy"]
	sandbox = { read = ["."] }
END
run_matins call save -s s
err_like "a server of the configuration: said when something is gone" \
	'started in a private, empty folder, because \. is not granted; dropped with it: note;'
run_matins call idle -s s
is "and not when nothing is" "$(<"$err")" ""

# ---- of a server under its client ----

cat >"$HOME/elsewhere/writer.sh" <<-'END'
	while read -r word; do
		case $word in
		new) echo new >>"$FILE" && echo ok ;;
		over) : >"$FILE.tmp"; mv "$FILE.tmp" "$FILE" 2>/dev/null || echo EBUSY ;;
		into) { echo x >"$1/x"; } 2>/dev/null || echo EROFS ;;
		*) echo "$word" ;;
		esac
	done
END
# served WORDS ARGS...: a server that a client tells so many words, over pipes;
# it ends when its input does
served() {
	local words=$1

	shift
	# shellcheck disable=SC2086
	printf '%s\n' $words | "$BIN" "$@" 2>"$err" | cat >"$out"
	status=${PIPESTATUS[1]}
}
writer=(sh "$HOME/elsewhere/writer.sh")
mkdir "$HOME/far"
echo old >"$HOME/data"
mkdir "$HOME/far/notes"
echo note >"$HOME/far/notes/a"
export FILE=$HOME/data
served "a b" exec --env FILE -- "${writer[@]}"
is "a client's server: it answers" "$(tr '\n' ' ' <"$out")" "a b "
is "a client's server that lost nothing has no line" "$(<"$err")" ""
served "a" exec -v --env FILE -- "${writer[@]}"
err_like "but with -v" 'started in a private, empty folder'
served "new new new a" exec --env FILE -- "${writer[@]}"
is "a file that a variable names: the server says ok" "$(sort -u "$out" | tr '\n' ' ')" "a ok "
is "and the file is as it was" "$(<"$FILE")" old
is "which is said once, with the option" "$(<"$err")" \
	"matins: denied: write $FILE, which is not granted, so nothing of it stays; to allow it: --write $FILE"
served "new" exec --env FILE --write "$FILE" -- "${writer[@]}"
is "with that option it is kept" "$(<"$FILE") $(<"$err")" "old
new "
served "over" exec --env FILE --write "$FILE" --exec mv -- "${writer[@]}"
is "a file that is granted alone, and replaced: the server has an error" "$(<"$out")" EBUSY
is "which is said, with what to do" "$(head -n1 "$err")" \
	"matins: denied: replace $FILE, whose folder is not granted; move it into a folder of its own, and --write FOLDER"
served "into into a" exec --env FILE --read "$HOME/far/notes" -- "${writer[@]}" "$HOME/far/notes"
is "a folder that is granted for reading: the server has an error" "$(head -n1 "$out")" EROFS
is "which is said once, with the option, too" "$(<"$err")" \
	"matins: denied: write $HOME/far/notes, which is granted for reading alone; to allow it: --write $HOME/far/notes"
served "into" exec --env FILE --write "$HOME/far/notes" -- "${writer[@]}" "$HOME/far/notes"
is "with that option it is written" "$(<"$HOME/far/notes/x") $(<"$err")" "x "
mkdir "$HOME/.ssh"
echo key >"$HOME/.ssh/id_ed25519"
served "new" exec -- sh -c 'echo x 2>/dev/null >"$0"' "$HOME/.ssh/id_ed25519"
err_like "a key is named" "^matins: denied: write $HOME/.ssh/id_ed25519\$"
err_unlike "no line says how to open it" '--(write|read) '
# while it goes on: the line is there before the end
mkfifo in
"$BIN" exec --env FILE -- "${writer[@]}" <in 2>"$err" | cat >"$out" &
exec 9>in
echo new >&9
for _ in {1..100}; do
	[[ -s $out && -s $err ]] && break
	sleep 0.1
done
err_like "a server that goes on: said when it is tried" "^matins: denied: write $FILE,"
exec 9>&-
wait
unset FILE
rm -r "$HOME/far" "$HOME/data" in

# ---- of a step ----

run_matins run r --json
exit_is "steps that lost a file are ok" 0
json_is "the report has what is gone" step_results[0].run.dropped.names '["note"]' \
	step_results[1].run.dropped.names '["n"]' step_results[1].run.dropped.files 1
json_is "a step with a granted folder has none" step_results[2].run.dropped absent
json_is "a file that an argument names is told of, too" step_results[3].state ok \
	step_results[3].run.dropped.names '["/tmp/copy"]' step_results[3].refused true \
	step_results[3].advice[0].text 'dropped with a private place: /tmp/copy; let it write into a folder that is granted'

run_matins run r --only note
out_like "the text of the report tells of it" \
	'^  started in a private, empty folder, because \. is not granted; dropped with it: n$'
out_like "with the line that keeps it" '^ +sandbox\.write = \["\."\]$'
out_like "and the step is still ok" '^r: 1 ran, 3 skipped, 0 failed, 1 with refusals$'
for form in --md --html; do
	run_matins run r --only note $form
	out_like "so does $form" 'dropped with it: n'
done

# ---- steps that only look ----

mkdir "$HOME/looks" "$HOME/looks/sub" "$HOME/data" "$HOME/full"
echo x >"$HOME/looks/conf.ini"
echo x >"$HOME/data/tasks.db"
echo '{"type":"entity","name":"me","entityType":"person","observations":["x"]}' \
	>"$HOME/looks/memory.json"
cat >"$HOME/looks/brief.sh" <<-'END'
	#!/bin/sh
	cat ~/data/*.db 2>/dev/null | sort
END
cat >"$HOME/elsewhere/names.py" <<-'END'
	#!/usr/bin/python3
	import os
	print(os.path.exists("conf.ini"), len(os.listdir(".")))
END
chmod 755 "$HOME/looks/brief.sh" "$HOME/elsewhere/names.py"
cd "$HOME/looks" || exit 1
unseen='started in a private, empty folder, because . is not granted'

# step NAME COMMAND ARGS [MORE]: a step of the routine, ARGS as in TOML
step() {
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "script"\n' "$1"
	printf 'command = "%s"\nargs = %s\n%s\n' "$2" "$3" "${4-}"
}

# looks NAME TEXT TOML: what the last run says of that step, first
looks() {
	json_is "$1" "step_results[step_name=$1].state" ok "step_results[step_name=$1].refused" true \
		"step_results[step_name=$1].advice[0].text" "$2" \
		"step_results[step_name=$1].advice[0].toml" "$3"
}
{
	step ls ls '["-1"]'
	step find find '[".", "-name", "*.ini"]'
	step test sh '["-c", "[ -f conf.ini ] && echo yes || echo no"]'
	step folder sh '["-c", "cd sub 2>/dev/null || echo none"]'
	step glob sh '["-c", "echo *.ini"]'
	step exists "$PYTHON" '["-c", "import os; print(os.path.exists(\"conf.ini\"))"]'
	step listdir "$PYTHON" '["-c", "import os; print(os.listdir())"]'
	step script "$HOME/elsewhere/names.py" '[]'
	step home ./brief.sh '[]'
	step full sh "[\"-c\", \"[ -f $HOME/data/tasks.db ] || echo none\"]"
	step variable sh '["-c", "[ -f $DB ] || echo none"]' "env = { DB = \"$HOME/data/tasks.db\" }"
} >looks.toml
{
	printf '[sandbox]\nread = [".", "~/data"]\n'
	cat looks.toml
} >granted.toml
{
	step words sh '["-c", "echo conf.ini sub; : ~/data"]'
	step imports "$PYTHON" '["-c", "import json; print(json.dumps(1))"]'
	step missing sh '["-c", "[ -f gone.ini ] || echo no"]'
	step system sh '["-c", "[ -f /etc/passwd ] && echo yes"]'
} >silent.toml
run_matins run -c looks.toml r --json
exit_is "steps that only look are ok" 0
looks ls "$unseen" 'sandbox.read = ["."]'
looks find "$unseen" 'sandbox.read = ["."]'
looks test "$unseen; not seen there: conf.ini" 'sandbox.read = ["conf.ini"]'
looks folder "$unseen; not seen there: sub" 'sandbox.read = ["sub"]'
looks glob "$unseen" 'sandbox.read = ["."]'
looks exists "$unseen; not seen there: conf.ini" 'sandbox.read = ["conf.ini"]'
looks listdir "$unseen" 'sandbox.read = ["."]'
looks script "$unseen; not seen there: conf.ini" 'sandbox.read = ["."]'
looks home "denied: read $HOME/data, which no row of read grants" "sandbox.read = [\"$HOME/data\"]"
for name in full variable; do
	looks $name "denied: read $HOME/data/tasks.db, which no row of read grants" \
		"sandbox.read = [\"$HOME/data/tasks.db\"]"
done
json_is "the summary counts them" summary 'r: 11 ran, 0 skipped, 0 failed, 11 with refusals'
for form in '' --md --html; do
	# shellcheck disable=SC2086
	run_matins run -c looks.toml r --only ls --only test $form
	out_like "the report says so: ${form:-text}" 'started in a private, empty folder'
	out_like "and what was missed: ${form:-text}" 'not seen there: conf\.ini'
done
run_matins run -c granted.toml r --json
json_is "with the folder and the file granted no word is said" \
	summary 'r: 11 ran, 0 skipped, 0 failed' "step_results[step_name=test].output" yes \
	"step_results[step_name=exists].output" True "step_results[step_name=home].output" x
run_matins run -c silent.toml r --json
json_is "nor of what was never looked for, or is not there" \
	summary 'r: 4 ran, 0 skipped, 0 failed' "step_results[step_name=words].advice" absent \
	"step_results[step_name=imports].advice" absent
{
	step listed ls '[]' 'sandbox.isolate = "off"'
	step idle sh '["-c", "echo conf.ini"]' 'sandbox.isolate = "off"'
} >off.toml
run_matins run -c off.toml r --json
json_is "a listing is known without a view, too" \
	summary 'r: 2 ran, 0 skipped, 0 failed, 1 with refusals' \
	step_results[0].advice[0].toml 'sandbox.read = ["."]'
if [[ $(id -u) -eq 0 ]]; then
	cp "$BIN" "$T/own" && chmod 755 "$T" "$T/own"
	for isolate in off auto; do
		run_program /dev/null env -u HOME -C / setpriv --reuid=54321 \
			--regid=54321 --clear-groups \
			env MATINS_STATE=/dev/null "$T/own" exec --isolate "$isolate" -- true
		exit_is "a user without a home: exit status 0 ($isolate)" 0
	done
else
	skip "a user without a home" "not root"
fi
{
	step backup sh '["-c", "mkdir ~/backup ~/.cache && echo x >~/backup/x"]' \
		'sandbox = { read = ["."], exec = ["mkdir"] }'
	step listed sh '["-c", "ls ~"]' 'sandbox.read = ["."]'
	step dots sh '["-c", "mkdir ~/.cache; cat conf.ini"]' \
		'sandbox = { read = ["."], exec = ["mkdir"] }'
	step temporary sh '["-c", "echo x >/tmp/of-$$.tgz; echo y >/tmp/made.tgz"]' \
		'sandbox.read = ["."]'
	step start sh '["-c", "mkdir ~/backup && echo x >~/backup/x"]' 'sandbox.exec = ["mkdir"]'
	step none ls '["-l", "nodir"]'
	step part sh '["-c", "mkdir ~/backup && echo x >~/backup/x; cat conf.ini"]' \
		'sandbox = { read = ["conf.ini"], exec = ["mkdir"] }'
} >home.toml
run_matins run -c home.toml r --json
json_is "files made in a private HOME are told of, beside a granted folder" \
	step_results[0].run.dropped.names "[\"$HOME/backup/\"]" step_results[0].refused true \
	step_results[0].advice[0].text '~^dropped with .*; make the folder, and let it write' \
	step_results[0].advice[0].toml "write = [\"$HOME/backup\"] # in sandbox = { }"
json_is "also beside a folder of which a part is granted" step_results[step_name=part].output x \
	step_results[step_name=part].run.dropped.names "[\"$HOME/backup/\"]" \
	step_results[step_name=part].advice[0].toml "write = [\"$HOME/backup\"] # in sandbox = { }"
json_is "and where the program starts in HOME" \
	step_results[step_name=start].run.dropped.names "[\"$HOME/backup/\"]" \
	"step_results[step_name=start].advice[0].toml" "sandbox.write = [\"$HOME/backup\"]"
json_is "a file of /tmp in the words of a shell" \
	"step_results[step_name=temporary].run.dropped.names" '["/tmp/made.tgz"]' \
	"step_results[step_name=temporary].advice[0].toml" ""
json_is "a file that is nowhere needs no grant" \
	"step_results[step_name=none].advice[0].toml" ""
json_is "and that it was listed" step_results[1].refused true \
	step_results[1].advice[0].text '~^listed a private, empty HOME; grant'
json_is "but not settings and caches" step_results[2].output x step_results[2].advice absent
{
	step find sh '["-c", "find ~ -name x"]'
	step du sh '["-c", "du -s $HOME"]'
	step python "$PYTHON" '["-c", "import pathlib; print(list(pathlib.Path.home().iterdir()))"]'
	step part sh '["-c", "ls; echo ~/looks.none"]'
	step root ls '[]' 'sandbox = { read = ["/"] }'
} >lists.toml
run_matins run -c lists.toml r --json
for i in 0 1 2; do
	json_is "a listing of HOME needs no start folder ($i)" \
		"step_results[$i].advice[0].text" '~^listed a private, empty HOME; grant what' \
		"step_results[$i].advice[0].toml" "" "step_results[$i].refused" true
done
json_is "one of the start folder does, whatever else is named" \
	step_results[3].advice[0].toml 'sandbox.read = ["."]'
json_is "a grant of / opens no private place, and that is said" \
	step_results[4].refused true \
	step_results[4].advice[0].text '~^started in a private, empty folder'
run_matins exec -- ls "$HOME"
err_like "exec: a listing of HOME" '^matins: listed a private, empty HOME; grant what it needs there, as in --read ~/NAME$'
many=$(printf 'w%s ' {1..600})
{
	step few sh '["-c", ": w; test -f conf.ini; :"]'
	step many sh '["-c", ": '"$many"'; test -f conf.ini; :"]'
} >budget.toml
run_matins run -c budget.toml r --json
json_is "a name behind few words is looked at, behind hundreds it is not" \
	step_results[0].refused true step_results[1].state ok step_results[1].refused absent
run_matins trace -c home.toml r backup --json
json_is "a trace names what was made there" needs[0].key write needs[0].value "$HOME/backup" \
	needs[0].not_granted '~^it was made in the private HOME'
sed 's/^args.*/&\non_refusal = "fail"/' looks.toml >fails.toml
run_matins run -c fails.toml r --only test
exit_is "on_refusal = fail minds them" 2

cd "$HOME/full" || exit 1
step ls ls '[]' 'sandbox.read = ["matins.toml"]' >matins.toml
run_matins run r --json
json_is "a folder of which all is seen: no word" step_results[0].output matins.toml \
	step_results[0].refused absent step_results[0].advice absent

# memory SANDBOX: a step of the real server, with a file that is there
memory() {
	cat <<-END
		[[routines.m.steps]]
		name = "memory"
		type = "mcp-client"
		command = "npx"
		args = ["-y", "@modelcontextprotocol/server-memory"]
		env = { MEMORY_FILE_PATH = "$HOME/looks/memory.json" }
		tool = "read_graph"
		$1
	END
}

modules=$TOP/build/npm/node_modules
if [[ -z $NODE || ! -d $modules/@modelcontextprotocol/server-memory ]]; then
	skip "a variable of a real server" "the servers of npm are not installed"
else
	cd "$HOME/looks" || exit 1
	cp -R "$modules" node_modules
	memory '' >memory.toml
	run_matins run -c memory.toml m --json
	json_is "a variable names a file that the server does not see" \
		step_results[0].state ok step_results[0].refused true \
		step_results[0].advice[0].text "$unseen; not seen there: memory.json" \
		step_results[0].advice[0].toml 'sandbox.read = ["memory.json"]'
	memory 'sandbox.read = ["memory.json"]' >memory.toml
	run_matins run -c memory.toml m --json
	json_is "with the line it does, and nothing is said" step_results[0].output '~name: me|"me"' \
		step_results[0].refused absent step_results[0].advice absent
fi
cd "$project" || exit 1

# ---- a script whose programs were refused ----

mkdir "$HOME/notes"
echo "note a" >"$HOME/notes/a.md"
cat >refused.toml <<-END
	[routines.r]
	[[routines.r.steps]]
	name = "weather"
	type = "script"
	command = "sh"
	args = ["-c", "echo \"weather: \$(date) \$(cat ~/notes/a.md)\""]
	sandbox.preset = "none"
	[routines.file]
	[[routines.file.steps]]
	name = "note"
	type = "script"
	command = "sh"
	args = ["-c", "echo \"note: \$(cat ~/notes/a.md)\""]
	sandbox.exec = ["cat"]
	[routines.strict]
	[[routines.strict.steps]]
	name = "weather"
	type = "script"
	command = "sh"
	args = ["-c", "echo \"weather: \$(date)\""]
	on_refusal = "fail"
	sandbox.preset = "none"
	[[routines.strict.steps]]
	name = "granted"
	type = "script"
	command = "sh"
	args = ["-c", "echo \"weather: \$(date)\""]
	on_refusal = "fail"
	sandbox.exec = ["date"]
	[routines.probe]
	[[routines.probe.steps]]
	name = "probe"
	type = "script"
	command = "$PYTHON"
	args = ["-c", "import ctypes; ctypes.CDLL(None).syscall(239, 0, 0, 0, 0, 0); print(1)"]
	on_refusal = "fail"
	[[routines.probe.steps]]
	name = "missing"
	type = "script"
	command = "sh"
	args = ["-c", "cat /none/of/it; no-such-program; echo 1"]
	on_refusal = "fail"
	sandbox.exec = ["cat"]
END
run_matins run -c refused.toml r
exit_is "a script whose programs were refused is ok" 0
is "and the summary counts it" "$(tail -n1 "$out")" \
	"r: 1 ran, 0 skipped, 0 failed, 1 with refusals"
out_like "the text names the refused programs" 'denied: start /[a-z/]*/date by .*; start /[a-z/]*/cat by '
out_like "with the line that allows them" '^ +sandbox\.exec = \["date", "cat"\]$'
out_like "and the file that one of them was to read" "read $HOME/notes/a\.md"
run_matins run -c refused.toml r --json
json_is "the denials have them" step_results[0].run.denials '#2' \
	step_results[0].run.denials[0].kind exec step_results[0].run.denials[0].name '~/date$' \
	step_results[0].refused true step_results[0].state ok success true
cp "$out" refused.json
run_matins show last
is "the kept report has the same summary" "$(tail -n1 "$out")" \
	"r: 1 ran, 0 skipped, 0 failed, 1 with refusals"
run_matins run -c refused.toml file
out_like "a file that an allowed program could not read is named" "denied: read $HOME/notes/a\.md"
is "and counted" "$(tail -n1 "$out")" "file: 1 ran, 0 skipped, 0 failed, 1 with refusals"
run_matins run -c refused.toml strict --json
exit_is "on_refusal = \"fail\": status 2" 2
json_is "on_refusal = fail: the step has failed" step_results[0].state failed \
	step_results[0].reason refused step_results[0].output weather: \
	summary 'strict: 2 ran, 0 skipped, 1 failed'
json_is "its twin with the grant is ok" step_results[1].state ok step_results[1].refused absent
run_matins run -c refused.toml probe --json
json_is "a harmless probe counts for nothing" step_results[0].state ok \
	step_results[0].refused absent
json_is "nor does a file or program that is not there" step_results[1].state ok \
	step_results[1].refused absent summary 'probe: 2 ran, 0 skipped, 0 failed'
cat >shared.toml <<-END
	[servers.s]
	command = "$PYTHON"
	args = ["$HOME/elsewhere/server.py"]
	[routines.r]
	[[routines.r.steps]]
	name = "look"
	type = "mcp-client"
	server = "s"
	tool = "look"
	[[routines.r.steps]]
	name = "run"
	type = "mcp-client"
	server = "s"
	tool = "run"
	[routines.strict]
	[[routines.strict.steps]]
	name = "look"
	type = "mcp-client"
	server = "s"
	tool = "idle"
	[[routines.strict.steps]]
	name = "run"
	type = "mcp-client"
	server = "s"
	tool = "run"
	on_refusal = "fail"
END
run_matins run -c shared.toml r --json
json_is "a shared server: its refusals count once" step_results[1].output 'Permission denied' \
	summary 'r: 2 ran, 0 skipped, 0 failed, 1 with refusals'
run_matins run -c shared.toml strict --json
json_is "a step that minds refusals shares no process with one that does not" \
	step_results[0].state ok step_results[0].refused absent \
	step_results[1].state failed step_results[1].reason refused
cat >>shared.toml <<-END
	[routines.each]
	[[routines.each.steps]]
	name = "loose"
	type = "routine"
	routine = "r"
	foreach = "\$input.all"
	[[routines.each.steps]]
	name = "strict"
	type = "routine"
	routine = "strict"
	foreach = "\$input.all"
END
run_matins run -c shared.toml each -p all='[1,2]' --json
json_is "a routine for each element: the step around says what its server was refused" \
	step_results[0].refused true step_results[0].state ok \
	step_results[0].advice[0].text '~/date'
json_is "a routine for each element: on_refusal fails the step around" \
	step_results[1].state failed step_results[1].reason refused \
	step_results[1].error '~^run: something was refused' \
	step_results[1].data.items[1].state ok
cat >many.toml <<-END
	$(sed '/^.routines/,$d' shared.toml)
	[routines.many]
	params = { n = { type = "integer" } }
	[[routines.many.steps]]
	name = "run"
	type = "mcp-client"
	server = "s"
	tool = "run"
	on_refusal = "fail"
	[[routines.many.steps]]
	name = "look"
	type = "mcp-client"
	server = "s"
	tool = "idle"
	on_refusal = "fail"
END
printf '{"n":%d}\n' 1 2 3 4 >many.jsonl
run_matins fan plan many --inputs many.jsonl -o many -c many.toml
for jobs in 1 4; do
	rm -rf many/results
	run_matins fan exec many --shard 0 -j $jobs
	exit_is "inputs of a plan, $jobs at a time: each that was refused something fails" 2
	run_matins fan collect many -o many-$jobs.json
	cp many-$jobs.json "$out"
	json_is "inputs of a plan, $jobs at a time: none is a false success" \
		ok 0 failed 4
done
run_matins call run -s s -c shared.toml
exit_is "a call that was answered in spite of a refusal" 0
err_like "is said, whatever the state" 'denied: start /usr/bin/date by .*--exec date$'
run_matins call net -s s -c shared.toml
exit_is "a call whose network was refused, and that was answered" 0
out_is "its answer is what the server says" "fetch failed"
err_like "the refusal is said all the same" 'denied: network .*--net '
run_matins exec --preset none --report report.json -- sh -c 'date; :'
exit_is "exec: a refused program inside leaves the status" 0
err_like "exec: it is said" 'denied: start /[a-z/]*/date by .*--exec date$'
cp report.json "$out"
json_is "exec: the report has it" denials[0].kind exec denials[0].name '~/date$'
run_matins exec --preset none --read . --exec date -- sh -c 'date; :'
is "exec: a granted program leaves no word" "$(<"$err")" ""

# ---- a tool result that is none ----

run_matins call empty -s s -c shared.toml
exit_is "{} is no tool result" 1
cat >empty.toml <<-END
	[servers.s]
	command = "$PYTHON"
	args = ["$HOME/elsewhere/server.py"]
	[routines.r]
	[[routines.r.steps]]
	name = "call"
	type = "mcp-client"
	server = "s"
	tool = "empty"
	[[routines.r.steps]]
	name = "program"
	type = "mcp-client"
	command = "sh"
	args = ["-c", "echo {}"]
END
run_matins run -c empty.toml r --json
json_is "{} of a server or a program fails the step" \
	step_results[0].reason not_call_tool_result step_results[0].state failed \
	step_results[1].reason not_call_tool_result step_results[1].state failed

# ---- files of the briefing ----

echo "- [ ] call" >"$HOME/todo.md"
echo "2030-01-01 tax" >"$HOME/deadlines.md"
brief_steps() {
	local i=0 row

	echo '[routines.r]'
	for row in "$@"; do
		echo '[[routines.r.steps]]'
		echo "name = \"$((i++))\""
		printf 'type = "mcp-client"\ncommand = "matins"\nargs = ["brief"]\n'
		echo "$row"
	done
}
brief_steps 'tool = "todo"
params = { file = "~/todo.md" }' 'tool = "deadlines"
params = { file = "~/deadlines.md" }' 'tool = "todo"
params = { file = "~/none.md" }' 'tool = "todo"
params = { file = "~/todo.md" }
sandbox.read = ["~/todo.md"]' >brief.toml
run_matins run -c brief.toml r --json
for i in 0 1; do
	json_is "brief, a named file that is not granted: an error ($i)" \
		step_results[$i].state tool_error \
		step_results[$i].advice[0].text '~^denied: read /.*\.md, which lies in no folder granted' \
		step_results[$i].advice[0].toml '~^sandbox.read = \["/.*\.md"\]$'
done
json_is "one that is not there is told apart" step_results[2].state tool_error \
	step_results[2].advice '#1' step_results[2].advice[0].text '~/none\.md is not there$'
json_is "one that is granted is read" step_results[3].state ok \
	step_results[3].output '~1 open'
run_matins call todo file="$HOME/todo.md" -- matins brief
exit_is "a call: an error, too" 2
err_like "with the option" "read $HOME/todo\.md, .*to allow it: --read $HOME/todo\.md\$"
run_matins call todo file="$HOME/none.md" -- matins brief
err_like "and what is not there is told apart" "$HOME/none\.md is not there\$"

# ---- doctor looks at all that is declared ----

cat >declared.toml <<-END
	[sandbox]
	read = ["gone-folder"]
	[servers.program]
	command = "no-such-program"
	[servers.script]
	command = "$PYTHON"
	args = ["gone.py"]
	[servers.variable]
	command = "cat"
	env = { TOKEN = { env = "NOT_SET_ANYWHERE" } }
	[servers.file]
	command = "cat"
	env = { TOKEN = { file = "gone-key" } }
	[servers.command]
	command = "cat"
	env = { TOKEN = { cmd = "no-such-command x" } }
	[servers.cwd]
	command = "cat"
	cwd = "gone-cwd"
	[servers.exec]
	command = "cat"
	sandbox.exec = ["gone-exec"]
	[servers.ca]
	url = "https://mcp.example.com/mcp"
	ca_file = "gone-ca.pem"
	[servers.login]
	url = "https://mcp.example.com/mcp"
	[servers.login.auth]
	issuer = "https://example.com"
	client_id = "x"
	client_secret = { file = "gone-secret" }
END
run_matins doctor -c declared.toml
exit_is "doctor: something that is declared cannot work" 1
while read -r name text; do
	out_like "doctor looks at it: $name" "^ +(FAILED|warning) +servers\.$name.* $text"
done <<-'END'
	program no-such-program is not installed
	program sandbox\.read names /.*/gone-folder, which does not exist
	script is to run /.*/gone\.py, which does not exist
	variable variable NOT_SET_ANYWHERE is not set
	file file /.*/gone-key: No such file
	command no-such-command is not installed
	cwd cwd /.*/gone-cwd: it does not exist
	exec sandbox\.exec names gone-exec, which is not in PATH
	ca .*ca_file: /.*/gone-ca\.pem
	login file /.*/gone-secret: No such file
END
cat >well.toml <<-END
	[servers.script]
	command = "$PYTHON"
	args = ["$HOME/elsewhere/server.py"]
END
run_matins doctor -c well.toml
exit_is "its twin: all that is declared is there" 0

# ---- runs of a file, whole or not ----

export MATINS_STATE=$T/runs
cp empty.toml first.toml
sed 's/empty/idle/' empty.toml >second.toml
run_matins run -c second.toml r --only call
run_matins doctor -c second.toml r --stale 1h
exit_is "a run of one step keeps no dead-man check alive" 1
run_matins run -c second.toml r
exit_is "a whole run of that file" 2
run_matins doctor -c second.toml r --stale 1h
exit_is "does" 0
run_matins doctor -c first.toml r --stale 1h
exit_is "but of its own file alone" 1
run_matins history r -c first.toml --json
json_is "history: runs of one file are no other's" runs '#0'
run_matins history r -c second.toml --json
json_is "history: file and wholeness" runs '#2' runs[0].whole true runs[1].whole false \
	runs[0].file "$PWD/second.toml"
is "history: its members" \
	"$("$PYTHON" -c 'import json,sys; print(*json.load(sys.stdin)["runs"][0])' <"$out")" \
	"generation routine file whole state summary started finished"
run_matins run -c first.toml r
run_matins diff 2 3
exit_is "diff: runs of one name in two files cannot be compared" 2
unset MATINS_STATE

# ---- steps that did not run ----

run_matins run -c second.toml r --only call
is "a step that was left out is one line at the end" \
	"$(grep -n 'program' "$out")" "$(grep -n '^left out: program$' "$out")"
out_like "and counted as skipped" '^r: 1 ran, 1 skipped, 0 failed$'
mkdir work
cat >long.toml <<-END
	[routines.r]
	[[routines.r.steps]]
	name = "long"
	type = "script"
	command = "sh"
	args = ["-c", ": >work/begun; while :; do :; done"]
	sandbox.write = ["."]
	[[routines.r.steps]]
	name = "later"
	type = "script"
	command = "true"
END
"$BIN" run -c long.toml r >long.txt 2>/dev/null &
pid=$!
wait_for 20 test -e work/begun
kill -TERM $pid
wait $pid 2>/dev/null
is "a step that was cancelled before it began is counted apart" \
	"$(tail -n1 long.txt)" 'r: 1 ran, 0 skipped, 1 failed, 1 not begun'

# ---- the ledger is matins' own file, or none ----

echo precious >"$T/precious"
export MATINS_STATE=$T/linked
mkdir "$MATINS_STATE"
ln -s "$T/precious" "$MATINS_STATE/ledger.jsonl"
run_matins run r --only kept
exit_is "a ledger that is a link: the run is made" 0
err_like "and said not to be recorded" 'warning: this run is not recorded: .*ledger\.jsonl is a link'
is "what the link leads to is left alone" "$(<"$T/precious")" precious
run_matins history
exit_is "history follows it neither" 1
err_like "and says what to do" 'is a link.*: remove it'
rm "$MATINS_STATE/ledger.jsonl"
mkfifo "$MATINS_STATE/ledger.jsonl"
run_matins history
exit_is "a FIFO in its place holds up nothing" 1
rm "$MATINS_STATE/ledger.jsonl"
run_matins run r --only kept
exit_is "a ledger of its own" 0
run_matins history --json
json_is "is written and read" runs '#1' runs[0].whole false runs[0].file "$PWD/matins.toml"
unset MATINS_STATE

done_testing
