#!/usr/bin/env bash
# The official TypeScript SDK over HTTP, in both eras: it checks each header
# field that is sent to it.
. "${BASH_SOURCE%/*}/lib.sh"

servers=$TOP/build/npm
[[ -n $NODE ]] || skip_all "node is not installed: make check-deps"
[[ -d $servers/node_modules/@modelcontextprotocol/server ]] ||
	skip_all "the SDK is not installed: make check"

pid=
end_server() {
	[[ -z $pid ]] || kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	pid=
}
trap 'end_server; _finish' EXIT

# serve [modern]: the server; its URL is in $url
serve() {
	end_server
	: >"$T/port"
	"$NODE" "$servers/dual.mjs" http "$@" >"$T/port" 2>"$T/server.log" &
	pid=$!
	wait_for 20 test -s "$T/port" || show_file "$T/server.log" "the server"
	url=http://127.0.0.1:$(<"$T/port")/mcp
}

# ---- every request alone (2026-07-28) ----

serve modern
run_matins call echo 'text=hé "x"' --url "$url"
out_is "a call over HTTP is answered" 'hé "x"'
exit_is "a call: exit status 0" 0

run_matins call regional 'region=é w' --url "$url"
out_is "XH-1: an argument that is a header field, too" 'é w'
run_matins call regional region= --url "$url"
exit_is "XH-5: a call with an empty argument succeeds" 0
run_matins call regional --no-list region=eu --url "$url"
out_is "XH-11: without a list of ours" eu
: >"$T/server.log"
run_matins call regional region=us --url "$url"
file_has "XH-1: the argument is sent as a header field" "$T/server.log" "POST tools/call us"

run_matins call progress --url "$url"
out_is "on a stream, with progress" "all parts"
run_matins read test://note --url "$url"
out_is "a resource is read over HTTP" "a note"
run_matins call ask --elicit accept --elicit-content '{"name":"N"}' \
	--url "$url"
out_is "a question, by sending it again" "hello N, 7"

run_matins call slow --timeout 500ms --url "$url"
exit_is "CAN-2: a call that runs out of time fails" 1
_cancelled() {
	grep -q 'slow: cancelled' "$T/server.log"
}
wait_for 20 _cancelled
ok "CAN-2: closing the stream cancels the call" _cancelled

run_matins call echo text=hi --protocol 2025-11-25 --url "$url"
exit_is "a server of one era refuses the other" 1

# ---- with a handshake ----

serve
for date in 2025-03-26 2025-06-18 2025-11-25; do
	run_matins call echo text=hi --protocol "$date" --url "$url"
	out_is "$date: a call is answered" hi
	run_matins call progress --protocol "$date" --url "$url"
	out_is "$date: on a stream" "all parts"
done

done_testing
