#!/usr/bin/env bash
# A step of type `sync` lists servers into the catalogue, as `matins sync` does.
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

export MATINS_STATE=$T/st
echo 'text = "fine"' | tool_server one.py
cp one.py two.py
printf '%s\n' 'import sys' 'sys.exit(3)' >bad.py
cat >matins.toml <<-END
	[servers.one]
	command = "$PYTHON"
	args = ["one.py"]
	[servers.two]
	command = "$PYTHON"
	args = ["two.py"]
	[servers.bad]
	command = "$PYTHON"
	args = ["bad.py"]
	[[routines.all.steps]]
	name = "lists"
	type = "sync"
	[[routines.some.steps]]
	name = "lists"
	type = "sync"
	servers = ["one", "two"]
	[[routines.some.steps]]
	name = "after"
	type = "mcp-client"
	server = "one"
	tool = "t"
	when = { "\$steps.lists.data.servers" = true }
END
run_matins check
exit_is "check knows the type" 0
run_matins run some --json
exit_is "servers that answer: ok" 0
json_is "what was added has its names" step_results[0].state ok \
	step_results[0].step_type sync \
	step_results[0].data.servers '#2' \
	step_results[0].data.servers[0].name one \
	step_results[0].data.servers[0].ok true \
	step_results[0].data.servers[0].tools 1 \
	step_results[0].data.servers[0].added[0].name t \
	step_results[0].data.servers[0].updated '#0' \
	step_results[0].output '~^one: 1 tool\n  [+] tool t\ntwo: 1 tool'
json_is "no time of a run is in the data" \
	step_results[0].data.servers[0].synced absent
json_is "later steps see it" step_results[1].output fine
run_matins tools
out_like "the tools are in the catalogue" 'mcp__two__t'

sed -i 's/"name": "t", /"name": "u", /' two.py
run_matins run some --json
json_is "changes since then: the other ones" \
	step_results[0].data.servers[0].added '#0' \
	step_results[0].data.servers[1].added[0].name u \
	step_results[0].data.servers[1].deprecated[0].name t
run_matins run some
out_like "the report for people has a line of each server" '^ *two: 1 tool$'

run_matins run all --json
exit_is "a server that fails fails the step" 2
json_is "the status is that of the command, the others are there" \
	step_results[0].state failed step_results[0].reason exit_status \
	step_results[0].error '~^bad: .*status 3' \
	step_results[0].data.servers '#3' \
	step_results[0].data.servers[0].ok true \
	step_results[0].data.servers[2].ok false

run_matins run some --dry-run --json
json_is "a dry run says which" step_results[0].reason dry_run \
	step_results[0].error '~would list: one, two'
run_matins doctor some
out_like "the doctor knows it" 'lists servers'

refused() {
	local name=$1 pattern=$2

	{
		cat matins.toml
		printf '%s\n' '[[routines.no.steps]]' 'name = "x"' \
			'type = "sync"' "$3"
	} >no.toml
	run_matins check no.toml
	exit_is "$name" 1
	err_like "$name: the message" "$pattern"
}

refused "an unknown server" 'no server "onne"; did you mean "one"' \
	'servers = ["onne"]'
refused "a command of its own" 'type sync has no "command"' 'command = "ls"'
refused "a cache" 'cache' 'cache = "1h"'

# What the run has judged is listed, and nothing that lies there later.
echo "open('$T/w/touched', 'w').close()" >evil.py
mkdir w
sed "s/two.py/evil.py/; s/^command = .*/&\nsandbox = { write = [\"w\"] }/" \
	matins.toml >other.toml
{
	cat matins.toml
	cat <<-END
		[[routines.late.steps]]
		name = "meanwhile"
		type = "script"
		command = "sh"
		args = ["-c", ": >$T/w/begun; until test -e $T/w/go; do sleep 0.1; done"]
		sandbox = { write = ["w"], exec = ["sleep"] }
		[[routines.late.steps]]
		name = "lists"
		type = "sync"
	END
} >late.toml
{
	wait_for 20 test -e w/begun
	cat other.toml >late.toml
	: >w/go
} &
run_matins run -c late.toml late --json
wait
json_is "a file that changed meanwhile: the step fails" \
	step_results[0].state ok step_results[1].state failed \
	step_results[1].error '~has changed since it was judged'
not_ok "a file that changed meanwhile: its servers are not started" \
	test -e w/touched

# ended with its run, and what it started
cat >hang.py <<-'END'
	import time
	time.sleep(600)
END
sed "s|bad.py|$T/hang.py|; s/^type = \"sync\"/&\ntimeout = \"1s\"/" matins.toml >hang.toml
run_matins run -c hang.toml all --json
json_is "a server that never answers: the time of the step ends it" \
	step_results[0].state timeout
nothing_left "and nothing of it runs on" "$T/hang.py"


# ended by a signal, in order
sed "s|bad.py|$T/hang.py|" matins.toml >hang.toml
"$BIN" run -c hang.toml all --json >killed.json 2>/dev/null &
pid=$!
hangs() { grep -qsaF "$T/hang.py" /proc/[0-9]*/cmdline; }
ok "SIGTERM: the server runs" wait_for 20 hangs
kill -TERM $pid
wait $pid
is "SIGTERM: the status of an orderly end" $? 143
is "SIGTERM: the report is whole, and the step no success" \
	"$("$PYTHON" -c 'import json; r = json.load(open("killed.json")); print(r["success"], r["step_results"][0]["reason"])')" \
	"False cancelled"
nothing_left "SIGTERM: nothing of it runs on" "$T/hang.py"

run_matins run some --record tape
run_matins run some --replay tape --json
json_is "no replay asks a server" step_results[0].reason replay
done_testing
