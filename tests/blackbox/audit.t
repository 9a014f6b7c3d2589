#!/usr/bin/env bash
# The key `audit`: each call of a tool stands in a chain of lines on disk.
. "${BASH_SOURCE%/*}/lib.sh"

LOG=$T/state/matins/audit.jsonl
cat >k.toml <<END
[servers.s]
command = "$PEER"
args = ["-e", "serve"]
env = { KEY = { file = "$T/key" } }
\${audit}
[servers.slow]
command = "$PEER"
args = ["-e", "handshake\nexpect tools/call\nhang"]
audit = true
[[routines.r.steps]]
name = "a"
type = "mcp-client"
server = "s"
tool = "echo"
params = { text = "hello" }
END
cp k.toml template
echo very-secret-1 >key
chmod 600 key

# config LINE: of the server
config() {
	sed "s/^\\\${audit}/$1/" template >k.toml
}
call() {
	run_matins call "$@" -c k.toml --server s
}
lines() {
	wc -l <"$LOG" 2>/dev/null || echo none
}
# each hash anew, by another program
chain_is() {
	local line prev='' want

	while read -r line; do
		want=$(printf %s "${line%,\"hash\":*}" | sha256sum)
		[[ $line == *",\"prev\":\"$prev\",\"hash\":\"${want%% *}\"}" ]] ||
			break
		prev=${want%% *} line=
	done <"$LOG"
	is "$1" "${line-}" ""
}

config ''
call echo text=one
is "nothing is recorded unless it is asked for" "$(lines)" none
config 'audit = "off"'
call echo text=one
is "off" "$(lines)" none
run_matins audit
exit_is "audit: nothing there" 0
run_matins audit --verify --json
json_is "audit --verify: nothing there" whole true lines 0

config 'audit = true'
call echo text=one
is "two lines" "$(lines)" 2
is "only for the user" "$(stat -c %a "$LOG")" 600
is "the first has all fields, and names only" "$(sed -n '1s/"[0-9a-f]\{16,\}"/H/g;1s/"time":"[^"]*"/T/p' "$LOG")" \
	"{\"event\":\"call\",\"id\":H,T,\"user\":\"$(id -un)\",\"origin\":\"command line\",\"server\":\"s\",\"tool\":\"echo\",\"args\":[\"text\"],\"args_sha256\":H,\"prev\":\"\",\"hash\":H}"
is "the second has its end" "$(sed -n '2s/.*"state":"\(ok\)","ms":[0-9]*,"prev".*/\1/p' "$LOG")" ok
sum=$(printf '{"text":"one"}' | sha256sum)
is "the arguments, as they are sent" "$(grep -c "\"args_sha256\":\"${sum%% *}\"" "$LOG")" 2
call fail text=x
like "a tool's error" "$(tail -n 1 "$LOG")" '"state":"tool_error"'
run_matins run -c k.toml r
like "a step says which" "$(tail -n 1 "$LOG")" '"origin":"routine r/a".*"state":"ok"'
printf '{"tool":"echo","arguments":{"text":"%s"}}\n' a b c >'batch'
run_matins call --batch batch -j 3 -c k.toml --server s
is "each line of a batch" "$(lines)" 12
chain_is "the chain holds"
is "no value" "$(grep -c 'hello' "$LOG")" 0
run_matins call echo text=by-option --audit full -- "$PEER" -e serve
like "--audit" "$(tail -n 1 "$LOG")" '"args":\{"text":"by-option"\}'

config 'audit = "full"'
call echo text='the very-secret-1 key'
like "full: values without secrets" "$(tail -n 1 "$LOG")" '"args":\{"text":"the \*\*\* key"\}'
run_matins run -c k.toml r --record tape -q
n=$(lines)
run_matins run -c k.toml r --replay tape -q
exit_is "a replay" 0
is "a replay calls nothing" "$(lines)" "$n"
run_matins audit
is "audit: a line each" "$(wc -l <"$out")" "$n"
run_matins audit --since 1d --json
json_is "audit --since --json" calls[0].event call calls[0].server s
run_matins audit --since 2040-01-01
out_is "audit --since: none" ""

# ---- calls that are denied, or late ----

config 'audit = "full"\ndeny_tools = ["echo"]'
states() {
	sed -n "$n,\$ s/.*\"event\":\"\([a-z]*\)\".*\"args\":\([^ ]*\),\"args_sha256\"[^,]*\(,\"state\":\"\([a-z]*\)\"\)*.*/\1 \2 \4/p" "$LOG"
}
DENIED=$'call ["text"] \ndone ["text"] denied'
n=$(($(lines) + 1))
call echo text=no
is "a denied call has its lines, and names only" "$(states)" "$DENIED"
n=$(($(lines) + 1))
run_matins call --batch batch -c k.toml --server s
is "denied in a batch: each line" "$(states | sort | uniq -c | tr -s ' ')" $' 3 call ["text"] \n 3 done ["text"] denied'
n=$(($(lines) + 1))
run_matins run -c k.toml r
is "a denied step" "$(states)" "$DENIED"
like "a denied step says which" "$(tail -n 1 "$LOG")" '"origin":"routine r/a"'
run_matins run -c k.toml r --dry-run
is "a dry run denies nothing" "$(lines)" $((n + 1))
config 'audit = true\nread_only = true'
n=$(($(lines) + 1))
run_matins run -c k.toml r
is "a step denied by what its server says" "$(states)" "$DENIED"
config 'audit = "full"\nenabled = false'
n=$(($(lines) + 1))
call echo text=no
exit_is "a call of a server that is switched off: status 1" 1
is "it has its lines" "$(states)" "$DENIED"
n=$(($(lines) + 1))
run_matins tools -c k.toml --server s
run_matins describe echo -c k.toml --server s
run_matins call --batch batch -c k.toml --server s
is "what calls no tool, or none that is known, has none" "$(states)" ""
config 'audit = true'
MATINS_MCP=off call echo text=no
exit_is "MATINS_MCP=off: status 1" 1
is "MATINS_MCP=off: it has its lines" "$(states)" "$DENIED"
config 'enabled = false'
n=$(($(lines) + 1))
call echo text=no
is "without audit there are none" "$(states)" ""
cat >late.toml <<END
[servers.late]
command = "$PEER"
args = ["-e", "handshake\nexpect tools/call\nhang"]
audit = true
[[routines.late.steps]]
name = "a"
type = "mcp-client"
server = "late"
tool = "wait"
timeout = 10
END
run_matins run -c late.toml late
like "a step whose time is over" "$(tail -n 1 "$LOG")" '"event":"done".*"state":"timeout"'
run_matins audit --verify
exit_is "denied and late calls: the chain holds" 0
config 'audit = "full"'
n=$(lines)

# ---- several at once, and killed ----

for i in {1..8}; do
	for _ in 1 2 3; do
		"$BIN" call echo text=$i -c k.toml --server s -q >/dev/null
	done &
done
wait
is "processes side by side" "$(lines)" $((n + 48))
chain_is "have one chain"
run_matins audit --verify
exit_is "audit --verify" 0

"$BIN" call wait --no-list -c k.toml --server slow >/dev/null 2>&1 &
pid=$!
wait_for 20 grep -q '"server":"slow"' "$LOG"
kill -KILL $pid
wait $pid 2>/dev/null
run_matins audit --verify --json
json_is "a killed call has no end" whole true without_end 1

for i in {1..40}; do
	"$HELPERS/cutoff" 0 write "$i" 0 -- "$BIN" call echo text=$i -c k.toml --server s -q \
		>/dev/null 2>&1
	killed=$?
	run_matins audit --verify
	((status == 0 && killed == 0)) || break
done
if ((killed == 99)); then
	skip "killed at each write" "no process can be traced here"
else
	is "killed at each write: it was tried to the last" "$killed" 3
fi
exit_is "killed at each write: the chain holds" 0

cp "$LOG" whole
truncate -s -30 "$LOG"
run_matins audit --verify
exit_is "a torn last line is no forgery" 0
out_like "a torn last line is named" "jsonl:$(($(wc -l <whole))): the line is torn"
call echo text=on
run_matins audit --verify
exit_is "the chain goes on behind it" 0
out_like "it is still named" ' 1 torn, 0 wrong'
head -c 9000 /dev/zero | tr '\0' '{' >>"$LOG"
call echo text=on
run_matins audit --verify
exit_is "behind a long one, too" 0
out_like "behind a long one: both are named" ' 2 torn, 0 wrong'

# ---- forged ----

forged() {
	sed -i "$2" "$LOG"
	run_matins audit --verify
	exit_is "$1" 1
	out_like "$1: the line" "jsonl:$3: the line"
	cp whole "$LOG"
}
cp whole "$LOG"
forged "another byte" '3s/echo/ecHo/;3s/fail/fAil/' 3
forged "a line that is gone" 3d 3
forged "a line twice" 3p 4
forged "a line without a hash" '3s/.*/{"event":"call"}/' 3
forged "lines in another order" '3{h;d};4G' 3
sed -i '3s/^/no line of this\n/' "$LOG"
run_matins audit --verify
exit_is "a line that is no JSON could be torn" 0
out_like "but it is said that it may be added" 'jsonl:3: the line is torn: .* added it$'
cp whole "$LOG"

# ---- no line, no call ----

rm "$LOG"
mkdir "$LOG"
call echo text=unseen
exit_is "no place: no call" 1
out_is "no place: it was not made" ""
err_like "no place: why" 'the call was not made, as `audit` cannot record it'
run_matins run -c k.toml r --json
json_is "no place: a step" step_results[0].state denied step_results[0].reason protection
rmdir "$LOG"
ln -s "$T/elsewhere" "$LOG"
call echo text=unseen
exit_is "a link is no place" 1
is "a link is not followed" "$(ls "$T/elsewhere" 2>/dev/null)" ""
rm "$LOG"

as_user run_matins call echo text=user -c k.toml --server s
like "an ordinary user" "$(head -n 1 "$LOG")" "\"user\":\"$(as_user id -un)\""
as_user run_matins audit --verify
exit_is "an ordinary user: verified" 0
done_testing
