#!/usr/bin/env bash
# Names and texts of others move nothing on a terminal and look like nothing
# of matins; in a pipe they are byte for byte.
. "${BASH_SOURCE%/*}/lib.sh"

"$PYTHON" -c 'import os; os.close(os.openpty()[0])' 2>/dev/null ||
	skip_all "no pseudo-terminals"

# A CSI of one character, DEL, an override, a mark, an isolate, another mark.
bad=$'\xc2\x9b31m\x7f\xe2\x80\xae\xe2\x80\x8f\xe2\x81\xa6\xd8\x9c'
obeyed=$'\x1b|\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c'
# a name has no DEL
name=${bad/$'\x7f'/}
json_bad='\u009b31m\u202e\u200f\u2066\u061c'

cat >c.toml <<-END
	[servers."s$json_bad"]
	command = "$PEER"
	args = ["$T/s.peer"]
	[routines."r$json_bad"]
	description = "d$json_bad"
	[[routines."r$json_bad".steps]]
	name = "n$json_bad"
	type = "mcp-client"
	command = "$PEER"
	args = ["$T/t.peer"]
	tool = "t"
	[[routines."r$json_bad".steps]]
	name = "gone"
	type = "script"
	command = "no-such$json_bad"
END
routine=r$name
printf '%s\n' handshake 'expect tools/call' \
	"reply {\"content\":[{\"type\":\"text\",\"text\":\"body $bad\"}],\"structuredContent\":{\"x\":\"$bad\"}}" |
	script t
printf '%s\n' handshake 'expect tools/list' \
	"reply {\"tools\":[{\"name\":\"t\",\"title\":\"$bad\",\"description\":\"$bad\",\"inputSchema\":{\"type\":\"object\"}}]}" |
	script s

# shown ARGS...: what a terminal gets; $out holds it
shown() {
	"$PYTHON" -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
		"$BIN" "$@" >"$out" 2>&1 </dev/null
	status=$?
}

# harmless NAME: nothing that a terminal obeys, and the names are there
# but the colours of a report
harmless() {
	if LC_ALL=C sed 's/\x1b\[\(0\|1\|1;31\|32\|33\)m//g' "$out" |
		LC_ALL=C grep -aPq "$obeyed"; then
		_fail "$1: nothing is obeyed"
		_show_run
	else
		_pass "$1: nothing is obeyed"
	fi
	out_like "$1: and what it was is shown" '\\x9b|\\u009b'
}

for form in "" --json --data --md --html "--json --pretty"; do
	# shellcheck disable=SC2086
	shown run -c c.toml "$routine" $form
	harmless "run $form prints to a terminal"
done
for file in /dev/stdout /dev/tty; do
	shown run -c c.toml "$routine" --json -o "$file"
	harmless "run -o $file prints to a terminal"
done
shown run -c c.toml "$routine" --json -q
tail -n 1 "$out" | tr -d '\r' >shown.json
run_matins run -c c.toml "$routine" --json -q
ok "JSON on a terminal says the same" "$PYTHON" -c '
import json, sys
a, b = (json.loads(open(f).read())["step_results"] for f in sys.argv[1:])
for s in a + b: s.pop("run")
sys.exit(a != b)' shown.json "$out"
ok "in a pipe it is byte for byte" grep -aqF "body $bad" "$out"
for command in list "list --json" "list --names" "list --servers" doctor \
	"doctor --json"; do
	# shellcheck disable=SC2086
	shown $command -c c.toml
	harmless "matins $command prints to a terminal"
done
echo "\"key$json_bad\" = 1" >broken.toml
shown check broken.toml
harmless check
shown check --json broken.toml
harmless "check --json prints to a terminal"
for command in "history" "history --json" "show last" "show last --json"; do
	# shellcheck disable=SC2086
	shown $command
	harmless "matins $command prints to a terminal"
done
shown tools -c c.toml --server "s$name"
harmless "tools prints to a terminal"
shown tools --json -c c.toml --server "s$name"
harmless "tools --json prints to a terminal"
for form in "" --json --data; do
	# shellcheck disable=SC2086
	shown call t --no-list $form -- "$PEER" "$T/t.peer"
	harmless "call $form prints to a terminal"
done
echo '{"tool":"t","arguments":{}}' >batch.jsonl
shown call --no-list --batch batch.jsonl -- "$PEER" "$T/t.peer"
harmless "call --batch prints to a terminal"
shown run -c c.toml "x$name" --json
harmless "an error is printed to a terminal"
cp broken.toml "$T/"$'\x1b]0;x\x07\nmatins: forged.toml'
run_matins check "$T/"$'\x1b]0;x\x07\nmatins: forged.toml'
err_unlike "check: a file's name is no line of its own" '^matins: forged'
err_unlike "check: the terminal does not obey a file's name" $'\x1b'
run_matins list --names -c c.toml
out_is "list --names in a pipe: the name itself" "$routine"

# ---- lines that look like those of matins ----

forged='matins: morning: 9 ran, 0 skipped, 0 failed'
# only_marked NAME: no line begins as the forged one does
only_marked() {
	err_unlike "$1: cannot look like a line of matins" "^$forged"
	err_like "$1: the forged line is shown" "$forged"
}
run_matins call t --no-list -- "$PEER" -e "handshake
expect tools/call
send {\"jsonrpc\":\"2.0\",\"id\":\$id,\"error\":{\"code\":-32000,\"message\":\"no\\n$forged\"}}"
only_marked "the error of a server"
err_like "the error of a server: each line is marked" "^matins: \| $forged"
run_matins call t --no-list -- "$PEER" -e "stderr $forged
exit 1"
only_marked "the end of a server's stderr"
run_matins call t --no-list -v -- "$PEER" -e "stderr $forged
handshake
expect tools/call
send {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\\n$forged\"}}
text done"
only_marked "stderr and messages of a server, -v"
err_like "stderr of a server names it" "^matins: the server: $forged"
err_like "a message of a server is one line" \
	"^matins: debug: the server, info: x.x0a$forged"
# ---- a run on a terminal: colours, lines of steps, notes between them ----

cat >live.toml <<-END
	[routines.live]
	[[routines.live.steps]]
	name = "slow"
	type = "script"
	command = "sleep"
	args = ["1"]
	parallel = true
	[[routines.live.steps]]
	name = "in"
	type = "routine"
	routine = "within"
	parallel = true
	[[routines.within.steps]]
	name = "slow"
	type = "script"
	command = "sleep"
	args = ["0.5"]
	[[routines.live.steps]]
	name = "bad"
	type = "mcp-client"
	command = "$PEER"
	tool = "t"
	parallel = true
	args = ["-e", '''
	handshake
	expect tools/call
	send {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":3,"total":10,"message":"reading \\u001b[31m"}}
	sleep 600
	stderr the last words
	exit 3
	''']
END
live() {
	env "$@" TERM=xterm "$PYTHON" "$TOP/tests/blackbox/on_terminal.py" x \
		"$BIN" run -c live.toml live >seen.txt
}
live A=b
esc=$'\033'
file_has "an error is red" seen.txt "${esc}[1;31mERROR:${esc}[0m bad: "
file_has "a step that ended has its line" seen.txt "  slow ${esc}[32mok${esc}[0m 1."
file_has "so has one of a routine within" seen.txt "  in/slow ${esc}[32mok${esc}[0m 0."
file_has "so has one that failed" seen.txt "  bad ${esc}[31mfailed${esc}[0m 0."
file_like "the progress of a tool is shown" seen.txt ' bad … [0-9.]+ s  3/10  reading \\x1b\[31m'
# a line that was drawn before is taken off first
file_like "a note destroys no line and is not taken off" seen.txt \
	'\[[0-9]A.\[Jmatins: bad: its stderr ends with: the last words'
live NO_COLOR=1
file_lacks "NO_COLOR: no colours" seen.txt "${esc}[1;31m"
env TERM=dumb "$PYTHON" "$TOP/tests/blackbox/on_terminal.py" x \
	"$BIN" show last live >seen.txt
file_lacks "TERM=dumb: nothing is obeyed" seen.txt "$esc"
run_matins show last live
file_lacks "a pipe has no colours" "$out" "$esc"

done_testing
