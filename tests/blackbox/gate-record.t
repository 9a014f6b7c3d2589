#!/usr/bin/env bash
# Every program that a tree executes is written down on request, and nothing
# that is watched is allowed by that.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# execs FILE: the paths that were executed, in order, on one line
execs() {
	"$PYTHON" - "$1" <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1])).get("execs", [])
		print(" ".join(r["path"].rsplit("/", 1)[1] for r in rows))
	END
}

recorded() {
	local report=$W/report.json

	rm -f "$report"
	gate --record-exec --report "$report" "$@"
}

tree() {
	local all=(--exec ls --exec env --exec setsid --exec sh --exec sleep)

	recorded "${all[@]}" -- bash -c 'ls / >/dev/null 2>&1
		env ls /usr/lib >/dev/null; setsid -w ls /usr >/dev/null 2>&1; :'
	is "$who: programs, their children, and after setsid, in order" \
		"$(execs "$W/report.json")" "bash ls env ls setsid ls"
	json_file_is "$who: by whom, and with which arguments" \
		"$W/report.json" "execs[1].by" bash \
		"execs[1].args" '["ls", "/"]' "execs[3].by" env \
		"execs[5].by" setsid

	recorded "${all[@]}" -- bash -c 'sh -c "ls /usr/lib; :"; :'
	is "$who: programs that a child starts are recorded" "$(execs "$W/report.json")" "bash sh ls"

	recorded "${all[@]}" -- bash -c '(sleep 0.01; sleep 0.02) & wait'
	is "$who: a background job, counted by its arguments" \
		"$(execs "$W/report.json")" "bash sleep"
	json_file_is "$who: two of one kind" "$W/report.json" \
		"execs[1].count" 2

	gate --report "$W/report.json" "${all[@]}" -- bash -c 'ls /usr/lib'
	json_file_is "$who: nothing when nobody asked" "$W/report.json" \
		execs absent
}

refused() {
	recorded --preset none -- bash -c 'ls /usr'
	exit_is "$who: watching does not allow what is not listed" 126
	is "$who: it is listed that it was tried" \
		"$(execs "$W/report.json")" "bash ls"
	recorded --exec ls -- bash -c 'ls /usr/lib'
	exit_is "$who: a listed one runs" 0

	ln -sf /usr/bin/ls "$W/link"
	recorded --exec ls --read "$W" -- bash -c "$W/link /usr/lib"
	exit_is "$who: a link to a listed one runs" 0
	is "$who: and is listed by its name" \
		"$(execs "$W/report.json")" "bash link"

	recorded -- bash -c '"$1" syscall >/dev/null; exit 0' x /no/such/program
	is "$who: what is not there is not listed" \
		"$(execs "$W/report.json")" "bash"
}

# The filter's other rules hold as before.
other_rules() {
	local report=$W/report.json

	recorded -- "$PROBE" call mount
	file_has "$who: refused calls are still named" "$report" '"mount"'
	expect blocked "mount stays refused" --record-exec -- call mount
	expect blocked "a socket stays refused" --record-exec -- udp
	expect ok "threads work" --record-exec -- thread
}

flood() {
	recorded --exec true -- bash -c 'for ((i = 0; i < 300; i++)); do
		/usr/bin/true $i; done'
	exit_is "$who: many are one row" 0
	json_file_is "$who: with their number" "$W/report.json" \
		"execs[1].count" 300 execs '#2'
}

life() {
	LIMIT_S=20 gate --record-exec --cpu 1s -- bash -c 'while :; do :; done'
	like "$who: a watched tree can be ended" "$status" '^(137|152)$'
	recorded --exec sleep -- bash -c 'sleep 60 & exit 5'
	exit_is "$who: its end ends the tree" 5
	recorded -- /no/such/program
	like "$who: what cannot be started fails as ever" "$status" '^12[57]$'
}

config() {
	cat >r.toml <<-END
		[[routines.r.steps]]
		name = "s"
		type = "script"
		command = "bash"
		args = ["-c", "ls /usr/lib >/dev/null; echo '{}'"]
		[routines.r.steps.sandbox]
		exec = ["ls"]
		record_exec = true
	END
	run_matins run -c r.toml r --json
	json_is "a report lists what a step executed" \
		"step_results[0].run.execs[0].by" bash \
		"step_results[0].run.execs[1].args" '["ls", "/usr/lib"]'
	sed -i /record_exec/d r.toml
	run_matins run -c r.toml r --json
	json_is "programs are recorded only where the step asks" "step_results[0].run.execs" absent
}

config
both_users tree
both_users refused
both_users other_rules
both_users flood
both_users life
done_testing
