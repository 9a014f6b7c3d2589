#!/usr/bin/env bash
# Programs whose file does not answer: nobody waits for it longer than he said,
# and the others go on.
. "${BASH_SOURCE%/*}/lib.sh"

HANG=$HELPERS/hang
mkdir bin
cp "$(type -P true)" bin/program

is_settled() {
	[[ -s ready ]] || ! kill -0 "$holder" 2>/dev/null
}

# holds NAME ARGS...: start the helper; it ends when descriptor 9 is closed
holds() {
	rm -f hold ready
	mkfifo hold
	"$HANG" "$@" <hold >ready 2>why &
	holder=$!
	exec 9>hold
	wait_for 10 is_settled
}

let_go() {
	exec 9>&-
	wait "$holder"
}

# routine PROGRAM TIMEOUT: one step with it, and one beside it
routine() {
	cat >r.toml <<-END
		[[routines.r.steps]]
		name = "held"
		type = "script"
		command = "$1"
		timeout = "$2"
		parallel = true
		[[routines.r.steps]]
		name = "free"
		type = "script"
		command = "$(type -P echo)"
		args = ["free"]
		parallel = true
		[[routines.r.steps]]
		name = "spoken"
		type = "mcp-client"
		command = "$1"
		tool = "t"
		timeout = "$2"
	END
}

# late NAME: both steps with that program were given up, the other was not
late() {
	run_matins run -c r.toml r --json 9>&-
	json_is "$1: given up before it began" \
		step_results[0].state timeout \
		step_results[0].reason deadline_spawn \
		step_results[2].state timeout \
		step_results[2].reason deadline_spawn
	json_is "$1: the others are not" step_results[1].output free
	json_is "$1: the error says why" step_results[0].error "~$2"
}

# ---- what is no file ----

mkfifo -m 755 fifo
run_matins exec -- ./fifo
exit_is "a FIFO without a writer is not waited for" 126
err_like "a FIFO is named as no regular file" 'is not a regular file'

# ---- a lease ----

routine "$T/bin/program" 1s
if holds lease bin/program && [[ -s ready ]]; then
	late "a lease that is kept" 'holds it by a lease'
	let_go
	run_matins run -c r.toml r --json --only held
	json_is "given back: it runs" step_results[0].state ok
	holds lease bin/program
	routine "$T/bin/program" 15s
	{
		sleep 0.3
		kill "$holder"
	} 9>&- &
	run_matins run -c r.toml r --json --only held 9>&-
	json_is "given back in time: it runs" step_results[0].state ok
	wait $!
	exec 9>&-
else
	skip "a lease that is kept" "there are no leases: $(cat why)"
	let_go
fi

# ---- a file system ----

mkdir served
routine "$T/served/program" 1s
for when in lookup open exec; do
	holds fuse served "$(type -P true)" "$when"
	if [[ ! -s ready ]]; then
		skip "$when: a file system that does not answer" "no file system here: $(cat why)"
		let_go
		continue
	fi
	late "$when: a file system that does not answer" 'does not answer'
	let_go
	nothing_left "$when: nothing is left when it is gone" "$T/served"
done
# What a tree executes is looked at by its runner, which must not wait for it.
holds fuse served "$(type -P true)" lookup
if [[ -s ready ]]; then
	cat >tree.toml <<-END
		[[routines.r.steps]]
		name = "asks"
		type = "script"
		command = "sh"
		args = ["-c", "echo begun; $T/served/program; echo done"]
		sandbox = { isolate = "off" }
		timeout = "1s"
		parallel = true
		[[routines.r.steps]]
		name = "free"
		type = "script"
		command = "sh"
		args = ["-c", "sleep 0.5; echo free >$T/marks/free"]
		sandbox = { exec = ["sleep"], write = ["$T/marks"] }
		parallel = true
	END
	mkdir marks
	chmod 777 marks
	timeout -s KILL 60 "$BIN" run -c tree.toml r --json >"$out" 2>"$err" \
		9>&- &
	run=$!
	wait_for 20 test -e marks/free
	ok "an exec in a tree that has no answer: others go on" \
		test -e marks/free
	let_go
	wait $run
	json_is "the steps beside a hanging one end well" step_results[1].state ok
else
	skip "an exec in a tree that has no answer" "no file system here"
	let_go
fi
holds fuse served "$(type -P true)" never
if [[ -s ready ]]; then
	run_matins run -c r.toml r --json --only held 9>&-
	json_is "a file system that answers: it runs" step_results[0].state ok
else
	skip "a file system that answers" "no file system here: $(cat why)"
fi
let_go

done_testing
