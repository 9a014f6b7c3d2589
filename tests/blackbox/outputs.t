#!/usr/bin/env bash
# A file that a user named for a result is written there and nowhere else,
# whatever the program that ran in between made of its folder.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

tools=(ln rm mkfifo mv mkdir)
grants=(--write "$T/w")
for tool in "${tools[@]}"; do grants+=(--exec "$tool"); done
victim=$T/home/.bashrc

# fresh: an empty folder that the program may write, and a file that it may not
fresh() {
	rm -rf w moved
	mkdir -m 777 w
	echo mine >"$victim"
}

# routine SHELL-WORDS: a routine whose step may write w
routine() {
	cat >r.toml <<-END
		[[routines.r.steps]]
		name = "s"
		type = "script"
		command = "sh"
		args = ["-c", '''$1; echo said''']
		sandbox = { write = ["w"], exec = ["$(printf '%s", "' "${tools[@]}")sh"] }
	END
}

# serve SHELL-WORDS: a server that does them first
serve() {
	local IFS=$'\n'

	server=(sh -c "$1; exec \"\$@\"" sh "$PEER" -e
		$'handshake\nexpect resources/read\nreply {"contents":[{"uri":"a:b","text":"said"}]}')
}

# write_by COMMAND FILE SHELL-WORDS: the result goes to FILE while the program
# does the words
write_by() {
	case $1 in
	"run -o")
		routine "$3"
		run_matins run -c r.toml r -o "$2"
		;;
	"step -o")
		routine "$3"
		run_matins step -c r.toml r s -o "$2"
		;;
	"golden record --dir")
		routine "$3"
		run_matins golden record -c r.toml r --dir "${2%/*}"
		;;
	"exec --report")
		run_matins exec "${grants[@]}" --report "$2" -- sh -c "$3"
		;;
	"trace -o")
		run_matins trace "${grants[@]}" --cwd w --force -o "$2" -- \
			sh -c "$3"
		;;
	"read -o")
		serve "$3"
		run_matins read a:b -o "$2" "${grants[@]}" --exec "$PEER" -- \
			"${server[@]}"
		;;
	esac
}
all=("run -o" "step -o" "exec --report" "trace -o" "read -o")

# refused NAME WHAT: the last command said so, and the victim is as it was
refused() {
	[[ $command != run* ]] ||
		err_like "$1: where the report is" 'the report is stored: matins show [0-9]'
	err_like "$1: it is said" "$2"
	is "$1: what the link leads to is as it was" "$(<"$victim")" mine
	[[ $command == exec* ]] || isnt "$1: the run does not succeed" "$status" 0
}

for command in "${all[@]}"; do
	fresh
	write_by "$command" w/out "ln -s $victim $T/w/out"
	refused "$command, a planted link" 'w/out was replaced by a symbolic link'
	fresh
	echo old >w/out
	chmod 666 w/out
	write_by "$command" w/out "rm $T/w/out; ln -s $victim $T/w/out"
	refused "$command, a file made a link" 'w/out was replaced by a symbolic link'
	fresh
	LIMIT_S=20
	write_by "$command" w/out "mkfifo $T/w/out"
	unset LIMIT_S
	refused "$command, a planted FIFO" 'w/out was replaced by a FIFO'
	fresh
	mkdir -m 777 w/sub
	ln -s "$T/home" moved
	write_by "$command" w/sub/.bashrc \
		"mv $T/w/sub $T/w/old; ln -s $T/home $T/w/sub"
	refused "$command, its folder made a link" 'w/sub was moved or replaced'
	ok "$command: nor is it written where the folder went" \
		test ! -e w/old/.bashrc

	# links of a run before
	fresh
	ln -s "$victim" w/out
	write_by "$command" w/out :
	err_like "$command, a link left in a folder that the program may write" \
		'w/out leads to .* by a link in a folder that the program may write'
	is "$command: it is not followed" "$(<"$victim")" mine
	[[ $command == exec* ]] || is "$command: with status 1" "$status" 1

	# the honest uses
	fresh
	write_by "$command" w/out :
	ok "$command: a new file in the same folder" test -s w/out
	is "$command: with the mode of any new file" "$(stat -c %a w/out)" 644
	echo what-was-there >mine.txt
	chmod 640 mine.txt
	write_by "$command" mine.txt :
	file_lacks "$command: a file that is there is replaced" mine.txt what-was-there
	is "$command: and keeps its mode" "$(stat -c %a mine.txt)" 640
	chmod 6755 mine.txt
	write_by "$command" mine.txt :
	is "$command: what is written is no setuid program" \
		"$(stat -c %a mine.txt)" 755
	mkdir -p elsewhere
	echo what-was-there >elsewhere/file
	ln -sf elsewhere/file link
	write_by "$command" link :
	ok "$command: a link of the user's own stays one" test -L link
	file_lacks "$command: and is written through" elsewhere/file what-was-there
	rm -f elsewhere/file
	write_by "$command" link :
	ok "$command: also where it leads to no file yet" test -s elsewhere/file
	write_by "$command" /dev/stdout :
	out_like "$command: -o /dev/stdout prints the output" 'said|"program"|sandbox'
	mkfifo fifo
	exec 8<>fifo
	write_by "$command" fifo :
	dd bs=64K count=1 iflag=nonblock <&8 >got 2>/dev/null
	exec 8<&-
	ok "$command: a FIFO of the user's own that is read" test -s got
	rm fifo got
	write_by "$command" none/out :
	isnt "$command: a folder that is not there is no success" "$status" 0
	out_unlike "$command: and nothing starts" 'said'
done

# ---- files whose names come later ----

png='reply {"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}'
save() {
	server=(sh -c "$1; exec \"\$@\"" sh "$PEER" -e
		$'handshake\nexpect tools/call\n'"$png")
	run_matins call t --no-list --save w/s "${grants[@]}" --exec "$PEER" -- \
		"${server[@]}"
}
fresh
save :
exit_is "call --save: a new folder" 0
is "call --save: holds the file" "$(find w/s -type f | wc -l)" 1
fresh
mkdir -m 777 w/s
save "mv $T/w/s $T/w/old; ln -s $T/home $T/w/s"
isnt "call --save, its folder made a link: no success" "$status" 0
err_like "call --save, its folder made a link: it is said" \
	'w/s was moved or replaced'
is "call --save: nothing is saved elsewhere" \
	"$(find home w/old -type f -newer r.toml ! -name .bashrc | wc -l)" 0
fresh
ln -s "$T/home" w/s
save :
isnt "call --save, by a link left there: no success" "$status" 0
err_like "call --save, by a link left there: it is said" \
	'w/s leads to .* by a link'

# pages of earlier runs, whose program left a link
fresh
routine :
run_matins run -c r.toml r
ln -s "$victim" w/page
for page in "show last" "stats r"; do
	# shellcheck disable=SC2086
	run_matins $page --html -o w/page
	exit_is "$page, a link left by a program: is not followed" 1
	err_like "$page: and it is said" 'w/page leads to .* by a link in a folder that the program may write'
	is "$page: the file has what it had" "$(<"$victim")" mine
	# shellcheck disable=SC2086
	run_matins $page --html -o w/own
	exit_is "$page: a file in the same folder" 0
done

fresh
write_by "golden record --dir" w/g/r.json :
exit_is "golden record: a new folder" 0
fresh
mkdir -m 777 w/g
write_by "golden record --dir" w/g/r.json \
	"mv $T/w/g $T/w/old; ln -s $T/home $T/w/g"
isnt "golden record, its folder made a link: no success" "$status" 0
err_like "golden record, its folder made a link: it is said" \
	'w/g was moved or replaced'
ok "golden record: nothing is written elsewhere" test ! -e home/r.json

# ---- streams ----

routine :
run_matins run -c r.toml r -o >(cat >got)
wait_for 5 grep -q '1 ran' got
file_has "run -o writes into a pipe of the shell" got said
"$BIN" run -c r.toml r -o /dev/fd/7 7>>got 2>/dev/null
is "run -o /dev/fd/7 goes on where that stands" "$(grep -c said got)" 2
mkfifo fifo
LIMIT_S=20
run_matins run -c r.toml r -o fifo
isnt "a FIFO that no program reads is no success" "$status" 0
err_like "the message names the FIFO without waiting" 'fifo is a FIFO that no program reads'
unset LIMIT_S
sleep 600 <>fifo &
reader=$!
dd if=/dev/zero bs=4096 count=16 of=fifo 2>/dev/null # the pipe is full
# writes PID: it waits in a write, and its program has ended
writes() {
	[[ -e w/ended ]] && ! pgrep -P "$1" >/dev/null &&
		grep -Eq 'pipe_w|poll_sched' "/proc/$1/wchan"
}
fresh
"$BIN" exec --report fifo --write w -- bash -c ': >w/ended' 2>/dev/null &
writer=$!
wait_for 15 writes "$writer"
kill -TERM "$writer"
wait "$writer"
is "SIGTERM ends a write to a FIFO that is full" $? 143
routine :
rm -rf "$XDG_STATE_HOME/matins/reports"
"$BIN" run -c r.toml r -o fifo 2>/dev/null &
writer=$!
# reports PID: its report is stored, and it waits in a write: nothing else of a
# run waits so late
reports() {
	[[ -n $(find "$XDG_STATE_HOME/matins/reports" -name '*.json') ]] &&
		grep -Eq 'pipe_w|poll_sched' "/proc/$1/wchan"
}
wait_for 15 reports "$writer"
kill -TERM "$writer"
wait "$writer"
is "SIGTERM ends a report that nobody reads" $? 143
"$BIN" exec --report fifo -- bash -c 'echo >&2 up; sleep 30' 2>up &
writer=$!
wait_for 15 grep -q up up
kill -TERM "$writer"
wait "$writer"
is "SIGTERM while the program runs does not wait for a reader either" $? 143
kill "$reader"

# ---- trace ----

echo 'read = ["by-hand"]' >table.toml
cp table.toml before
run_matins trace -o table.toml -- touch started
exit_is "trace -o over a file that is there" 1
err_like "is refused, with the option that allows it" 'table.toml .*--force'
file_is "a table that is there stays as it is" table.toml before
ok "trace that refuses its output starts nothing" test ! -e started
run_matins trace --force -o table.toml -- bash -c 'read -r x <before'
exit_is "trace --force -o writes over a table" 0
file_like "the new table replaces the old one" table.toml before
err_like "the message says what the new table grants" 'wrote table.toml, which grants: [0-9]* read'

# ---- init ----

ln -s "$T/elsewhere/new" matins.toml
run_matins init
exit_is "init leaves a link alone" 1
ok "init makes no file behind a link" test ! -e elsewhere/new
rm matins.toml
run_matins init
exit_is "init writes a new file" 0
run_matins init
err_like "init leaves a link alone a second time" 'matins.toml exists already'
done_testing
