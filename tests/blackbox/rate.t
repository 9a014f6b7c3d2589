#!/usr/bin/env bash
# The keys `rate` and `max_concurrent`: bounds that hold across processes.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

# config LINE: of the server
config() {
	cat >k.toml <<-END
		[servers.s]
		command = "$PEER"
		args = ["-e", "serve"]
		$1
		[servers.slow]
		command = "$PEER"
		args = ["-e", "handshake\nexpect tools/call\nhang"]
		max_concurrent = 2
		audit = true
		[[routines.r.steps]]
		name = "a"
		type = "mcp-client"
		server = "s"
		tool = "echo"
		params = { text = "hello" }
		timeout = "1s"
	END
}
# call ARGS...: TIME is that of a request
call() {
	$as run_matins call echo text=x -c k.toml --server s --timeout "${TIME-1s}" "$@"
}

rated() {
	config 'rate = "3/h"'
	call
	exit_is "$who: the first" 0
	call
	exit_is "$who: the second" 0
	$as run_matins run -c k.toml r --json
	json_is "$who: the third is a step" step_results[0].state ok
	call --json
	exit_is "$who: the bucket is empty" 1
	json_is "$who: the bucket is empty: why" error.kind deadline_call \
		error.message '~no turn for it by `rate` of the server, 3/h; the next one is in [0-9]{3,4} s$'
	TIME=500ms call
	err_unlike "$who: a short wait is not told" 'waits for its turn'
	TIME=2s call
	err_like "$who: a longer wait is told" \
		'^matins: echo waits for its turn, by `rate` of the server, 3/h; the next one is in [0-9]+ s$'
	$as run_matins run -c k.toml r --json
	json_is "$who: a step waits within its time" step_results[0].state timeout \
		step_results[0].reason deadline_call step_results[0].error '~waited for its turn, by `rate` of the server, 3/h; the next one is in [0-9]{3,4} s'
	cp k.toml other.toml
	$as run_matins call echo text=x -c other.toml --server s
	exit_is "$who: a server of another file has its own" 0
	for file in "$T"/state/matins/rates/*; do
		echo damaged >"$file"
	done
	config 'rate = "20/s"'
	printf '{"tool":"echo","arguments":{"text":"%s"}}\n' {1..30} >calls
	LIMIT_S=20 $as run_matins call --batch calls -j 8 -c k.toml --server s
	is "$who: a batch comes to its end" "$(grep -c '^{"content"' "$out")" 30
}
as='' who=$(id -un)
rated
if [[ $(id -u) -eq 0 ]]; then
	rm -rf "$T/state/matins/rates"
	as=as_user who=user
	rated
	chown -R root: "$T"
fi
as=

# ---- at once ----

rm -rf "$T/state/matins"
config ''
pids=()
for _ in 1 2 3; do
	"$BIN" call wait --no-list -c k.toml --server slow >/dev/null 2>&1 &
	pids+=($!)
done
# unmade SERVER: the state in the last line of its calls
unmade() {
	grep "\"server\":\"$1\"" "$T/state/matins/audit.jsonl" | tail -n 1 |
		sed -n 's/.*"event":"done".*"state":"\([a-z_]*\)".*/\1/p'
}
calls() {
	[[ $(grep -c '"event":"call"' "$T/state/matins/audit.jsonl") -ge $1 ]]
}
wait_for 20 calls 2
run_matins call wait --no-list -c k.toml --server slow --timeout 1s --json
json_is "no more than two calls at once" error.kind deadline_call \
	error.message '~no turn for it by `max_concurrent` of the server: 2 calls are under way$'
is "the call that got no turn is in the audit" "$(unmade slow)" timeout
is "the two that were made go on" "$(grep -c '"event":"done"' "$T/state/matins/audit.jsonl")" 1
is "no more than two were made" "$(grep -c '"event":"call"' "$T/state/matins/audit.jsonl")" 3
for pid in "${pids[@]}"; do
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
done
config 'max_concurrent = 1'
call
exit_is "one alone" 0
"$BIN" call wait --no-list -c k.toml --server slow >/dev/null 2>&1 &
pid=$!
wait_for 20 calls 4
run_matins audit --verify
exit_is "turns of the dead are free again" 0
like "turns of the dead are free again: a call" "$(tail -n 1 "$T/state/matins/audit.jsonl")" '"event":"call".*"server":"slow"'
kill -KILL $pid
wait $pid 2>/dev/null

# ---- a server that says Retry-After ----

start_peer plain
cat >busy.toml <<-END
	[servers.b]
	url = "http://127.0.0.1:${port[0]}/call-busy429after40/mcp"
	rate = "10/s"
END
"$BIN" call echo n=1 -c busy.toml --server b >/dev/null 2>&1 &
pid=$!
refused() {
	[[ $(seen tools/call) -eq 1 ]]
}
wait_for 20 refused
run_matins call echo n=2 -c busy.toml --server b --timeout 1s --json
json_is "a call that another process repeats later: this one waits, too" \
	error.kind deadline_call \
	error.message '~Retry-After of the server; the next one is in [0-9]+ s$'
is "and is not sent" "$(seen tools/call)" 1
kill -KILL $pid
wait $pid 2>/dev/null

# ---- calls without a turn, in the audit ----

config $'rate = "1/h"\naudit = true'
call
is "a call with a turn" "$(unmade s)" ok
call
is "no turn by rate: a call" "$(unmade s)" timeout
run_matins run -c k.toml r
like "no turn by rate: a step" "$(unmade s)" '^(timeout|cancelled)$'
is "each has both lines" "$(grep -c '"server":"s"' "$T/state/matins/audit.jsonl")" 6
head -n 3 calls >three
LIMIT_S=20 run_matins call --batch three -j 3 -c k.toml --server s --timeout 1s
is "a call that waits behind another one has its lines" \
	"$(tail -n 6 "$T/state/matins/audit.jsonl" | grep -c '"server":"s".*"state":"timeout"')" 3
run_matins audit --verify
exit_is "the chain is whole" 0
for file in "$T"/state/matins/rates/*; do
	rm -r "$file"
	mkdir "$file"
done
call --json
json_is "a bucket that cannot be read: no call" error.kind protection
is "a bucket that cannot be read: in the audit" "$(unmade s)" denied
config $'rate = "1/h"\naudit = "off"'
call
is "audit = \"off\": no line" "$(grep -c '"server":"s"' "$T/state/matins/audit.jsonl")" 14

for rate in 60 60/m 0/s; do
	config "rate = \"$rate\""
	run_matins check k.toml
	exit_is "rate = $rate" 1
done
err_like "what a rate is" 'a rate such as "60/min"'
done_testing
