#!/usr/bin/env bash
# `reconnect` of a server: one that ends by itself is started again for what
# follows, after a pause; a call in flight fails, and is not repeated.
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

tool_server frail.py <<-'END'
	import os
	how, text = a.get("how"), "answered"
	with open(sys.argv[1], "a") as f:
	    f.write((how or "call") + "\n")
	if how == "die":
	    os._exit(3)
	if how == "leave":
	    r = {"content": [{"type": "text", "text": "and left"}]}
	    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}),
	          flush=True)
	    os._exit(3)
END
mkdir said
for server in frail kept; do
	cat >>matins.toml <<-END
		[servers.$server]
		command = "$PYTHON"
		args = ["$T/frail.py", "$T/said/$server"]
		sandbox = { write = ["said"] }
	END
done
echo 'reconnect = false' >>matins.toml
for server in frail kept; do
	for step in one:die two:call; do
		cat >>matins.toml <<-END
			[[routines.$server.steps]]
			name = "${step%:*}"
			type = "mcp-client"
			server = "$server"
			tool = "t"
			params = { how = "${step#*:}" }
		END
	done
done

# ---- steps of a run ----

run_matins run frail --json
json_is "a call in flight fails with server_exit" step_results[0].reason \
	server_exit step_results[0].error '~status 3.*outcome is unknown'
json_is "the next step has a server again, and says why" \
	step_results[1].state ok step_results[1].output answered \
	step_results[1].run.started_afresh '~status 3'
is "no call was repeated" "$(<said/frail)" $'die\ncall'
run_matins run kept --json
json_is "reconnect = false: the call in flight fails likewise" \
	step_results[0].reason server_exit
json_is "reconnect = false: and all that follow" \
	step_results[1].reason server_exit \
	step_results[1].error '~status 3.*reconnect = false'
is "reconnect = false: nothing was sent again" "$(<said/kept)" die

# ---- lines of a batch ----

# a process has no command line shortly before its pipes are closed
is_gone() {
	[[ -z $(_with_mark "$T/frail.py") ]] && sleep 0.3
}

# lines SERVER: three calls; the server ends after the first, and its end is
# known before the second is made
lines() {
	rm -f "said/$1" feed
	mkfifo feed
	{
		echo '{"tool":"t","arguments":{"how":"leave"}}'
		wait_for 20 test -e "said/$1"
		wait_for 20 is_gone
		echo '{"tool":"t"}'
		echo '{"tool":"t"}'
	} >feed &
	run_matins_stdin feed call --batch - --server "$1"
	wait
}

lines frail
exit_is "a server that ended between two lines: no failure" 0
is "each line has its answer" "$(grep -o 'and left\|answered' "$out")" \
	$'and left\nanswered\nanswered'
err_like "its new start is said" 'frail ended, and is started again in 1 s'
is "each call was made once" "$(<said/frail)" $'leave\ncall\ncall'
lines kept
exit_is "reconnect = false: the lines behind fail" 1
is "reconnect = false: each of them" \
	"$(grep -c '"kind":"[a-z_]*"' "$out")" 2
err_unlike "reconnect = false: no other start" 'started again in'
is "reconnect = false: one call was made" "$(<said/kept)" leave

# A server that is not there any more: the line fails, and the batch ends.
rm -f said/frail feed
mkfifo feed
{
	echo '{"tool":"t","arguments":{"how":"leave"}}'
	wait_for 20 test -e said/frail
	wait_for 20 is_gone
	mv frail.py gone.py
	echo '{"tool":"t"}'
} >feed &
run_matins_stdin feed call --batch - --server frail
wait
exit_is "a server that cannot be started again: 1" 1
err_like "the reason is said" 'frail is not started again'
mv gone.py frail.py
nothing_left "no process is left" "$T/frail.py"

run_matins check
exit_is "check knows the key" 0
done_testing
