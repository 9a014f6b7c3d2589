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
