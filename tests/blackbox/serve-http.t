#!/usr/bin/env bash
# `matins serve --http`: many clients over Streamable HTTP.
. "${BASH_SOURCE%/*}/lib.sh"

ldconfig -p 2>/dev/null | grep -q 'libmicrohttpd\.so\.12' ||
	skip_all "libmicrohttpd is not installed: make deps"

cat >frail.py <<'END'
import json
import sys
import threading


def put(**m):
    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)


def elicit(call):
    global n
    n += 1
    asking[f"q{n}"] = call
    put(id=f"q{n}", method="elicitation/create", params={
        "message": "what?", "requestedSchema": {
            "type": "object", "properties": {"a": {"type": "string"}}}})


held = None
rooted = None  # call that asked for roots
asking = {}  # id of a question: that of its call
n = 0
for line in sys.stdin:
    m = json.loads(line)
    if "method" not in m and m["id"] == "roots":
        threading.Timer(0.4, elicit, [rooted]).start()
    if "method" not in m and m["id"] in asking:
        call = asking.pop(m["id"])
        if call not in asking.values():
            put(id=call, result={"isError": "error" in m, "content": [{
                "type": "text", "text": json.dumps(m.get("result"))}]})
    if "id" not in m or "method" not in m:
        continue
    params = m.get("params", {})
    name = params.get("name")
    if m["method"] == "initialize":
        put(id=m["id"], result={
            "protocolVersion": "2025-11-25", "capabilities": {
                "tools": {"listChanged": True}},
            "serverInfo": {"name": "frail", "version": "1"}})
    elif m["method"] == "tools/list":
        put(id=m["id"], result={"tools": [
            {"name": t, "inputSchema": {"type": "object"}}
            for t in ("live", "say", "ask", "both", "then", "change",
                      "hold")] + [{
                "name": "where", "inputSchema": {
                    "type": "object", "properties": {"place": {
                        "type": "string", "x-mcp-header": "Place"}}}}]})
    elif m["method"] != "tools/call":
        put(id=m["id"], error={"code": -32601, "message": "no"})
    elif name in ("ask", "both"):
        for _ in range(1 if name == "ask" else 2):
            elicit(m["id"])
    elif name == "then":
        rooted = m["id"]
        put(id="roots", method="roots/list")
        elicit(m["id"])
    elif name == "hold":
        held = m["id"]
        with open("held", "w", encoding="ascii"):
            pass
    else:
        if held:
            put(id=held, result={"content": []})
            held = None
        if name == "change":
            put(method="notifications/tools/list_changed")
        put(id=m["id"], result={"content": [{
            "type": "text", "text": json.dumps(params.get("arguments"))
            if name == "say" else "alive"}]})
END
cat >matins.toml <<-END
	[servers.frail]
	command = "$PYTHON"
	args = ["frail.py"]
	cwd = "."
	audit = true
	sandbox = { write = ["."] }
	[routines.two]
	[[routines.two.steps]]
	name = "a"
	type = "script"
	command = "true"
	[[routines.two.steps]]
	name = "b"
	type = "script"
	command = "true"
	[routines.slow]
	[[routines.slow.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", ": >$T/begun; sleep 986; :"]
	timeout = 990
	sandbox = { write = ["."], exec = ["sleep"] }
END

# ---- the token ----

run_matins serve --http nonsense
exit_is "an address that is none" 64
run_matins serve --token-file x
exit_is "a token without HTTP" 64
echo 0123456789abcdef0123 >shown
chmod 644 shown
run_matins serve --http 127.0.0.1:0 --token-file shown
exit_is "a token that others can read is not used" 1
err_like "a token that others can read: how to mend it" 'chmod 600'
echo short >short
chmod 600 short
run_matins serve --http 127.0.0.1:0 --token-file short
exit_is "a token that can be guessed is not used" 1

serve_keys() {
	sed '/^\[serve\]/,$d' matins.toml >"$1"
	printf '[serve]\n%s\n' "$2" >>"$1"
}
serve_keys k.toml 'token = { file = "shown" }'
run_matins serve -c k.toml --http 127.0.0.1:0
exit_is "a token of [serve] that others can read is not used" 1
err_like "a token of [serve] that others can read: how to mend it" 'chmod 600'
run_matins doctor -c k.toml
out_like "doctor warns of it" 'shown.*(others|chmod)'
serve_keys k.toml 'token = { file = "nosuch" }'
run_matins serve -c k.toml --http 127.0.0.1:0
exit_is "a token of [serve] that is not there is not made" 1
run_matins doctor -c k.toml
exit_is "doctor names a token that is not there" 1
serve_keys k.toml 'token = { cmd = "echo 0123456789abcdef0123" }'
run_matins serve -c k.toml --http 127.0.0.1:0
exit_is "a token of [serve] is of no command" 1
err_like "a token of [serve] is of no command: it says so" 'file or a variable'
run_matins check k.toml
err_like "check warns of it" 'warning: .*file or a variable'
run_matins doctor -c k.toml
exit_is "doctor: a token of [serve] is of no command" 1
serve_keys k.toml 'tokn = "x"'
run_matins check k.toml
exit_is "a key that [serve] has not" 1
err_like "a key that [serve] has not: the nearest is offered" 'token'

# ---- clients ----

"$BIN" serve --http 127.0.0.1:0 >served 2>log &
server=$!
wait_for 60 grep -q 'http://' log
url=$(grep -aoE 'http://[0-9.:]+/mcp' log)
token=$(sed -n 's/.*token in //p' log)
is "the token that was made is only ours" "$(stat -c %a "$token")" 600
ok "it is in the state folder" test "${token#"$XDG_STATE_HOME"}" != "$token"

not_running() {
	[[ -z $(_with_mark "$1") ]]
}

scene() {
	timeout -k 5 "${LIMIT_S:-200}" "$PYTHON" \
		"$TOP/tests/blackbox/serve_http.py" "$1" "$url" "$token" 2>&1 ||
		echo "status $?"
}
scene unread >unread & # its clients wait until they are ended
unread=$!
is "token, Host, Origin, path and method are judged first" "$(scene door)" ""
is "both eras are served" "$(scene eras)" ""
is "progress comes as events before the answer" "$(scene progress)" ""
is "a question is put on the stream and answered by a POST" \
	"$(scene questions)" ""
is "changes come on the streams of both eras" "$(scene stream)" ""
is "a stream that is closed cancels its call" "$(scene gone)" ""
nothing_left "a stream that is closed: nothing is left" "$T/begun; sleep 986"
is "clients are killed in the middle of a call" "$(scene killed)" ""
ok "clients that were killed: their calls end" \
	wait_for "${LIMIT_S:-90}" not_running "$T/begun; sleep 986"
is "one client with many calls leaves others their turn" "$(scene greedy)" ""
is "one with many names leaves those with a session their turn" \
	"$(scene greedy_newer)" ""
ok "a greedy client that left: its calls end" \
	wait_for "${LIMIT_S:-90}" not_running "$T/begun; sleep 986"
rm -f begun
is "a request that gets no answer ends" "$(scene ends)" ""
is "a session that is ended ends its calls" "$(scene ended)" ""
nothing_left "a session that is ended: nothing is left" "$T/begun; sleep 986"
is "clients that are slow hold nobody up" "$(scene slow)" ""
is "what a head says must be what the message says" "$(scene heads)" ""
is "a question is put to no other client" "$(scene crossed)" ""
is "a call that has one answer may ask: its questions go to nobody else" \
	"$(scene quick)" ""
is "questions that are not answered keep no other client from being asked" \
	"$(scene left)" ""
is "a question that is not declared fails the call, in each era's way" \
	"$(scene lacks)" ""
wait "$unread"
is "clients that do not read are ended, and hold nobody up" "$(<unread)" ""
is "clients that go within a message hold nobody up" "$(scene cut)" ""
is "connections without a token go for others" "$(scene crowd)" ""
is "one client with too many calls closes no connection of another" \
	"$(scene hog_older)" ""
is "in the newer era, by its name: likewise" "$(scene hog_newer)" ""
is "a hundred clients at once have their own answers" "$(scene many)" ""
is "sessions are bounded" "$(scene sessions)" ""
is "sessions that only have a stream go, too" "$(scene streams)" ""

kill "$server"
wait "$server"
is "SIGTERM is an orderly end" $? 143
is "nothing is on stdout" "$(<served)" ""
nothing_left "no server is left" "$T/frail.py"
run_matins audit --json
out_like "a call of the older era is audited, with the client" \
	'"origin": *"serve web".*"tool": *"live".*"state": *"ok"'
out_like "a call of the newer era is audited, with the client" \
	'"origin": *"serve alone".*"tool": *"live".*"state": *"ok"'
out_like "a call whose head differs from its arguments is audited" \
	'"tool": *"where".*"state": *"denied"'
run_matins audit --verify
exit_is "the chain of a hundred clients holds" 0

rm -f log # of the server before: its address is not waited for
"$BIN" serve --http 0.0.0.0:0 >served 2>log &
server=$!
wait_for 20 grep -q 'http://' log
url=$(sed -nE 's,.*http://0.0.0.0(:[0-9]+/mcp).*,http://127.0.0.1\1,p' log)
is "at every address: which Host and Origin are ours" "$(scene anywhere)" ""
file_like "beyond this machine: the token is in clear" log 'warning: .*behind a proxy'
kill "$server"
wait "$server"

printf '%s\n' "a-token-of-the-file-$T" "another-of-the-file-$T" >own
chmod 600 own
serve_keys k.toml 'token = { file = "own" }'
rm -f log # of the server before: its address is not waited for
"$BIN" serve -c k.toml --http 127.0.0.1:0 >served 2>log &
server=$!
wait_for 20 grep -q 'http://' log
file_unlike "on loopback it is not" log 'behind a proxy'
url=$(grep -aoE 'http://[0-9.:]+/mcp' log)
was=$token token=$T/own
is "a token of [serve] is that of clients" "$(scene eras)" ""
is "a client with many names and sessions leaves another token its turn" \
	"$(scene greedy_all)" ""
ok "such a client that left: its calls end" \
	wait_for "${LIMIT_S:-90}" not_running "$T/begun; sleep 986"
is "one with many names closes no connection of another token" \
	"$(scene hog_names)" ""
is "one that holds all memory that it may have leaves another its part" \
	"$(scene held_each)" ""
token=$was
like "a token that was made is not that of [serve]" "$(scene eras)" KeyError
kill "$server"
wait "$server"

done_testing
