#!/usr/bin/env bash
# Remote servers that hang, trickle, flood, cut and forget: each step ends in
# its time with the right reason, no call is sent twice, and Ctrl-C is heard.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

start_peer plain mute reset
base=http://127.0.0.1:${port[0]}

# What comes instead of an answer, and the reason of the step when it comes to
# the first request, to the list and to the call. A list that is not to be had
# is done without.
troubles=(
	"hang		deadline_initialize	deadline_call	deadline_call"
	"half		deadline_initialize	deadline_call	deadline_call"
	"slow		deadline_initialize	deadline_call	deadline_call"
	"length		deadline_initialize	deadline_call	deadline_call"
	"slowhead	deadline_initialize	deadline_call	deadline_call"
	"early		deadline_initialize	deadline_call	deadline_call"
	"comments	deadline_initialize	deadline_call	deadline_call"
	"events		deadline_initialize	deadline_call	deadline_call"
	"body		output_limit		ok		output_limit"
	"event		output_limit		ok		output_limit"
	"bomb		output_limit		ok		output_limit"
	"heads		transport		ok		transport"
	"header		transport		ok		transport"
	"cut		transport		ok		transport"
	"resets		transport		ok		transport"
	"resethead	transport		ok		transport"
	"resetbody	transport		ok		transport"
	"cutbody	transport		ok		transport"
	"cutstream	transport		ok		transport"
	"noise		transport		ok		transport"
	"html		transport		ok		transport"
	"html502	transport		ok		transport"
	"empty		handshake		ok		not_call_tool_result"
)

# The same for the stream of HTTP+SSE and the handshake of WebSocket, which
# are answers to a GET.
streams=(
	"hang		deadline_initialize	deadline_initialize"
	"half		deadline_initialize	transport"
	"slowhead	deadline_initialize	deadline_initialize"
	"early		deadline_initialize	deadline_initialize"
	"comments	deadline_initialize	transport"
	"event		deadline_initialize	transport"
	"heads		transport		transport"
	"header		transport		transport"
	"bomb		transport		transport"
	"cut		transport		transport"
	"resets		transport		transport"
	"resethead	transport		transport"
	"noise		transport		transport"
	"html		transport		transport"
)

# server NAME URL REASON [TRANSPORT]: with a step of that name, which has much
# time but where that is to run out
server() {
	local timeout=60

	[[ $3 != deadline* ]] || timeout=2
	printf '[servers.%s]\nurl = "%s"\ntransport = "%s"\n' "$1" "$2" \
		"${4-auto}"
	printf '[[routines.r.steps]]\n'
	printf '%s\n' "name = \"$1\"" 'type = "mcp-client"' \
		"server = \"$1\"" 'tool = "echo"' 'params = { n = "5" }' \
		'parallel = true' "timeout = $timeout" 'stdout_max = "1MiB"'
}

{
	for line in "${troubles[@]}"; do
		read -r what first list call <<<"$line"
		for phase in first list call; do
			server "$phase-$what" "$base/$phase-$what/mcp" \
				"${!phase}"
		done
	done
	server mute "http://127.0.0.1:${port[1]}/ok/mcp" deadline
	server mute-tls "https://127.0.0.1:${port[1]}/ok/mcp" deadline
	server reset "http://127.0.0.1:${port[2]}/ok/mcp" transport
	server reset-tls "https://127.0.0.1:${port[2]}/ok/mcp" transport
	server fine "$base/ok/mcp" ok
	for line in "${streams[@]}"; do
		read -r what sse websocket <<<"$line"
		for way in sse websocket; do
			server "$way-$what" "$base/get-$what/mcp" "${!way}" \
				$way
		done
	done
	server last "$base/ok/mcp-last" ok
} >c.toml
run_matins run -c c.toml r --json
exit_is "all troubles side by side: 2" 2
cp "$out" report.json

# reason_is STEP REASON
reason_is() {
	if [[ $2 == ok ]]; then
		json_file_is "$1: the step ends as $2" report.json \
			"step_results[step_name=$1].output" "called 5"
	else
		json_file_is "$1: the step ends as $2" report.json \
			"step_results[step_name=$1].reason" "$2" \
			"step_results[step_name=$1].data" absent
	fi
}

for line in "${troubles[@]}"; do
	read -r what first list call <<<"$line"
	reason_is "first-$what" "$first"
	reason_is "list-$what" "$list"
	reason_is "call-$what" "$call"
	is "$what: the call was sent once" \
		"$(seen tools/call "/call-$what/mcp")" 1
	is "$what: none after a beginning that failed" \
		"$(seen tools/call "/first-$what/mcp")" 0
done
for line in "${streams[@]}"; do
	read -r what sse websocket <<<"$line"
	reason_is "sse-$what" "$sse"
	reason_is "websocket-$what" "$websocket"
done
reason_is mute deadline_initialize
reason_is mute-tls deadline_initialize
reason_is reset transport
reason_is reset-tls transport
reason_is fine ok
reason_is last ok
for what in cut resets resetbody cutbody cutstream html502; do
	json_file_is "call-$what: nobody knows what was done" report.json \
		"step_results[step_name=call-$what].error" '~outcome is unknown'
done

# ---- refused for now: once more, where nothing was done ----

# goes WORDS COMMAND...: it succeeds, with one request turned away; a refusal
# of a call is sent a second time, and no other call is
goes() {
	local words=$1

	shift
	run_matins "$@" --url "$base/$words/mcp"
	exit_is "$words, $1: the command succeeds after all" 0
}

echo '{"tool":"echo","arguments":{"n":"1"}}' >one.batch
for words in call-busy429after0 call-busy429 call-busy503after0 \
	old_call-busy429after0; do
	goes "$words" call echo n=1
	is "$words: the call was sent twice" \
		"$(seen tools/call "/$words/mcp")" 2
done
for words in first-busy503 first-busy429 list-busy503 old_first-busy503; do
	goes "$words" call echo n=1
	is "$words: the call was sent once" \
		"$(seen tools/call "/$words/mcp")" 1
done
goes first-busy503_call-busy429after0_b call --batch one.batch
goes first-busy503_list-busy429after0_t tools
goes other-busy503after0 read a:b --json
for words in call-busy503 call-busy502 call-busy500after0; do
	run_matins call echo n=1 --url "$base/$words/mcp"
	exit_is "$words: the command does not succeed" 1
	err_like "$words: it may have been done" 'outcome is unknown'
	is "$words: it was sent once" "$(seen tools/call "/$words/mcp")" 1
done
run_matins call echo n=1 --url "$base/call-busy429after9/mcp" --timeout 5
exit_is "more than there is time for: 1" 1
err_like "more than there is time for: it is said" \
	'status 429.*come again in 9 s'
err_unlike "more than there is time for: nothing was done" 'outcome'
{
	printf '[servers.b]\nurl = "%s"\n' "$base/call-busy429after0_step/mcp"
	printf '%s\n' '[[routines.r.steps]]' 'name = "s"' \
		'type = "mcp-client"' 'server = "b"' 'tool = "echo"'
} >busy.toml
run_matins run -c busy.toml r --json
json_is "a step: once more" step_results[0].state ok \
	step_results[0].run.http.status.429 1

# ---- the time of a call is not restarted by anything but progress ----

for what in comments events slow early slowhead; do
	run_matins call echo --url "$base/call-$what/mcp-once" --timeout 0.5 \
		--no-list --json
	exit_is "--timeout with $what: 1" 1
	json_is "TMO-2: --timeout with $what: its reason" error.kind deadline_call
done
run_matins call echo --url "https://127.0.0.1:${port[1]}/ok/mcp" --timeout 0.5
exit_is "--timeout with a handshake that hangs: 1" 1
err_like "the message has the time that ran out" '500 ms|0\.5 s'

# ---- a session that is lost ----

for n in 1 2 3 4 5; do
	echo "{\"tool\":\"echo\",\"arguments\":{\"n\":\"$n\"}}"
done >calls.jsonl
{
	for how in 404 400 200; do
		printf '[servers.s%s]\nurl = "%s"\n' "$how" \
			"$base/old_lost-$how/mcp-routine"
		for n in 1 2 3 4 5; do
			printf '[[routines.r%s.steps]]\n' "$how"
			printf '%s\n' "name = \"n$n\"" 'type = "mcp-client"' \
				"server = \"s$how\"" 'tool = "echo"' \
				"params = { n = \"$n\" }"
		done
	done
} >lost.toml

# sent_once PATH NAME: calls that the server did, by their argument
sent_once() {
	is "$2: each call was done once" "$("$PYTHON" - "$requests" "$1" <<'END'
import collections, json, sys
done = collections.Counter()
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["rpc"] == "tools/call" and r["path"] == sys.argv[2]:
        done[r["n"]] += -1 if r.get("refused") else 1
print(*("%s:%d" % one for one in sorted(done.items())))
END
)" "1:1 2:1 3:1 4:1 5:1"
}

for how in 404 400 200; do
	path=/old_lost-$how/mcp
	run_matins call --batch calls.jsonl --url "$base$path" --json
	exit_is "RW-103: a session lost by $how within a batch: 0" 0
	is "$how: all answers, in order" \
		"$(grep -o 'called [0-9]' "$out" | tr -d '\n')" \
		"called 1called 2called 3called 4called 5"
	sent_once "$path" "$how"
	is "$how: two sessions were begun" "$(seen initialize "$path")" 2
	run_matins run -c lost.toml "r$how" --json
	exit_is "RW-103: a session lost by $how within a routine: 0" 0
	json_is "$how: the last step" step_results[4].output "called 5"
	sent_once "$path-routine" "$how, routine"
done

# A call on a connection that was used before, which then ends: libraries
# repeat such a request by themselves.
printf '%s\n' '{"tool":"echo","arguments":{"n":"1"}}' \
	'{"tool":"echo","arguments":{"n":"2"}}' >two
run_matins call --batch two --url "$base/call-second/mcp" --json
exit_is "HM-6: a used connection that ends without an answer: 1" 1
is "the call is not repeated on another" \
	"$(seen tools/call /call-second/mcp)" 2
out_like "the message says that the outcome is unknown" 'outcome is unknown'

# ---- Ctrl-C ----

# interrupt NAME URL METHOD ARGS…: when METHOD has come to that URL, or
# anything to METHOD when that is a path
interrupt() {
	local name=$1 url=$2 method=$3 path=${2#"$base"} pid

	shift 3
	env --default-signal=INT "$BIN" "$@" --url "$url" >"$out" 2>"$err" \
		</dev/null &
	pid=$!
	[[ $method != /* ]] || path=
	[[ -z $method ]] || wait_for 10 _has_come "$method" "$path" ||
		echo "# $method has not come"
	[[ -n $method ]] || wait_for 10 _is_connected "${port[1]}" ||
		echo "# it is not connected"
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	exit_is "$name: the command ends with status 130" 130
}
_has_come() {
	[[ $(seen "$1" "$2") -gt 0 ]]
}
# to that port, by anybody
_is_connected() {
	grep -q "$(printf ' 0100007F:%04X 01 ' "$1")" /proc/net/tcp
}

interrupt "Ctrl-C within the handshake of TLS" \
	"https://127.0.0.1:${port[1]}/ok/mcp" "" call echo
interrupt "Ctrl-C before an answer" "$base/first-hang/mcp-int" \
	server/discover call echo
interrupt "Ctrl-C within a call" "$base/call-hang/mcp-int" tools/call \
	call echo
interrupt "Ctrl-C within a stream" "$base/call-comments/mcp-int" tools/call \
	call echo
interrupt "Ctrl-C within a call of a session" "$base/old_call-hang/mcp-int" \
	tools/call call echo
is "CAN-3: the server is told" \
	"$(seen notifications/cancelled /old_call-hang/mcp-int)" 1
is "HL-5: Ctrl-C ends the session at the server" "$(seen DELETE /old_call-hang/mcp-int)" 1
cat >browser <<'END'
#!/bin/sh
exit 0
END
chmod 755 browser
interrupt "Ctrl-C while a person logs in" "$base/oauth/mcp" \
	/as/oauth/register auth login --browser "$T/browser"
interrupt "Ctrl-C while a token is fetched" "$base/oauth-hangtoken/mcp" \
	/as/oauth-hangtoken/token call echo --oauth-grant client_credentials \
	--oauth-client-id me --oauth-client-secret-file browser
cat >int.toml <<END
[servers.s]
url = "$base/call-hang/mcp-run"
[[routines.r.steps]]
name = "hangs"
type = "mcp-client"
server = "s"
tool = "echo"
[[routines.r.steps]]
name = "next"
type = "mcp-client"
server = "s"
tool = "echo"
END
env --default-signal=INT "$BIN" run -c int.toml r --json >"$out" 2>"$err" \
	</dev/null &
pid=$!
wait_for 10 _has_come tools/call /call-hang/mcp-run
kill -INT $pid
status=0
wait "$pid" || status=$?
exit_is "CAN-9: Ctrl-C within a routine: 130" 130
json_is "the report has every step as cancelled" step_results '#2' run.ended_by SIGINT \
	step_results[0].reason cancelled step_results[1].reason cancelled
is "no call is sent after Ctrl-C" "$(seen tools/call /call-hang/mcp-run)" 1

done_testing
