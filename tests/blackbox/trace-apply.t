#!/usr/bin/env bash
# `trace --apply`: one trace writes the rows that a step lacks into its
# configuration, then the step runs; nothing else of the file changes.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# a folder of a project, beside HOME
mkdir work
cd work || exit
mkdir notes out mk pkg
chmod 777 out mk
echo "call the dentist" >notes/a.md

# applies NAME KEYS OUTPUT: the step fails, or says less; one trace; it works
applies() {
	local name=$1

	{
		printf '# before\n[[routines.r.steps]]\nname = "%s" # mine\n' "$1"
		printf 'type = "script"\n%s\n\n# behind\n' "$2"
		printf '[[routines.r.steps]]\nname = "other"\n'
		printf 'type = "script"\ncommand = "true"\n'
	} >"$name.toml"
	cp "$name.toml" "$name.old"
	run_matins run -c "$name.toml" r --json --only "$name"
	isnt "$name: refused at first" \
		"$("$PYTHON" "$TOP/tests/blackbox/json_at.py" "$out" \
			step_results[0].output 2>/dev/null)" "$3"
	run_matins trace -c "$name.toml" r "$name" --apply
	exit_is "$name: the trace" 0
	cp "$out" "$name.diff"
	isnt "$name: the file has changed" \
		"$(cksum <"$name.toml")" "$(cksum <"$name.old")"
	is "$name: no line is gone" \
		"$(grep -c '^-[^-]' "$name.diff")" "${4-0}"
	if command -v patch >/dev/null; then
		patch -s -R -o "$name.back" "$name.toml" "$name.diff"
		is "$name: the printed difference is all" \
			"$(cat "$name.back")" "$(cat "$name.old")"
	else
		skip "$name: the printed difference" "patch is not installed"
	fi
	run_matins run -c "$name.toml" r --json --only "$name"
	exit_is "$name: then it runs" 0
	json_is "$name: and does its work" step_results[0].output "$3"
	cp "$name.toml" "$name.new"
	run_matins trace -c "$name.toml" r "$name" --apply
	is "$name: a second trace changes nothing" \
		"$(cat "$name.toml")" "$(cat "$name.new")"
}

applies archive "command = 'tar'
args = ['czvf', 'out/a.tgz', 'notes/a.md']
sandbox = { read = ['notes'], preset = ['none'] } # what it packs
cwd = '.'" 'notes/a.md' 1
file_has "archive: a path is written from the folder of the file" \
	archive.toml '"./out"'
applies news "command = 'sh'
args = ['-c', 'echo news: \$(cat $PWD/notes/a.md)']
sandbox.preset = ['none']" 'news: call the dentist'
applies place "command = 'cat'
args = ['a.md']
cwd = 'notes'" 'call the dentist'
mkdir "$HOME/data"
echo x >"$HOME/data/tasks.db"
applies looked "command = 'sh'
args = ['-c', '[ -f ~/data/tasks.db ] && echo there || echo none']" 'there'
is "looked: the file alone, not its folder" \
	"$(grep read looked.toml)" 'sandbox.read = ["~/data/tasks.db"]'
applies entered "command = 'sh'
args = ['-c', 'cd notes && echo in || echo out']" 'in'
is "entered: the folder, not the one above" \
	"$(grep read entered.toml)" 'sandbox.read = ["./notes"]'
# find(1) opens "." to come back, and lists it only where it was asked to
applies found "command = 'find'
args = ['$PWD/notes', '-name', '*.md']
sandbox.preset = ['none']" "$PWD/notes/a.md"
is "found: the folder that it lists, not the one that it starts in" \
	"$(grep read found.toml)" 'sandbox.read = ["./notes"]'
applies listed "command = 'find'
args = ['-path', './notes/*']
sandbox.preset = ['none']" './notes/a.md'
is "listed: where it starts, too" \
	"$(grep read listed.toml)" 'sandbox.read = ["."]'
applies globbed "command = '$PYTHON'
args = ['-Ic', 'import glob; print(len(glob.glob(\"$PWD/notes/*\")))']
sandbox.preset = ['none']" 1
is "globbed: the folder of the names" \
	"$(grep read globbed.toml)" 'sandbox.read = ["./notes"]'
applies opened "command = '$PYTHON'
args = ['-Ic', 'import os; fd = os.open(\".\", 0); os.chdir(\"/\"); print(\"notes\" in os.listdir(fd))']
sandbox.preset = ['none']" True
is "opened: a folder is listed from anywhere" \
	"$(grep read opened.toml)" 'sandbox.read = ["."]'
printf 'print("from a package")\n' >pkg/__main__.py
touch pkg/__init__.py
applies package "command = 'sh'
args = ['-c', 'cd $PWD && exec $PYTHON -m pkg']" 'from a package'
mkdir own_code && cp pkg/*.py own_code/ && echo 'n = 1' >own_code/other.py
sed -i '1i from . import other; open("out/m", "w")' own_code/__main__.py
applies module "command = '$PYTHON'
args = ['-m', 'own_code']" 'from a package'
is "module: code is not writable for its cache" \
	"$(grep write module.toml)" 'sandbox.write = ["./out"]'
if type -P gcc >/dev/null && type -P make >/dev/null; then
	printf 'a: a.c\n\t@gcc -o $@ $<\n\t@./a\n' >mk/Makefile
	printf '#include <stdio.h>\nint main(void) { puts("built"); }\n' \
		>mk/a.c
	applies build "command = 'make'
args = ['-s', '-B', '-C', 'mk']
[routines.r.steps.sandbox]
memory = '1GiB'
preset = ['none']" 'built'
	mkdir there && cp mk/Makefile mk/a.c there && cd there || exit
	applies here "command = 'make'
args = ['-s', '-B']" 'built'
	file_has "here: the folder of the file holds programs" here.toml \
		'sandbox.exec = ["./"]'
	cd .. || exit
else
	skip "make with gcc" "no gcc or make"
fi
if [[ -n $NODE ]]; then
	printf 'require("fs").writeFileSync("%s/out/n", "x");console.log(require("%s/notes/b.json").v)\n' \
		"$PWD" "$PWD" >notes/n.js
	echo '{"v": "from node"}' >notes/b.json
	applies node "command = '$NODE'
args = ['notes/n.js']" 'from node'
else
	skip "node" "node is not installed"
fi

# ---- a package with a native addon: npm, node-gyp, make and a compiler ----

headers=${NODE:+${NODE%/bin/*}/include/node/node_api.h}
if [[ -n $NODE && -e $headers ]] && type -P npm gcc g++ make >/dev/null; then
	mkdir -p native/answer
	cd native || exit
	cat >answer/answer.c <<-'END'
		#include <node_api.h>
		NAPI_MODULE_INIT() {
			napi_value n;
			napi_create_int32(env, 42, &n);
			return n;
		}
	END
	echo '{"name": "answer", "version": "1.0.0"}' >answer/package.json
	echo '{"targets": [{"target_name": "answer", "sources": ["answer.c"]}]}' \
		>answer/binding.gyp
	echo '{"name": "own", "version": "1.0.0"}' >package.json
	cat >native.toml <<-'END'
		[[routines.r.steps]]
		name = "install"
		type = "script"
		command = "npm"
		args = ["install", "--no-audit", "--no-fund", "./answer"]
		cwd = "."
		sandbox.preset = ["npm-scripts", "build"]
	END
	run_matins run -c native.toml r
	isnt "a native addon: refused at first" "$status" 0
	LIMIT_S=120 run_matins trace -c native.toml r install --apply
	exit_is "a native addon: the trace" 0
	rm -rf answer/build node_modules package-lock.json
	LIMIT_S=120 run_matins run -c native.toml r
	exit_is "a native addon: then it is built" 0
	is "a native addon: and works" \
		"$("$NODE" -p 'require("./answer/build/Release/answer.node")')" 42
	cd .. || exit
else
	skip "a native addon" "no node, its headers, npm, make or compiler"
fi

# ---- what is never written ----

mkdir -p "$HOME/.ssh"
chmod 700 "$HOME/.ssh"
echo key >"$HOME/.ssh/id_rsa"
cat >key.toml <<-END
	[[routines.r.steps]]
	name = "key"
	type = "script"
	command = "cat"
	args = ["--", "notes/a.md", "$HOME/.ssh/../.ssh/id_rsa"]
END
cp key.toml key.old
run_matins trace -c key.toml r key --apply
is "keys are not granted" "$(cat key.toml)" "$(cat key.old)"
sed -i -e 's/"cat"/"sh"/' -e 's,^args.*,args = ["-c"\, "read -r x <$HOME/.ssh/id_rsa"],' \
	key.toml
cp key.toml key.old
run_matins trace -c key.toml r key --apply
err_like "a step that needs a key alone: why nothing is added" \
	'step key failed, and there is nothing to add .*: keys, .*by hand'
err_unlike "a step that needs a key alone: never content" 'has all that'
is "a step that needs a key alone: the file" "$(cat key.toml)" "$(cat key.old)"

# ---- code of the program is never made writable ----

# beside NAME KEYS: the run and the trace refuse the same, in the same words
beside() {
	printf '[[routines.r.steps]]\nname = "%s"\n%s\n' "$1" "$2" >"$1.toml"
	cp "$1.toml" "$1.old"
	run_matins run -c "$1.toml" r
	out_like "$1: the run says where it wrote" 'lies beside the code of the'
	run_matins trace -c "$1.toml" r "$1" --apply
	err_like "$1: the trace says so as well" \
		'left out: write .*lies beside the code of the .*elsewhere$'
	err_unlike "$1: never content" 'has all that it needs'
	is "$1: no row" "$(cat "$1.toml")" "$(cat "$1.old")"
}

mkdir dist data && chmod 777 dist data
printf 'import sys\nopen(sys.argv[1] + "/made", "w")\nprint("made")\n' \
	>dist/make.py
beside code "type = 'script'
command = '$PYTHON'
args = ['dist/make.py', 'dist']
cwd = '.'
sandbox.read = ['.']"
applies elsewhere "command = '$PYTHON'
args = ['dist/make.py', 'data']" 'made'
mkdir mine && cp dist/make.py mine && cd mine || exit
applies own "command = '$PYTHON'
args = ['make.py', '.']" 'made'
is "own: a script may lie in the folder of a person's work" \
	"$(grep write own.toml)" 'sandbox.write = ["."]'
cd .. || exit

modules=$TOP/build/npm/node_modules
if [[ -n $NODE && -d $modules/@modelcontextprotocol/server-memory ]]; then
	mkdir memory && cp -R "$modules" memory && cd memory || exit
	beside package "type = 'mcp-client'
command = 'npx'
args = ['-y', '@modelcontextprotocol/server-memory']
tool = 'create_entities'
params.entities = [{ name = 'a', entityType = 'b', observations = ['c'] }]"
	cd .. || exit
else
	skip "a package of npm" "the servers of npm are not installed"
fi

# ---- a trace that failed finds what it can, and says so ----

tool_server tool.py <<'END'
text, bad = "there is no tool raed", True
END
cat >fails.toml <<END
[[routines.r.steps]]
name = "tool"
type = "mcp-client"
command = "$PYTHON"
args = ["tool.py"]
tool = "t"
[[routines.r.steps]]
name = "slow"
type = "script"
command = "bash"
args = ["-c", "echo >&2 begun; read -r x <$PWD/out/never"]
sandbox.read = ["out"]
timeout = 1
[[routines.r.steps]]
name = "port"
type = "script"
command = "$PYTHON"
args = ["-c", '''
import socket
print(open("$PWD/notes/a.md").read())
socket.create_connection(("127.0.0.1", 9), 5)''']
sandbox.net = "loopback"
END
mkfifo out/never
cp fails.toml fails.old
for step in tool slow; do
	run_matins trace -c fails.toml r $step --apply
	err_like "$step: failed, and what is behind that is not known" \
		"step $step failed, and .* not known; fails.toml stays as it is"
	err_unlike "$step: never content" 'has all that it needs'
	run_matins trace -c fails.toml r $step
	out_like "$step: its table is incomplete" '^# incomplete: the traced run'
	out_unlike "$step: no policy is called enough" 'is enough'
done
run_matins trace -c fails.toml r tool
err_like "tool: its own words" 'tool reported an error: there is no tool raed'
is "what failed without a row changes nothing" \
	"$(cat fails.toml)" "$(cat fails.old)"

# A folder that is not there yet is made by the person, then the trace adds it;
# a script that could not write there may end well.
cat >"$HOME/backup.toml" <<END
[[routines.r.steps]]
name = "backup"
type = "script"
command = "bash"
args = ["-c", "mkdir -p ~/backup ~/second; echo x >~/backup/x; echo y >~/second/y; ls ~/backup"]
END
run_matins trace -c "$HOME/backup.toml" r backup --apply
err_like "what went with the private HOME: left out, and what to do" \
	'left out: write "[^ ]*/backup": .* make that folder, and trace again'
err_like "all folders at once" 'left out: .*; write "[^ ]*/second": .* make that folder'
mkdir "$HOME/backup" "$HOME/second"
run_matins trace -c "$HOME/backup.toml" r backup --apply
file_has "a folder that is there: written" "$HOME/backup.toml" 'sandbox.write = ["./backup", "./second"]'
run_matins run -c "$HOME/backup.toml" r
is "and what the step saves is there" "$(cat "$HOME/backup/x")" x

run_matins trace -c fails.toml r port --apply
err_like "a key that cannot be joined: what to write" \
	'sandbox.net .* cannot be joined .*write net = ."127.0.0.1:9". there'
err_like "a failed trace that found rows: more may be missing" \
	'traced run failed, so rows may be missing'
file_has "the other rows are put in" fails.toml 'sandbox.read = ["."]'
file_has "its own value stays" fails.toml 'net = "loopback"'
mkfifo -m 666 out/begun
cat >ended.toml <<END
[[routines.r.steps]]
name = "waits"
type = "script"
command = "bash"
args = ["-c", "echo >out/begun; read -r x <$PWD/out/never"]
END
cp ended.toml ended.old
"$BIN" trace -c ended.toml r waits --apply >"$out" 2>"$err" &
read -t 30 -r _ <>out/begun
kill -TERM $!
wait $!
err_like "a trace that is ended: said" 'ended before the step was done; ended.toml stays as it is'
err_unlike "a trace that is ended: never content" 'has all that it needs'
is "a trace that is ended: the file" "$(cat ended.toml)" "$(cat ended.old)"

# ---- steps that share a server ----

mkdir serves
tool_server serves/reads.py <<END
text, bad = open("$PWD/notes/a.md").read().strip(), False
END
cat >shared.toml <<END
[servers.reads]
command = "$PYTHON"
args = ["serves/reads.py"]
[[routines.r.steps]]
name = "one"
type = "mcp-client"
server = "reads"
tool = "t"
[[routines.r.steps]]
name = "two"
type = "mcp-client"
server = "reads"
tool = "t"
END
run_matins trace -c shared.toml r one
out_like "a table of the server" '^.servers.reads.sandbox.$'
run_matins trace -c shared.toml r one --apply
is "its row is the server's, for all steps of it" \
	"$(sed -n 4p shared.toml)" 'sandbox.read = ["./notes/a.md"]'
run_matins run -c shared.toml r --json
json_is "so both run, in one session" step_results[0].state ok \
	step_results[1].state ok step_results[1].output "call the dentist"

# ---- a whole routine: its steps one after the other ----

cat >all.toml <<'END'
[servers.far]
url = "https://127.0.0.1:9/mcp"
[[routines.all.steps]]
name = "first" # mine
type = "script"
command = "sh"
args = ["-c", "read -r x <notes/a.md"]
[[routines.all.steps]]
name = "plain"
type = "script"
command = "true"
[[routines.all.steps]]
name = "missing"
type = "script"
command = "no-such-program"
[[routines.all.steps]]
name = "far"
type = "mcp-client"
server = "far"
tool = "t"
[[routines.all.steps]]
name = "bad"
type = "script"
command = "sh"
args = ["-c", "read -r x <notes/a.md; exit 3"]
[[routines.all.steps]]
name = "last"
type = "script"
command = "sh"
args = ["-c", "read -r x <notes/a.md; echo $x >out/copy"]
END
cp all.toml all.old
run_matins trace -c all.toml all
exit_is "all steps: the status of the first that failed" 2
is "all steps: a table for each program" \
	"$(grep -c '^.routines.all.steps.sandbox.$' "$out")" 4
is "without --apply the file stays" "$(cat all.toml)" "$(cat all.old)"
run_matins trace -c all.toml all --apply
exit_is "all steps, --apply: the status of the first that failed" 2
err_like "one summary, which names what is left" \
	'trace: all: 2 changed, 1 complete, 1 failed \(bad\), 2 left out \(missing, far\)$'
err_like "why a step is left out" 'far is a remote server'
is "what all steps have in common is said once" \
	"$(grep -c 'it may read and run everything' "$err")" 1
is "each step has its rows, a failed one as well" \
	"$(grep sandbox all.toml)" \
	$'sandbox.read = ["./notes/a.md"]\nsandbox.read = ["./notes/a.md"]\nsandbox.read = ["./notes/a.md"]\nsandbox.write = ["./out"]'
run_matins run -c all.toml all --only first,last
exit_is "and the steps run" 0
is "with their work done" "$(cat out/copy)" "call the dentist"

cat >none.toml <<'END'
[routines.none]
[[routines.none.steps]]
name = "within"
type = "routine"
routine = "other"
[[routines.none.steps]]
name = "ask"
type = "approve"
message = "go on?"
[[routines.none.steps]]
name = "lists"
type = "sync"
[routines.other]
[[routines.other.steps]]
name = "one"
type = "script"
command = "true"
END
run_matins trace -c none.toml none within
exit_is "a step that is a routine: status" 64
err_like "a step that is a routine names the command that traces it" \
	'within runs routine other; trace that: matins trace -c .*/none.toml other'
run_matins trace -c none.toml none ask
err_like "an approval has no program" \
	'ask is answered by a person: there is no program to trace'
run_matins trace -c none.toml none lists
err_like "a sync step has no program" \
	'lists is done by matins itself: there is no program to trace'

# ---- steps with the result of another ----

printf '%s\n' '[[routines.chain.steps]]' 'name = "list"' 'type = "script"' \
	'command = "echo"' "args = [\"$PWD/notes/a.md\"]" \
	'[[routines.chain.steps]]' 'name = "names"' 'type = "script"' \
	'command = "echo"' "args = ['[\"$PWD/notes/a.md\"]']" \
	'[[routines.chain.steps]]' 'name = "show"' 'type = "script"' \
	'command = "cat"' 'args = ["--", "$steps.list.output"]' \
	'[[routines.chain.steps]]' 'name = "each"' 'type = "script"' \
	'foreach = "$steps.names.json"' 'command = "cat"' 'args = ["--", "$item"]' \
	'[[routines.chain.steps]]' 'name = "reads"' 'type = "script"' \
	'command = "sh"' 'args = ["-c", "read -r x; cat $x"]' \
	'stdin = "{{steps.list.output}}"' \
	'[[routines.chain.steps]]' 'name = "before"' 'type = "script"' \
	'command = "echo"' 'args = ["{{previous.list.output}}"]' \
	'[[routines.chain.steps]]' 'name = "judged"' 'type = "script"' \
	'command = "true"' 'when = { "$steps.list.state" = { const = "ok" } }' \
	'[[routines.chain.steps]]' 'name = "alarm"' 'type = "script"' \
	'command = "true"' 'after = "failure"' \
	>chain.toml
cp chain.toml chain.old
run_matins run -c chain.toml chain
exit_is "a file out of a result is not granted" 2
out_unlike "its report names no trace, which would grant it" 'matins trace'
for step in show each reads before; do
	run_matins trace -c chain.toml chain $step --apply
	exit_is "$step has the result of another: not traced" 64
	err_like "$step: why, and what to do" \
		"$step is not traced: it is given values of other steps, which a trace would grant to .*; run the routine, .*: matins run -c [^ ]*chain.toml chain\$"
	err_unlike "$step does not run" 'really runs'
done
run_matins trace -c chain.toml chain --apply
exit_is "a trace of all steps goes on without them" 0
err_like "and counts them" \
	'trace: chain: 3 complete, 5 left out \(show, each, reads, before, alarm\)$'
err_like "a step behind a failure: the reason and a way" \
	'alarm would be skipped: after = "failure", and no step failed; it runs for matins trace .* chain alarm$'
err_unlike "no tool is called by a script" 'really runs and'
is "nothing that a result names is granted" "$(cat chain.toml)" "$(cat chain.old)"
run_matins trace -c chain.toml chain list show --apply
exit_is "one of them by its name: the status is no success" 64
err_like "and it is named" '1 complete, 1 left out \(show\)$'
run_matins trace -c chain.toml chain alarm
exit_is "a step behind a failure is traced where it is named" 0

run_matins trace -c all.toml all first plain --apply
exit_is "some steps: all well" 0
err_like "some steps: a second trace changes nothing" 'trace: all: 2 complete$'
run_matins trace -c all.toml all first frist
exit_is "a misspelt step among others" 1
err_like "a misspelt step among others: the one that was meant" \
	'routine all has no step frist; did you mean first\?$'
err_unlike "a misspelt step among others: nothing runs" 'really runs'
for args in --json "-o table.toml"; do
	# shellcheck disable=SC2086
	run_matins trace -c all.toml all $args
	exit_is "$args takes one step" 64
done
run_matins history -c all.toml all --json
json_is "a trace is no run of the routine" runs '#1' runs[0].whole false
run_matins history -c all.toml
out_like "but it is marked in the list" ' all/first \(trace\): 1 ran'
out_like "one that could not begin as well" ' all/far \(trace\): far is'
run_matins doctor -c all.toml all --stale 1h
out_like "and keeps no dead-man check alive" 'FAILED +all +never finished a whole'

cp all.old cut.toml
sed -i "/exit 3/s,\"-c\"\, .*,\"-c\"\, 'echo >out/begun; read -r x <$PWD/out/never']," cut.toml
"$BIN" trace -c cut.toml all first bad last --apply >"$out" 2>"$err" &
read -t 30 -r _ <>out/begun
kill -TERM $!
wait $!
is "a walk that is ended: status" $? 143
err_like "a walk that is ended: what was not traced" \
	'trace: all: 1 changed, 2 not traced \(bad, last\)$'
is "a walk that is ended keeps what is known" \
	"$(grep -c sandbox cut.toml)" 1

cat >changed.toml <<-END
	[[routines.r.steps]]
	name = "waits"
	type = "script"
	command = "bash"
	args = ["-c", "read -r x <out/begun; read -r x <notes/a.md"]
	timeout = 20
END
(
	timeout 20 bash -c 'exec 3>out/begun; echo "# by hand" >>changed.toml; echo >&3'
) &
LIMIT_S=30 run_matins trace -c changed.toml r waits --apply
wait $!
exit_is "a file that changed meanwhile: exit status" 1
err_like "a file that changed meanwhile: said" 'changed during the trace'
is "a file that changed meanwhile: left alone" \
	"$(tail -n1 changed.toml)" '# by hand'
is "a file that changed meanwhile: no row in it" \
	"$(grep -c sandbox changed.toml)" 0

for args in "r waits --apply --json" "r waits --apply -o x" \
	"--apply -- true"; do
	# shellcheck disable=SC2086
	run_matins trace -c changed.toml $args
	exit_is "trace $args: wrong usage" 64
done

# ---- names that a configuration would read otherwise ----

mkdir -p 'odd/${A:-..}/${A:-..}/${A:-..}/else' ../else
cat >odd.py <<'END'
open("odd/${A:-..}/${A:-..}/${A:-..}/else/f", "w").write("x")
print("written")
END
chmod -R 777 odd ../else
cat >odd.toml <<END
[[routines.r.steps]]
name = "odd"
type = "script"
command = "$PYTHON"
args = ["$PWD/odd.py"]
cwd = "."
sandbox = { read = ["odd"] }
END
run_matins trace -c odd.toml r odd
out_like "a name with \${ in it is a comment" '^[[:space:]]*# .*odd/.*else'
out_like "which says why" 'a configuration would replace the'
run_matins trace -c odd.toml r odd --apply
file_lacks "such a name is not written" odd.toml ':-'
run_matins run -c odd.toml r --json
file_lacks "nor is it advised" "$out" 'sandbox.write = .*:-'
not_ok "nothing is written elsewhere" test -e ../else/f

# ---- the allowance of a file in the current folder ----

unset MATINS_ALLOW
mkdir own
cp news.old own/matins.toml
cd own || exit
run_matins allow
run_matins trace r news --apply
exit_is "an allowed file: the trace" 0
run_matins run r --only news
exit_is "an allowed file stays allowed" 0
out_like "an allowed file: its step works" 'news: call the dentist'
cp ../news.old matins.toml
echo "# another one" >>matins.toml
run_matins trace -c matins.toml r news --apply
exit_is "a file that is named needs no allowance" 0
run_matins run r --only news
exit_is "a file that was not allowed is not allowed afterwards" 1
err_like "a file that was not allowed: said" 'matins allow'
cp ../news.old matins.toml
run_matins allow --edits
run_matins trace r news --apply
exit_is "a file that is allowed with its edits: the trace" 0
err_like "its folder is not writable meanwhile: said" \
	'holds matins.toml, which is allowed with all later edits'
out_like "its row is put in" '^\+sandbox'
cat >>matins.toml <<END
[[routines.r.steps]]
name = "keeps"
type = "script"
command = "$PYTHON"
args = ["-c", "open('$PWD/kept', 'w')"]
END
run_matins trace r keeps --apply
err_like "a folder that such a file seals is no row: why, and what to do" \
	'left out: write .*own.: it holds .*matins.toml, .*: matins allow .*/own/matins.toml$'
err_unlike "a folder that such a file seals: never code" 'never writable'
is "and no line is written that would be refused" \
	"$(grep -c 'sandbox.write' matins.toml)" 0
run_matins allow
run_matins trace r keeps --apply
out_like "with the file allowed as it is the row is put in" '^\+sandbox.write'
run_matins run r --only keeps
exit_is "and the step works" 0

# SQLite opens for both what it only reads: no row to write, but for its twin
mkdir -m 777 "$HOME/db"
"$PYTHON" -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1]); d.execute("create table t (x)")' "$HOME/db/t.db"
chmod 666 "$HOME/db/t.db"
for sql in 'select count(*) from t' 'insert into t values (1)'; do
	cat >database.toml <<-END
		[[routines.r.steps]]
		name = "query"
		type = "script"
		command = "$PYTHON"
		args = ["-c", "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('$sql'); d.commit()", "$HOME/db/t.db"]
	END
	run_matins trace -c database.toml r query --apply
	file_rows=$(grep -c '^sandbox.write = \["~/db"\]' database.toml)
	[[ $sql == insert* ]]
	is "a trace of a database grants what it needs: $sql" "$file_rows" $((!$?))
done
err_unlike "the twin: nothing is left out" 'left out: write'

# ---- a package that is not there is not waited for ----

plain gone npx 'args = ["no-such-server-anywhere"]' | sed 's/"script"/"mcp-client"/' >gone.toml
printf 'tool = "t"\n' >>gone.toml
status=0
timeout 25 "$BIN" trace -c gone.toml r gone >"$out" 2>"$err" || status=$?
isnt "a package that is missing: the trace does not begin" "$status" 124
err_like "it says so" 'not installed|not found'
err_unlike "nothing was started" 'really runs'

done_testing
