#!/usr/bin/env bash
# Results that are used again: `cache`.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

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
