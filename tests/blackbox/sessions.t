#!/usr/bin/env bash
# Steps that name the same server share one process and one session, and what
# is learned of a server is remembered.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

mkdir seen
chmod 777 seen
SEEN="sandbox = { write = [\"$T/seen\"] }"

# logged FILE: the methods that a server was sent, in order, in one line
logged() {
	"$PYTHON" -c 'import json, sys
print(*[json.loads(l).get("method", "-") for l in open(sys.argv[1])])' "$1"
}

# ---- one process ----

script serve <<-'END'
	serve
END
{
	peer_step one serve 'tool = "echo"' 'params = { n = 1 }'
	peer_step two serve 'tool = "echo"' 'params = { n = 2 }'
	peer_step three serve 'tool = "echo"' 'sandbox = { memory = "1GiB" }'
} >r.toml
run_matins run -c r.toml r --json
exit_is "a run with the same server twice succeeds" 0
json_is "one process answers both steps of a server" \
	step_results[0].output '"{\"n\":1}"' step_results[1].output '"{\"n\":2}"'
json_is "the facts of the process stand in the step that started it" \
	step_results[0].run.exit.status 0 \
	step_results[0].run.pid present \
	step_results[0].run.enforced present \
	step_results[0].run.session_of absent \
	step_results[0].run.mcp.protocol 2025-11-25
json_is "the other step names that one" \
	step_results[1].run.session_of one \
	step_results[1].run.exit absent step_results[1].run.pid absent
json_is "another policy: another process" \
	step_results[2].run.session_of absent \
	step_results[2].run.exit.status 0
nothing_left "shared: no process is left" "$T/"

cat >names.toml <<-END
	[servers.a]
	command = "$PEER"
	args = ["$T/serve.peer"]
	[servers.b]
	command = "$PEER"
	args = ["$T/serve.peer"]
END
for step in one:a two:b three:a; do
	cat >>names.toml <<-END
		[[routines.r.steps]]
		name = "${step%:*}"
		type = "mcp-client"
		server = "${step#*:}"
		tool = "echo"
	END
done
run_matins run -c names.toml r --json
json_is "a named server: one process; two names: two" \
	step_results[0].run.session_of absent \
	step_results[1].run.session_of absent \
	step_results[2].run.session_of one

for step in one:FIRST two:SECOND three:AGAIN; do
	peer_step "${step%:*}" serve 'tool = "echo"' \
		"env = { A_TOKEN = { env = \"${step#*:}\" } }"
done >env.toml
FIRST=value-one SECOND=value-two AGAIN=value-one \
	run_matins run -c env.toml r --json
json_is "steps with equal credentials share a process, others do not" \
	step_results[0].run.session_of absent \
	step_results[1].run.session_of absent \
	step_results[2].run.session_of one

run_matins run -c r.toml r --json --only two
json_is "a step alone starts its own" step_results[1].state ok \
	step_results[1].run.session_of absent \
	step_results[1].run.exit.status 0

cat >leash.toml <<-'END'
	[caveats]
	fs_read = "all"
	fs_write = "all"
	exec = "all"
	net = "all"
	max_calls = { at_most = 1 }
	valid_for_generation = "all"
END
peer_step one serve 'tool = "echo"' 'protocol = "2025-11-25"' >>leash.toml
peer_step two serve 'tool = "echo"' 'protocol = "2025-11-25"' >>leash.toml
peer_step three serve 'tool = "echo"' >>leash.toml
run_matins run -c leash.toml r --json
json_is "max_calls of the leash counts processes" step_results[0].state ok \
	step_results[1].state ok step_results[1].run.session_of one \
	step_results[2].reason leash

# ---- side by side, in one session ----

cat >reverse.py <<-'END'
	import json, sys
	held = []
	def say(i, r):
	    print(json.dumps({"jsonrpc": "2.0", "id": i, "result": r}), flush=True)
	for line in sys.stdin:
	    m = json.loads(line)
	    if m.get("method") == "initialize":
	        say(m["id"], {"protocolVersion": m["params"]["protocolVersion"],
	            "capabilities": {}, "serverInfo": {"name": "r", "version": "1"}})
	    elif m.get("method") == "tools/call":
	        held.append(m)
	        if len(held) == 3:
	            for h in reversed(held):
	                say(h["id"], {"content": [{"type": "text",
	                    "text": h["params"]["arguments"]["n"]}]})
	    elif "id" in m:
	        print(json.dumps({"jsonrpc": "2.0", "id": m["id"],
	            "error": {"code": -32601, "message": "no"}}), flush=True)
END
for n in a b c; do
	cat <<-END
		[[routines.r.steps]]
		name = "$n"
		type = "mcp-client"
		command = "$PYTHON"
		args = ["$T/reverse.py"]
		tool = "t"
		parallel = true
		timeout = "20s"
		params = { n = "$n" }
	END
done >reverse.toml
run_matins run -c reverse.toml r --json
json_is "RW-50: three calls in flight, answered out of order" \
	step_results[0].output a step_results[1].output b \
	step_results[2].output c
json_is "they share one session" step_results[1].run.session_of a \
	step_results[2].run.session_of a
sed -i 's/"20s"/"700ms"/' reverse.toml
run_matins run -c reverse.toml r --json -j 2
json_is "-j bounds what is in flight" step_results[0].reason deadline_call

# ---- the end of a server ----

script crash <<-END
	log $T/seen/crash
	handshake
	expect tools/call
	kill SEGV
END
{
	peer_step one crash 'tool = "t"' "$SEEN" 'parallel = true'
	peer_step two crash 'tool = "t"' "$SEEN" 'parallel = true'
	peer_step three crash 'tool = "t"' "$SEEN"
} >crash.toml
run_matins run -c crash.toml r --json
json_is "a crash fails the calls in flight" \
	step_results[0].reason server_exit step_results[1].reason server_exit \
	step_results[0].error '~SIGSEGV.*outcome is unknown, and it was not repeated' \
	step_results[1].run.session_of one
json_is "the next step starts a fresh one, and is told why" \
	step_results[2].run.session_of absent step_results[2].run.pid present \
	step_results[2].run.started_afresh '~SIGSEGV'
is "TC-7: no call was sent twice" "$(grep -c tools/call seen/crash)" 2
nothing_left "after crashes: no process is left" "$T/"

script once <<-'END'
	handshake
	call $pid
	exit 0
END
{
	peer_step one once 'tool = "t"'
	cat <<-'END'
		[[routines.r.steps]]
		name = "between"
		type = "script"
		command = "sleep"
		args = ["0.3"]
	END
	peer_step two once 'tool = "t"'
} >once.toml
run_matins run -c once.toml r --json
exit_is "a server that leaves after one answer: exit status 0" 0
json_is "a server that leaves after one answer: started again" \
	step_results[2].state ok step_results[2].run.session_of absent

script slow <<-'END'
	handshake
	expect tools/call
	expect notifications/cancelled
	expect ping
	fail -32601 no such method
	call second
	call third
END
{
	peer_step one slow 'tool = "t"' 'timeout = "500ms"'
	peer_step two slow 'tool = "t"'
	peer_step three slow 'tool = "t"'
} >slow.toml
run_matins run -c slow.toml r --json
json_is "a step that runs out of time leaves the server to the others" \
	step_results[0].reason deadline_call \
	step_results[1].output second step_results[2].output third \
	step_results[1].run.session_of one step_results[2].run.session_of one

# stuck COMMAND-LINES...: three steps, of which the first is never answered
stuck() {
	{
		printf '[servers.s]\n'
		printf '%s\n' "$@"
		for step in one:lost:1 two:fine:20 three:fine:20; do
			IFS=: read -r name tool timeout <<<"$step"
			cat <<-END
				[[routines.r.steps]]
				name = "$name"
				type = "mcp-client"
				server = "s"
				tool = "$tool"
				timeout = $timeout
			END
		done
	} >stuck.toml
	run_matins run -c stuck.toml r --json
	json_is "a call that never returns: it alone fails" \
		step_results[0].reason deadline_call \
		step_results[1].state ok step_results[2].state ok
	json_is "the next step has a server of its own, and is told why" \
		step_results[1].run.session_of absent \
		step_results[1].run.started_afresh '~step "one".*nor a ping'
	json_is "the one after shares that" step_results[2].run.session_of two \
		step_results[2].run.started_afresh absent
	err_like "a warning is printed while the run goes on" 'warning: .*nor a ping'
}

LOSSY=$TOP/tests/blackbox/lossy_peer.py
stuck "command = \"$PYTHON\"" "args = [\"$LOSSY\", \"stdio\", \"hangs\"]"
json_is "the process that was stuck is ended" \
	step_results[0].run.exit.signal present \
	step_results[1].run.exit.status 0
nothing_left "a call that never returns: no process is left" "$LOSSY"
"$PYTHON" -B "$LOSSY" websocket hangs calls >port 2>peer.log &
peer=$!
has_port() {
	[[ -s port ]]
}
wait_for 20 has_port
stuck "url = \"ws://127.0.0.1:$(<port)/mcp\""
kill "$peer"
wait "$peer" 2>/dev/null

script modern-slow <<-'END'
	expect server/discover
	reply {"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}
	expect tools/call
	expect notifications/cancelled
	expect server/discover
	reply {"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}
	call second
END
{
	peer_step one modern-slow 'tool = "t"' 'timeout = "500ms"'
	peer_step two modern-slow 'tool = "t"'
} >slow.toml
run_matins run -c slow.toml r --json
json_is "PING-4: where there is no ping, another question shows the same" \
	step_results[0].reason deadline_call step_results[1].output second \
	step_results[1].run.session_of one

script big <<-'END'
	handshake
	repeat 2
	call 01234567890123456789012345678901234567890123456789
	end
END
{
	peer_step one big 'tool = "t"' 'stdout_max = 80'
	peer_step two big 'tool = "t"' 'stdout_max = 1000'
} >small.toml
run_matins run -c small.toml r --json
json_is "stdout_max is that of the step" \
	step_results[0].reason output_limit step_results[1].state ok \
	step_results[1].run.session_of one

# ---- what is remembered ----

script eras <<-END
	log $T/seen/eras
	expect server/discover
	fail -32601 no such method
	handshake
	call one
END
script eras-known <<-END
	log $T/seen/eras
	handshake
	call two
END
peer_step one eras 'tool = "t"' "$SEEN" >eras.toml
run_matins run -c eras.toml r --json
is "the first contact asks" "$(logged seen/eras)" \
	"server/discover initialize notifications/initialized tools/call"
cat eras-known.peer >eras.peer
rm seen/eras
run_matins run -c eras.toml r --json
is "the second does not" "$(logged seen/eras)" \
	"initialize notifications/initialized tools/call"
is "the memory is private" "$(stat -c %a state/matins/eras.json)" 600
is "the memory names no path" "$(grep -c "$T" state/matins/eras.json)" 0

script exits <<-END
	log $T/seen/exits
	handshake
	call here
END
peer_step one exits 'tool = "t"' "$SEEN" >exits.toml
run_matins run -c exits.toml r --json
json_is "RW-22: exits on the question: started again" \
	step_results[0].state ok step_results[0].run.mcp.restarts 1
run_matins run -c exits.toml r --json
json_is "RW-22: a server that exits is started a second time only" step_results[0].state ok \
	step_results[0].run.mcp.restarts 0
is "RW-22: three starts in all" "$(logged seen/exits)" \
	"server/discover initialize notifications/initialized tools/call initialize notifications/initialized tools/call"

script silent <<-END
	log $T/seen/silent
	expect server/discover
	handshake
	call late
END
peer_step one silent 'tool = "t"' 'timeout = "4s"' "$SEEN" >silent.toml
run_matins run -c silent.toml r --json
json_is "RW-23: silent on the question: the handshake follows" \
	step_results[0].output late step_results[0].run.mcp.restarts 0

script modern <<-END
	log $T/seen/modern
	serve modern
END
for date in 2024-11-05 2025-03-26 2025-06-18 2025-11-25; do
	rm -f seen/pinned
	script pinned <<-END
		log $T/seen/pinned
		handshake
		call here
	END
	peer_step one pinned 'tool = "t"' "protocol = \"$date\"" "$SEEN" >pin.toml
	run_matins run -c pin.toml r --json
	json_is "pinned to $date: it is spoken" step_results[0].state ok \
		step_results[0].run.mcp.protocol "$date"
	is "pinned to $date: nothing is asked before" "$(logged seen/pinned)" \
		"initialize notifications/initialized tools/call"
done
peer_step one modern 'tool = "echo"' 'protocol = "2026-07-28"' "$SEEN" >pin.toml
run_matins run -c pin.toml r --json
json_is "pinned to 2026-07-28: it is spoken" step_results[0].state ok \
	step_results[0].run.mcp.protocol 2026-07-28
is "pinned to 2026-07-28: asked first (PRB-12)" "$(logged seen/modern)" \
	"server/discover tools/call"

chmod 500 state
run_matins run -c r.toml r --json --only one
json_is "memory that cannot be written is no failure" step_results[0].state ok
err_unlike "no message speaks of the lost memory" 'era'
chmod 700 state

done_testing
