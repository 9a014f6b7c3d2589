#!/usr/bin/env bash
# Steps save parts of their results as files: `save`, and `out` of a routine.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# made NAME JSON: a transcript whose one answer is a CallToolResult
made() {
	printf 'handshake\nexpect tools/call\nreply %s\nexpect-eof\n' "$2" \
		>"$T/$1.peer"
}
# routine OUT: the head of routine r, which begins r.toml
routine() {
	printf '[routines.r]\nout = "%s"\n' "$1" >r.toml
}
# says SAVE [LINES...]: a step of r that prints "new" and saves it
says() {
	local save=$1

	shift
	plain says printf 'args = ["new"]' "save = { \"\$.output\" = \"$save\" }" \
		"$@" >>r.toml
}
# tool SAVE <BODY: a step of r that runs this and may write $T/w
tool() {
	printf '#!/bin/sh\n' >"$T/tool"
	cat >>"$T/tool"
	chmod 755 "$T/tool"
	plain says "$T/tool" "sandbox.write = [\"$T/w\"]" \
		"save = { \"\$.output\" = \"$1\" }" >>r.toml
}
run_r() {
	run_matins run -c r.toml r "$@"
}
# denied NAME REASON ERE: the step of r, before it ran
denied() {
	run_r --json
	json_is "$1" step_results[0].reason "$2" step_results[0].error "~$3"
}

# ---- what is saved ----

made all '{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="},{"type":"text","text":"a\u0000\u00e9\n"},{"type":"resource","resource":{"uri":"file:///x","blob":"AAEC"}},{"type":"resource","resource":{"uri":"file:///x","text":"<x>"}},{"type":"audio","mimeType":"audio/wav","data":"data:audio/wav;base64,UklGRg"}],"structuredContent":{"n":1e400,"s":"x, \"y\"","l":[ 1.0 ]}}'
routine made/here
peer_step chart all 'tool = "t"' 'params = {}' \
	'save = { "$.content[0]" = "chart.png", "$.content[1]" = "a/b/t.txt", "$.content[2]" = "blob", "$.content[3]" = "x", "$.content[-1]" = "s.wav", "$.structuredContent" = "all.json", "$.structuredContent.s" = "s", "$.structuredContent.l" = "l.pdf", "$.output" = "o", "$.content[1].type" = "type" }' \
	>>r.toml
run_matins check -c r.toml
exit_is "check: nothing is wrong" 0
(unset MATINS_ALLOW && mkdir mine && cp r.toml mine/matins.toml && cd mine &&
	run_matins allow; cat "$out" "$err") >shown
file_like "what a file may do: its folder is shown" shown 'writes +made/here'
run_r --dry-run
out_like "a dry run says what would be saved, and where" \
	"would save [$].content\[0\] as $T/made/here/chart.png, "
ok "and makes nothing" test ! -e made
run_r --json --events e
exit_is "blocks and values are saved: status 0" 0
is "an image is its bytes" "$(od -An -tx1 made/here/chart.png)" \
	" 89 50 4e 47 0d 0a 1a 0a"
is "a text is its characters, in a folder that is made" \
	"$(od -An -tx1 made/here/a/b/t.txt)" " 61 00 c3 a9 0a"
is "a resource is its bytes, or its text; a sound likewise" \
	"$(od -An -tx1 made/here/blob; cat made/here/x made/here/s.wav)" \
	" 00 01 02
<x>RIFF"
is "structured content is JSON as it came" "$(<made/here/all.json)" \
	'{"n":1e400,"s":"x, \"y\"","l":[1.0]}'
is "a string is its text, another value JSON" \
	"$(cat made/here/s made/here/l.pdf made/here/type)" 'x, "y"[1.0]text'
json_get step_results[0].output >o
is "the output is that of the report" \
	"$(tr -d "\\0" <made/here/o)" "$(tr -d "\\0" <o)"
is "files and folders have the modes of the umask" \
	"$(stat -c %a made made/here/a made/here/chart.png | tr '\n' ' ')" \
	"755 755 644 "
json_is "the report says what was saved" \
	step_results[0].run.saved '#10' \
	step_results[0].run.saved[1].path "$T/made/here/a/b/t.txt" \
	step_results[0].run.saved[1].bytes 5 \
	step_results[0].run.saved[1].sha256 "$(sha256sum made/here/a/b/t.txt | cut -d' ' -f1)"
grep step_ended e >ended
json_file_is "so does the event" ended saved[2].bytes 3
run_r
out_like "and the text" "^  saved: $T/made/here/chart.png, 8 B\$"
out_like "and of a file that is no such thing" 'l\.pdf, 5 B; it holds txt'
out_unlike "of no other" 'chart.*holds'
run_r --view golden
out_unlike "but not the golden view" 'saved'
is "no other files are left" "$(find made -type f | wc -l)" 10

# one result, whatever it took
cat >flaky <<-END
	#!/bin/sh
	echo x >>$T/w/tries
	grep -c x $T/w/tries
	[ -e $T/w/tries ] && [ \$(grep -c x $T/w/tries) -gt 1 ]
END
chmod +x flaky
mkdir -m 777 w
routine out
plain f "$T/flaky" "sandbox.write = [\"$T/w\"]" 'save = { "$.json" = "f" }' \
	'retry = { max = 3, wait = "1ms", on = ["exit:1"] }' >>r.toml
cat >>r.toml <<-'END'
	[[routines.r.steps]]
	name = "inner"
	type = "routine"
	routine = "i"
	save = { "$.data" = "i.json" }
	[routines.i]
	out = "inner"
	[[routines.i.steps]]
	name = "s"
	type = "script"
	command = "printf"
	args = ["in"]
	save = { "$.output" = "i" }
END
run_r --json
json_is "attempts: the last one is saved" step_results[0].run.attempts '#2' \
	step_results[0].run.saved[0].bytes 1
is "attempts: and its result" "$(<out/f)" 2
is "a routine that is a step has its own folder" "$(<inner/i)" in
file_like "and its report can be saved" out/i.json '^\{"schema":"matins-report/1"'

# a later step reads what was saved
rm -rf out
routine out
says x
plain use cat 'args = ["out/x"]' 'sandbox.read = ["out/x", "nothing"]' >>r.toml
run_r --json
json_is "a later step reads the file" step_results[1].output new
err_like "of what is not there is warned" 'grants .*/nothing, which does not exist'
err_unlike "but not of what will be saved" 'out/x'

# ---- what check sees ----

# wrong NAME OUT SAVE ERE [LINES...]
wrong() {
	local name=$1 save=$3 ere=$4

	routine "$2"
	[[ $2 ]] || sed -i /out/d r.toml
	shift 4
	plain s printf 'args = ["x"]' "save = $save" "$@" >>r.toml
	run_matins check -c r.toml
	err_like "$name" "^r\.toml:[0-9]+:[0-9]+: (error: )?.*$ere"
}
wrong "no folder" "" '{ "$.output" = "x" }' 'write out = "FOLDER" in \[routines\.r\]'
for name in ../x a/../../x a/.. /etc/x a//b ./x a/ '' '~/x' '{{run.date}}.png' \
	'$run.date' "a\\nb"; do
	wrong "no name: $name" out "{ \"\$.output\" = \"$name\" }" \
		'"save": ".*" cannot be a file: .*; write a name such as'
done
wrong "a name that is the path" out '{ "x.txt" = "$.output" }' 'write it first: \{ "[$]\.output" = "x\.txt" \}'
wrong "a reference in the folder" 'out/{{run.date}}' '{ "$.output" = "x" }' 'no reference has a value in it'
wrong "no text" out '{ "$.output" = 1 }' 'must be the name of a file'
wrong "no such path" out '{ "$.outptu" = "x" }' 'did you mean "output"'
wrong "no path" out '{ "output" = "x" }' '[$]'
wrong "twice in a step" out '{ "$.output" = "x", "$.json" = "x" }' 'step "s" saves a file in the place of "x"'
wrong "a file and a folder" out '{ "$.output" = "x/y", "$.json" = "x" }' 'in the place of "x"'
wrong "in another step" out '{ "$.output" = "x" }' 'step "s" saves a file in the place of "x/y"' \
	'[[routines.r.steps]]' 'name = "s2"' 'type = "script"' 'command = "true"' \
	'save = { "$.output" = "x/y" }'
wrong "of a loop" out '{ "$.output" = "x" }' '[$]steps\.s\.items' 'foreach = "$input.l"'
run_r --json -p 'l=[]'
exit_is "a run refuses it, too" 1
wrong "Base64: a warning" out '{ "$.output" = "x" }' 'is Base64 text; for the bytes name the block' \
	'[[routines.r.steps]]' 'name = "c"' 'type = "mcp-client"' 'command = "true"' \
	'tool = "t"' 'save = { "$.content[0].data" = "y" }'
exit_is "Base64: no more" 0
# nested LINES...: routine o runs routine r, which saves
nested() {
	routine out
	says x
	printf '[routines.%s]\n' m o >>r.toml
	routine=m plain q true >>r.toml
	step m s r >>r.toml
	printf '%s\n' "$@" >>r.toml
	run_matins check -c r.toml
}
# step ROUTINE NAME RUNS
step() {
	printf '[[routines.%s.steps]]\nname = "%s"\ntype = "routine"\nroutine = "%s"\n' "$@"
}
nested "$(step o a m)"
exit_is "a routine that saves, as a step: fine" 0
nested "$(step o a m)" 'foreach = "$input.l"'
err_like "a routine that saves, in a loop" 'routine "r" saves files, and would save the same ones for each element'
nested "$(step o a m)" "$(step o b r)"
err_like "a routine that saves, in two steps" 'step "a" runs it, too'
# together OUT SAVE: routine o runs r, which saves out/x, and m
together() {
	routine out
	says x
	printf '[routines.m]\nout = "%s"\n' "$1" >>r.toml
	routine=m plain s printf "save = { \"\$.output\" = \"$2\" }" >>r.toml
	printf '[routines.o]\n' >>r.toml
	step o a r >>r.toml
	step o b m >>r.toml
	run_matins check -c r.toml
}
for words in 'out x' './out x/y' '. out/x'; do
	together "${words% *}" "${words#* }"
	err_like "two routines of one run that save in one place: $words" \
		'routine "o" runs "r" and "m", which save files in one place, .*/out/x'
done
together out y
exit_is "a twin: with another name" 0
together other x
exit_is "a twin: in another folder" 0
routine out
plain s printf 'args = ["[]"]' \
	'save = { "$.output" = "...", "$.json" = "a b/ü.png", "$.data" = "x.y/.z" }' >>r.toml
run_r --json
json_is "a twin: other names are fine" step_results[0].state ok
is "a twin: and are used" "$(cat out/... 'out/a b/ü.png' out/x.y/.z)" '[][]{"exit_code":0}'

# ---- what only a run sees ----

made odd '{"content":[{"type":"resource_link","uri":"file:///y","name":"y"},{"type":"image","mimeType":"image/png","data":"a*b"},{"type":"new"},{"type":"text","text":"ok"}]}'
# odd SAVE ERE NAME
odd() {
	routine out
	peer_step o odd 'tool = "t"' "save = { \"\$.content[3]\" = \"ok\", \"$1\" = \"odd\" }" >>r.toml
	rm -rf out
	run_r --json
	json_is "$3" step_results[0].state failed step_results[0].reason save \
		step_results[0].error "~^save [$].*$2" \
		step_results[0].data.content[3].text ok \
		step_results[0].run.saved absent
	is "$3: nothing is written" "$(find out -type f)" ""
}
odd '$.content[4]' 'has no \[4\]; it is an array of 4' "a block that is not there"
odd '$.structuredContent.x' 'has no "structuredContent"' "a value that is not there"
odd '$.content[0]' 'is a link, which holds no bytes' "a link"
odd '$.content[1]' 'invalid Base64 at byte 2' "what is no Base64"
odd '$.content[2]' 'neither text nor bytes' "a block of another type"

routine out
says x 'expect = { "$.output" = { const = "old" } }'
mkdir -p out
echo old >out/x
run_r --json
json_is "what breaks expect is not saved" step_results[0].reason expect
is "and the file of the last run stays" "$(<out/x)" old
sed -i 's/const = "old"/const = "new"/' r.toml
chmod 600 out/x
ln out/x linked
run_r --json
is "else it is replaced" "$(<out/x)" new
is "with the mode that it had" "$(stat -c %a out/x)" 600
is "and not what is linked to it" "$(<linked)" old

# a secret
routine out
cat >>r.toml <<-END
	[[routines.r.steps]]
	name = "s"
	type = "script"
	command = "sh"
	args = ["-c", "printf '{\"a\":\"%s\",\"b\":2}' \"\$KEY\""]
	env = { KEY = { env = "THE_KEY" } }
	save = { "$.json.a" = "a" }
END
export THE_KEY=sesame-open-1234
run_r --json
json_is "a part with a secret is not saved" step_results[0].reason save \
	step_results[0].error '~value of a credential'
ok "and there is no file" test ! -e out/a
sed -i 's/"[$].json.a" = "a"/"$.json.b" = "b"/' r.toml
run_r --json
is "a part without it is" "$(<out/b)" 2

# ---- places ----

git init -q repo 2>/dev/null || mkdir -p repo/.git/hooks
mkdir -p golden own home/.ssh folder
# place NAME OUT SAVE ERE [LINES...]: refused, as a dry run says
place() {
	local name=$1 ere=$4

	routine "$2"
	says "$3" "${@:5}"
	run_r --json --dry-run
	json_is "$name" step_results[0].error "~^would not run: save: .*$ere"
}
place "the configuration" . r.toml 'belongs to matins itself'
denied "the configuration: in a run" policy 'belongs to matins itself'
file_like "the configuration: is as it was" r.toml '^\[routines'
place "one that is found unasked" . matins.toml 'belongs to matins itself'
place "golden files" golden x 'belongs to matins itself'
place "golden files, by the name" . golden/x/y 'belongs to matins itself'
place "the state" state/matins x 'belongs to matins itself'
place "the user's own configuration" config/matins config.toml 'belongs to matins itself'
place "a folder of git" repo .git/hooks/pre-commit 'can run programs'
place "a folder of git, as the folder" repo/.git/info x 'can run programs'
place "a file that shells read" '~' .bashrc 'can run programs'
place "settings of an editor" repo .vscode/tasks.json 'can run programs'
place "a folder of git, in capitals" repo .GIT/hooks/x 'can run programs'
place "a configuration that a run would find" . sub/matins.toml 'can run programs'
place "keys" '~' .ssh/x 'lies among keys'
if [[ -w /dev/shm ]]; then
	place "files of the system" /dev/shm x 'files of the system'
else
	skip "files of the system" "there is no /dev/shm"
fi
printf '#!/bin/sh\n' >own/run
chmod +x own/run
place "a program" own run 'it is a program'
printf '#!/bin/sh\n' >own/script
place "what another step runs" own script 'a step runs it' '' \
	'[[routines.r.steps]]' 'name = "b"' 'type = "script"' 'command = "sh"' \
	"args = [\"$T/own/script\"]"
mkdir own/bin
place "programs that it may run" own bin/x 'lets programs run it' \
	"sandbox.exec = [\"$T/own/bin\"]"
place "a file with a credential" own key 'a credential is read' \
	"env = { K = { file = \"$T/own/key\" } }"
place "a folder" . folder 'is a folder; remove it'
ln -s own/x link
place "a link" . link 'is a symbolic link; remove it'
ln -s folder led
place "a link as a folder of the name" . led/x 'led is a symbolic link'
place "a file as a folder of the name" . own/script/x 'script is a file'
place "a file in the way" r.toml x 'Not a directory'
denied "a file in the way: in a run" save 'Not a directory'
export MATINS_CAVEATS="{\"fs_read\":\"all\",\"fs_write\":{\"only\":[\"$T/own\"]},\"exec\":\"all\",\"net\":\"all\",\"max_calls\":\"unlimited\",\"valid_for_generation\":\"all\"}"
place "the leash" folder x 'fs_write'
denied "the leash: in a run" leash 'fs_write'
routine own
says leashed
run_r --json
is "the leash: where it allows it" "$(<own/leashed)" new
unset MATINS_CAVEATS
run_r --dry-run
out_like "a dry run: its twin would run" 'would run: printf new; would save'

# -o and --events
routine own
says x "env = { K = { file = \"$T/own/key\" } }"
echo sesame-open-1234 >own/key
cp r.toml before.toml
for words in '-o r.toml' '--events r.toml' '-o own/key' '--events own/key' '-o ./own/../r.toml'; do
	read -ra options <<<"$words"
	run_r "${options[@]}"
	err_like "$words: is not written over" 'is not written over: it is the configuration, or a credential'
done
ok "and all is as it was" cmp r.toml before.toml
is "the credential, too" "$(<own/key)" sesame-open-1234
cp r.toml copy.toml
run_r -o copy.toml
exit_is "a twin: a copy of the file is replaced" 0
for words in '-o state/matins/ledger.jsonl' '--events state/matins/ledger.jsonl' \
	'-o state/matins/new' '-o led/reports/x.json'; do
	ln -sfn state/matins led
	read -ra options <<<"$words"
	run_r "${options[@]}"
	err_like "$words: is not written" "is not written: it lies in matins' own folder .*state/matins, where"
done
file_has "the ledger is as it was" state/matins/ledger.jsonl '"event":"started"'
run_matins exec --report state/matins/ledger.jsonl -- true
err_like "nor by exec" "is not written: it lies in matins' own folder"
run_r --record state/matins
err_like "nor is a recording made there" "is not written: it lies in matins' own folder"
ok "nor a file of one" test ! -e state/matins/programs.jsonl
run_r -o state/beside.json
exit_is "a twin: beside that folder" 0

# ---- killed while it saves ----

mkdir -p kk
routine kk
says x
n_drafts() {
	find kk -name '.matins.*' | wc -l
}
if "$HELPERS/fail" tried lseek EIO 1000 -- "$(type -P true)" 2>/dev/null; then
	for was in '' old; do
		most=0
		for ((n = 1; n <= 60; n++)); do
			rm -rf tried kk/x
			[[ -z $was ]] || echo "$was" >kk/x
			"$HELPERS/fail" tried changes KILL "$n" -- "$BIN" run \
				-q -c r.toml r >said 2>&1
			[[ -e tried ]] || break
			((most >= $(n_drafts))) || most=$(n_drafts)
			[[ ! -e kk/x || $(<kk/x) == @("$was"|new) ]] || break
		done
		is "killed at each call: ${was:-a new file} is whole or not there" \
			"$(<kk/x) $([[ -e tried ]] && echo "call $n")" "new "
		# calls made between two tries differ in number (groups that are
		# busy), so that the moment of an old file may be stepped over
		is "and at most one draft stays beside it, and of a new file none" \
			"$((most <= (${was:+1} + 0)))" 1
	done
	echo theirs >kk/.matins.0123456789abcdef-x
	echo other >kk/x
	run_r
	is "the next save removes what a killed one left" "$(n_drafts)" 1
	is "a twin: no other file" "$(<kk/.matins.0123456789abcdef-x)" theirs
else
	skip "killed while it saves" "no process can be traced here"
fi

# ---- programs that write in the folder ----

echo victim >victim
# planted NAME SAVE OUT ERE <BODY
planted() {
	rm -rf w
	mkdir -m 777 w
	routine "$3"
	tool "$2"
	run_r --json
	json_is "$1: said" step_results[0].reason save step_results[0].error "~$4"
	is "$1: nothing is written elsewhere" "$(<victim)" victim
	ok "$1: nor made" test ! -e elsewhere
}
planted "a link in the place" x w/out 'is a symbolic link; remove it' \
	<<<"ln -s $T/victim $T/w/out/x"
planted "a link that leads nowhere" x w/out 'a symbolic link' \
	<<<"ln -s $T/elsewhere $T/w/out/x"
planted "a FIFO in the place" x w/out 'a FIFO' <<<"mkfifo $T/w/out/x"
planted "a folder in the place" x w/out 'a folder' <<<"mkdir $T/w/out/x"
planted "a link as a folder" a/x w/out 'a is a symbolic link' <<<"ln -s $T $T/w/out/a"
planted "another folder" x w/out 'was moved or replaced' \
	<<<"mv $T/w/out $T/w/old; mkdir $T/w/out"
planted "a link instead of the folder" victim w/out 'was moved or replaced' \
	<<<"mv $T/w/out $T/w/old; ln -s $T $T/w/out"
routine w/out
says victim "sandbox.write = [\"$T/w\"]"
denied "the next run: the folder is a link of a program" save \
	'by a link in a folder that the program may write'
rm w/out
ln -s "$T/elsewhere" w/out
denied "the next run: a link that leads nowhere" save 'folder'
ok "the next run: nothing is made there" test ! -e elsewhere
rm -rf w
mkdir -m 777 w
routine w/out
tool x <<<"echo mine >$T/w/out/x; chmod 666 $T/w/out/x; echo new"
run_r --json
is "a plain file of the program is replaced" "$(cat w/out/x)" new
is "and has no more rights than a new one" "$(stat -c %a w/out/x)" 644
rm -rf w
mkdir -m 777 w
# it exchanges file and link as fast as it can
routine w/out
tool x <<-END
	ln -s $T/victim $T/w/link
	(while :; do
		ln -sfn $T/victim $T/w/out/x
		rm -f $T/w/out/x
	done) >/dev/null 2>&1 &
	echo new
END
for _ in 1 2 3 4 5; do run_r --json; done
is "a race: nothing is written through a link" "$(<victim)" victim

# ---- an ordinary user ----

mkdir -p theirs goal
chmod 777 theirs
if [[ $(id -u) -eq 0 ]]; then
	ln -s "$T/goal" theirs/led
	chown -h nobody: theirs theirs/led
	routine theirs/led
	says x
	denied "a link of another user, in a folder of that user" save \
		'by a link that another user made'
	rm theirs/led
	ln -s "$T/goal" theirs/led
	run_r --json
	is "a twin: a link of one's own there" "$(<goal/x)" new
	ln -s "$T/goal" own/led
	chown -h nobody: own/led
	run_matins run -c r.toml r -o own/led/o
	err_like "-o: likewise" 'by a link that another user made'
else
	skip "a link of another user" "needs root to make one"
fi
mkdir -p ro/in
routine ro/in/x
says x
chmod 555 ro/in
as_user run_matins run -c r.toml r --json
json_is "a folder that cannot be written: before it runs" \
	step_results[0].reason save step_results[0].error '~^save: .*ro/in.*Permission denied'
chmod 755 ro/in
as_user run_matins run -c r.toml r --json
is "a folder that can be" "$(<ro/in/x/x)" new
as_user chmod 444 ro/in/x/x
as_user run_matins run -c r.toml r --json
json_is "a file that cannot be written" step_results[0].reason save
# two files: the first takes no place where the second cannot be written
routine two
says x
sed -i 's,^save = .*,save = { "$.data" = "x"\, "$.output" = "d/y" },' r.toml
mkdir -p two/d
echo old >two/x
as_user chmod 555 two/d
as_user run_matins run -c r.toml r --json
json_is "the second of two files cannot be written" step_results[0].reason save \
	step_results[0].error '~d.*Permission denied' \
	step_results[0].run.saved absent
is "the first stays as it was, and no other is left" \
	"$(cat two/x; find two -type f)" "old
two/x"
as_user chmod 755 two/d
as_user run_matins run -c r.toml r --json
is "both are written" "$(cat two/x two/d/y)" '{"exit_code":0}new'
[[ $(id -u) -ne 0 ]] || chown -R root: "$T"

# ---- results of earlier runs ----

routine out
rm -rf out
mkdir -p -m 777 w
cat >counts <<-END
	#!/bin/sh
	echo x >>$T/w/count
	echo kept
END
chmod +x counts
touch -d '1 hour ago' counts
plain a "$T/counts" "sandbox.write = [\"$T/w\"]" 'cache = "1h"' \
	'save = { "$.output" = "a" }' >>r.toml
plain b sh 'args = ["-c", "test -e '"$T"'/fine"]' "sandbox.read = [\"$T\"]" >>r.toml
sleep 0.01
run_r --json
before=$(stat -c %i:%y out/a)
run_r --json
json_is "a cached result: the file is there and stays" \
	step_results[0].run.cached present step_results[0].run.saved[0].bytes 5
is "a cached result: not written again" "$(stat -c %i:%y out/a)" "$before"
echo other >out/a
run_r --json
is "a cached result: one that differs is written" "$(<out/a)" kept
sed -i 's/"a" }/"sub\/b" }/' r.toml
run_r --json --events e
json_is "a cached result: under its new name" \
	step_results[0].run.cached present \
	step_results[0].run.saved '#1' \
	step_results[0].run.saved[0].path "$T/out/sub/b"
is "a cached result: and is there" "$(<out/sub/b)" kept
rm -r out
run_r --json --resume "$(json_get generation)" --no-cache
json_is "a resumed run" step_results[0].run.taken_from present
is "a resumed run: the file is there again" "$(<out/sub/b)" kept
rm -r out
run_r --json --from b
is "--from: as well" "$(<out/sub/b)" kept
is "all of it from one run" "$(wc -l <w/count)" 1
rm -r out
ln -s "$T" out
mkdir sub
ln -s "$T/victim" sub/b
run_r --json --from b
json_is "an earlier result that cannot be saved fails" \
	step_results[0].reason save step_results[0].output kept
is "and nothing is written" "$(<victim)" victim

rm -rf out
routine out
peer_step chart all 'tool = "t"' 'params = {}' 'cache = "1h"' \
	'save = { "$.content[0]" = "c.png", "$.structuredContent" = "c.json" }' >>r.toml
run_r --json
cp -r out first
rm -r out
run_r --json
json_is "a cached result of a tool" step_results[0].run.cached present
ok "has the same files" diff -r out first

# all bytes of a program
routine out
rm -rf out
plain s printf "args = ['\\211PNG\\r\\n']" 'cache = "1h"' \
	'retry = { max = 2, wait = "1ms", on = ["exit:1"] }' >>r.toml
plain line printf "args = [' a\\n\\n']" 'cache = "1h"' >>r.toml
plain next true >>r.toml
run_r --json
sed -i '/^retry/a save = { "$.output" = "x.png" }
	/ a.*n/a save = { "$.output" = "line" }' r.toml
run_r --json --from next
json_is "bytes of a program of which the text is kept are not saved" \
	step_results[0].reason save step_results[0].error '~no text'
for option in --cache= --resume=last --no-cache; do
	rm -rf out
	run_r --json ${option#--cache=}
	json_is "$option: bytes that are no text are saved" \
		step_results[0].state ok step_results[0].run.cached absent
	is "$option: as they are" "$(od -An -tx1 out/x.png)" ' 89 50 4e 47 0d 0a'
	is "$option: white space at the ends too" "$(od -An -c out/line)" \
		'       a  \n  \n'
done
routine out
plain line echo 'args = ["x"]' 'cache = "1h"' \
	'save = { "$.output" = "line" }' >>r.toml
plain next true >>r.toml
run_r --json
for option in --cache= --resume=last --from=next; do
	rm -rf out
	run_r --json ${option#--cache=}
	is "$option: a line that was saved is known" "$(od -An -c out/line)" \
		'   x  \n'
done
json_is "it was taken" step_results[0].run.taken_from present

# a secret in the earlier result
routine out
cat >>r.toml <<-END
	[[routines.r.steps]]
	name = "s"
	type = "script"
	command = "sh"
	args = ["-c", "printf '{\"a\":\"%s\",\"b\":2}' \"\$KEY\""]
	env = { KEY = { env = "THE_KEY" } }
	cache = "1h"
	save = { "\$.json.b" = "b" }
END
plain next true >>r.toml
run_r --json
run_r --json
json_is "a cached result with a secret elsewhere is saved" \
	step_results[0].run.cached present step_results[0].run.saved[0].bytes 1
sed -i 's/"[$].json.b" = "b"/"$.json" = "a"/' r.toml
run_r --json
json_is "a cached result without what is saved: it runs again" \
	step_results[0].run.cached absent step_results[0].reason save
run_r --json --resume last
json_is "a resumed run: likewise" step_results[0].reason save
sed -i 's/"[$].json" = "a"/"$.json.b" = "b"/' r.toml
run_r --json
sed -i 's/"[$].json.b" = "b"/"$.json" = "a"/' r.toml
run_r --json --from next
json_is "--from: it fails" step_results[0].reason save \
	step_results[0].error '~earlier result is not as the tool gave it: the value of a credential'
ok "and there is no file with stars" test ! -e out/a

# ---- a file that cannot take its place after others did ----

FAIL=$HELPERS/fail
if "$FAIL" tried lseek EIO 1000 -- "$(type -P true)" 2>/dev/null; (($? != 99)); then
	routine place
	peer_step chart all 'tool = "t"' 'params = {}' \
		'save = { "$.content[1]" = "a", "$.content[2]" = "b", "$.content[3]" = "c" }' \
		>>r.toml
	said=0
	for ((i = 1; i < 12; i++)); do
		rm -rf place
		"$FAIL" tried linkat EIO $i -- "$BIN" run -c r.toml r --json >"$out" 2>"$err"
		told=$("$PYTHON" -c 'import json, sys, os
for f in json.load(open(sys.argv[1]))["step_results"][0]["run"].get("saved", []):
    print(os.path.basename(f["path"]))' "$out")
		is "link $i fails: the report has what is there" "$told" \
			"$(ls place 2>/dev/null)"
		grep -q ' of . are in place, up to ' "$out" && said=1
	done
	is "and the error says it" $said 1
else
	skip "a file that cannot take its place" "no process can be traced here"
fi

# ---- a disk that is full ----

routine tiny
says x
sed -i 's/"printf"/"head"/; s/args = .*/args = ["-c", "200000", "\/dev\/zero"]/' r.toml
mkdir tiny
cat >full <<-END
	mount -t tmpfs -o size=64k none $T/tiny || exit 99
	echo old >$T/tiny/x
	"\$@"
	cat $T/tiny/x
	ls -A $T/tiny
END
if unshare -m sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
	unshare -m sh full "$BIN" run -c r.toml r -o "$T/full.json" --json >left 2>"$err"
	json_file_is "a full disk: said" full.json step_results[0].reason save \
		step_results[0].error '~No space left on device'
	is "a full disk: the old file stays, and no other" "$(<left)" "old
x"
else
	skip "a full disk" "no file system can be mounted here"
	skip "a full disk: the old file stays" "likewise"
fi

done_testing
