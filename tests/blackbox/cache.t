#!/usr/bin/env bash
# Results that are used again: `cache`.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

mkdir -m 777 count
cat >tool <<-END
	#!/bin/sh
	echo x >>$T/count/\$1
	echo "\$2"
	[ ! -e $T/count/fails ]
END
chmod +x tool
# the script is older than what it made
touch -d '1 hour ago' tool
# cached CACHE [LINES...]
cached() {
	printf '[[routines.r.steps]]\nname = "a"\ntype = "script"\ncommand = "%s"\nsandbox.write = ["%s"]\ncache = "%s"\n' \
		"$T/tool" "$T/count" "$1"
	shift
	printf '%s\n' "$@" '' '[[routines.r.steps]]' 'name = "b"' \
		'type = "script"' 'command = "echo"' \
		'args = ["{{steps.a.output}}"]'
}
ran() {
	wc -l <"count/$1"
}

cached 1h 'args = ["a", "$input.k"]' >r.toml
sleep 0.01
run_matins run -c r.toml r -p k=1 --json
json_is "the first time it runs" step_results[0].run.cached absent
first=$(json_get generation)
began=$(json_get step_results[0].run.started)
run_matins run -c r.toml r -p k=1 --json
exit_is "the second time: status 0" 0
json_is "its result is used again" step_results[0].state ok \
	step_results[0].output 1 step_results[0].run.cached "$first" \
	step_results[0].run.started "$began"
json_is "others have it as ever" step_results[1].output 1
run_matins run -c r.toml r -p k=1 --json
json_is "a third time: of the first run" step_results[0].run.cached "$first"
is "it ran once" "$(ran a)" 1
run_matins run -c r.toml r -p k=1 --json --no-cache
json_is "--no-cache: it runs" step_results[0].run.cached absent
is "--no-cache: it ran" "$(ran a)" 2
run_matins run -c r.toml r -p k=2 --json
json_is "with another argument it runs" step_results[0].output 2 \
	step_results[0].run.cached absent
run_matins run -c r.toml r -p k=1 --json
json_is "the one before is still known" step_results[0].output 1 \
	step_results[0].run.cached present
is "other arguments: it ran" "$(ran a)" 3
run_matins run -c r.toml r -p k=1 --dry-run
exit_is "a dry run looks nothing up" 0

cp r.toml more.toml
for line in 'cwd = "count"' 'env = { MODE = "old" }' 'env = { MODE = "new" }' \
	'expect = { "$.output" = { const = "2" } }'; do
	cached 1h 'args = ["a", "$input.k"]' "$line" >r.toml
	run_matins run -c r.toml r -p k=1 --json
	json_is "with another $line it runs" step_results[0].run.cached absent
done
json_is "and is judged by it" step_results[0].reason expect
mv more.toml r.toml

echo '# another' >>tool
run_matins run -c r.toml r -p k=1 --json
json_is "with another program it runs" step_results[0].run.cached absent

cached 1h 'args = ["f", "1"]' >f.toml
touch count/fails
run_matins run -c f.toml r --json
json_is "a failure" step_results[0].state failed
rm count/fails
run_matins run -c f.toml r --json
json_is "a failure is not kept" step_results[0].state ok \
	step_results[0].run.cached absent

cached 100ms 'args = ["o", "1"]' >o.toml
run_matins run -c o.toml r --json
sleep 0.15
run_matins run -c o.toml r --json
json_is "one that is too old is not used" step_results[0].run.cached absent

cached 1h 'args = ["s", "1"]' 'stdin = "$input.k"' >s.toml
run_matins run -c s.toml r -p k=1 --json
run_matins run -c s.toml r -p k=2 --json
json_is "other input: it runs" step_results[0].run.cached absent
cached 1h 'args = ["e", "1"]' 'env = { A = "1" }' >e.toml
run_matins run -c e.toml r --json
sed -i 's/A = "1"/B = "1"/' e.toml
run_matins run -c e.toml r --json
json_is "other variables: it runs" step_results[0].run.cached absent

# what a step may do
printf 'echo x >>%s/count/g; cat %s/hidden 2>/dev/null; echo end\n' "$T" "$T" >look
cp look hidden
touch -d '1 hour ago' look hidden
cached 1h 'args = ["g", "1"]' >g.toml
sed -i "s|^command.*|command = \"sh\"|; s|^args = .\"g.*|args = [\"$T/look\"]|" g.toml
run_matins run -c g.toml r --json
run_matins run -c g.toml r --json
json_is "the same rights: it is used again" step_results[0].run.cached present
for line in "sandbox.read = [\"$T/hidden\"]" 'on_refusal = "fail"' \
	'args_from_data = "allow"' 'stdout_max = "1KiB"'; do
	sed "/^cache/a $line" g.toml >h.toml
	cp g.toml before.toml
	mv h.toml g.toml
	run_matins run -c g.toml r --json
	json_is "with $line it runs" step_results[0].run.cached absent
	mv before.toml g.toml
done
{
	printf '[sandbox]\nread = ["%s"]\n' "$T/hidden"
	cat g.toml
} >h.toml
mv h.toml g.toml
run_matins run -c g.toml r --json
json_is "with more for all programs it runs" step_results[0].run.cached absent

# a name that leads to another program, as old as the first
mkdir v1 v2
for v in 1 2; do
	printf '#!/bin/sh\necho V%s\n' "$v" >"v$v/tool"
	chmod +x "v$v/tool"
done
touch -d '1 hour ago' v1/tool v2/tool
ln -s v1 cur
cat >v.toml <<-END
	[[routines.r.steps]]
	name = "path"
	type = "script"
	command = "./cur/tool"
	cache = "1h"
	[[routines.r.steps]]
	name = "script"
	type = "script"
	command = "sh"
	args = ["cur/tool"]
	cache = "1h"
	[[routines.r.steps]]
	name = "name"
	type = "script"
	command = "tool"
	cache = "1h"
END
sleep 0.01
PATH=$T/cur:$PATH run_matins run -c v.toml r --json
PATH=$T/v1:$PATH run_matins run -c v.toml r --json
json_is "the same program by another name: used again" \
	step_results[0].run.cached present step_results[1].run.cached present \
	step_results[2].run.cached present
ln -sfn v2 cur
PATH=$T/v2:$PATH run_matins run -c v.toml r --json
json_is "a link that leads to another program: it runs" \
	step_results[0].output V2 step_results[1].output V2 \
	step_results[2].output V2

# a remote server
start_peer plain
cat >u.toml <<-END
	[servers.s]
	url = "http://127.0.0.1:${port[0]}/mcp"
	headers = { X-Tenant = "alpha" }
	[[routines.r.steps]]
	name = "a"
	type = "mcp-client"
	server = "s"
	tool = "echo"
	cache = "1h"
END
run_matins run -c u.toml r --json
run_matins run -c u.toml r --json
json_is "a server: its result is used again" step_results[0].run.cached present
sed -i 's/alpha/beta/' u.toml
run_matins run -c u.toml r --json
json_is "with another header it is asked" step_results[0].run.cached absent
is "and asked once for each" "$(seen tools/call)" 2
end_peers

# files that are arguments
echo old >text
touch -d '1 hour ago' text
cat >a.toml <<-END
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "cat"
	args = ["text"]
	cache = "1h"
	sandbox.read = ["text"]
	[[routines.r.steps]]
	name = "w"
	type = "script"
	command = "tee"
	args = ["$T/count/made"]
	stdin = "x"
	cache = "1h"
	sandbox.write = ["$T/count"]
END
run_matins run -c a.toml r --json
run_matins run -c a.toml r --json
json_is "a file as an argument: it is used again" step_results[0].run.cached present
json_is "also of one that it writes" step_results[1].run.cached present
echo new >text
run_matins run -c a.toml r --json
json_is "another file as an argument: it runs" step_results[0].output new

cat >g.toml <<-'END'
	[[routines.r.steps]]
	name = "each"
	type = "script"
	foreach = "$input.l"
	command = "echo"
	args = ["{{item}}", "{{run.generation}}"]
	cache = "1h"
	[[routines.r.steps]]
	name = "same"
	type = "script"
	foreach = "$input.l"
	command = "echo"
	args = ["{{item}}", "{{run.routine}}"]
	cache = "1h"
	[[routines.r.steps]]
	name = "was"
	type = "script"
	foreach = "$input.l"
	command = "echo"
	args = ["{{previous.each.output}}"]
	when = { "$previous.each.output" = true }
	cache = "1h"
END
for _ in 1 2 3; do
	run_matins run -c g.toml r --json -p 'l:=["x"]'
done
json_is "a loop with the number of the run: it runs" \
	step_results[0].run.cached absent
json_is "a loop with the name of the routine: it is used again" \
	step_results[1].run.cached present
json_is "a loop with a result of the run before: it runs" \
	step_results[2].run.cached absent

cat >n.toml <<-'END'
	[[routines.r.steps]]
	name = "n"
	type = "routine"
	routine = "q"
	cache = "1h"
	[[routines.q.steps]]
	name = "a"
	type = "script"
	command = "true"
END
run_matins check n.toml
err_like "a routine is not cached as a whole" \
	'n.toml:5:9: `cache` is for steps that run a program or call a tool'

done_testing
