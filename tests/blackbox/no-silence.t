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
	                       for n in ("save", "look", "run")]}
	    elif m["params"]["name"] == "save":
	        open("note", "w").write("x")
	        r = {"content": [{"type": "text", "text": "saved"}]}
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
run_matins call look -- "$PYTHON" "$HOME/elsewhere/server.py"
is "a call that lost nothing has no line" "$(<"$err")" ""
run_matins call look -v -- "$PYTHON" "$HOME/elsewhere/server.py"
err_like "but with -v" 'started in a private, empty folder, because \. is not granted; to allow it: --write \.$'
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
END
run_matins call save -s s
err_like "a server of the configuration: said when something is gone" \
	'started in a private, empty folder, because \. is not granted; dropped with it: note;'
run_matins call look -s s
is "and not when nothing is" "$(<"$err")" ""

# ---- of a step ----

run_matins run r --json
exit_is "steps that lost a file are ok" 0
json_is "the report has what is gone" step_results[0].run.dropped.names '["note"]' \
	step_results[1].run.dropped.names '["n"]' step_results[1].run.dropped.files 1
json_is "a step with a granted folder has none" step_results[2].run.dropped absent

run_matins run r --only note
out_like "the text of the report tells of it" \
	'^  started in a private, empty folder, because \. is not granted; dropped with it: n$'
out_like "with the line that keeps it" '^ +sandbox\.write = \["\."\]$'
out_like "and the step is still ok" '^r: 1 ran, 2 skipped, 0 failed$'
for form in --md --html; do
	run_matins run r --only note $form
	out_like "so does $form" 'dropped with it: n'
done

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
	tool = "look"
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
run_matins call run -s s -c shared.toml
exit_is "a call that was answered in spite of a refusal" 0
err_like "is said, whatever the state" 'denied: start /usr/bin/date by .*--exec date$'
run_matins exec --report report.json -- sh -c 'date; :'
exit_is "exec: a refused program inside leaves the status" 0
err_like "exec: it is said" 'denied: start /[a-z/]*/date by .*--exec date$'
cp report.json "$out"
json_is "exec: the report has it" denials[0].kind exec denials[0].name '~/date$'
run_matins exec --read . --exec date -- sh -c 'date; :'
is "exec: a granted program leaves no word" "$(<"$err")" ""

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
