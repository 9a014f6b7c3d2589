#!/usr/bin/env bash
# `list` shows the routines with their descriptions.
. "${BASH_SOURCE%/*}/lib.sh"

cat >matins.toml <<-'END'
	[servers.web]
	url = "https://${UNSET_VARIABLE}/"

	[routines.morning]
	description = "Good morning dashboard"
	[[routines.morning.steps]]
	name = "a"
	type = "script"
	command = "date"
	sandbox = { write = ["gone"] }
	[[routines.morning.steps]]
	name = "b"
	type = "mcp-query"
	server = "web"
	tool = "t"

	[[routines.ci.steps]]
	name = "a"
	type = "script"
	command = "date"
END
run_matins list
exit_is "list ends with status 0" 0
cat >want <<-'END'
	morning    2 steps  Good morning dashboard
	ci         1 step
END
file_is "one line each, in the order of the file" "$out" want
err_is "variables and paths do not matter for names" ""

run_matins list --json
json_is "list --json describes each routine" file matins.toml routines '#2' routines[0].name morning \
	routines[0].description "Good morning dashboard" \
	routines[0].steps '#2' routines[0].steps[1].name b \
	routines[0].steps[1].type mcp-client routines[1].description absent

# ---- last runs ----

cat >ran.toml <<-'END'
	[routines.good]
	description = "all is well"
	[[routines.good.steps]]
	name = "s"
	type = "script"
	command = "true"
	[routines.bad]
	[[routines.bad.steps]]
	name = "s"
	type = "script"
	command = "false"
	[routines.never]
	steps = []
END
run_matins run -c ran.toml good
run_matins run -c ran.toml bad
run_matins run -c ran.toml bad --only s
sed s/well/elsewhere/ ran.toml >other.toml
run_matins run -c other.toml good
run_matins list -c ran.toml
out_like "list says how a routine ran last" \
	'^good +1 step +all is well  \(last run 1 ok, of 20[0-9-]+T[0-9:]+\)$'
out_like "all steps of it" '^bad +1 step  \(last run 2 failed, of 20[0-9-]+T[0-9:]+\)$'
out_like "and nothing of one that never ran" '^never +0 steps$'
run_matins list -c ran.toml --json
json_is "so does its JSON" routines[0].last.generation 1 \
	routines[0].last.outcome ok routines[1].last.outcome failed \
	routines[2].last absent routines[0].schedule absent
if [[ -x $PYTHON || -n $(command -v "$PYTHON") ]]; then
	TERM=xterm "$PYTHON" "$TOP/tests/blackbox/on_terminal.py" '' \
		"$BIN" history -c ran.toml >"$out" 2>"$err"
	out_like "on a terminal a failed run is red" $'\033\\[31mfailed *\033\\[0m'
	out_unlike "and one that is ok is not" $'\033\\[31mok'
else
	skip "colours of history" "no python3"
fi

printf '[routines.r]\ndescription = "a\\u001b[2Jb"\nsteps = []\n' >c.toml
run_matins list -c c.toml
out_like "control characters are shown, not obeyed" 'a\\x1b\[2Jb'

: >empty.toml
run_matins list -c empty.toml
exit_is "no routines: exit status 0" 0
out_is "no routines: nothing on stdout" ""
err_like "list names a configuration without routines" 'no routines in empty\.toml'
run_matins list -c empty.toml --json
json_is "list --json is empty without routines" routines '#0'

echo 'rotines = 1' >bad.toml
run_matins list -c bad.toml
exit_is "a broken file: exit status 1" 1
err_like "a broken file: place" 'bad\.toml:1:1: unknown key'
run_matins list -c bad.toml --json
json_is "a broken file: JSON on stdout" error.kind configuration \
	error.line 1 error.column 1
run_matins list x y
exit_is "list of two routines is a usage error" 64

done_testing
