#!/usr/bin/env bash
# Steps of type python: one JSON object on stdin, one on stdout.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# plugin NAME [LINES...]: a step that runs NAME.py
plugin() {
	local name=$1

	shift
	printf '[[routines.r.steps]]\nname = "%s"\ntype = "python"\nscript = "%s.py"\n' \
		"$name" "$name"
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

cat >echo.py <<-'END'
	import json, sys
	r = json.load(sys.stdin)
	assert r["protocol"] == "modulex-plugin/1"
	json.dump({"protocol": r["protocol"], "success": True,
	           "output": "gen %d" % r["generation"], "data": r}, sys.stdout)
END
cat >bare.py <<-'END'
	import sys
	sys.stdin.read()
	print('{"repo_results": [], "n": 123456789012345678901234567890}')
END
cat >args.py <<-'END'
	import json, sys
	print(json.dumps({"output": " ".join(sys.argv[1:])}))
END
cat >fails.py <<-'END'
	print('{"success": false, "error": "no notes today", "output": "half", "data": [1]}')
END
cat >skips.py <<-'END'
	print('{"skipped": true, "output": "nothing to do"}')
END
cat >list.py <<-'END'
	print('[1]')
END
cat >exits.py <<-'END'
	import sys
	print('{"success": true}')
	sys.exit(3)
END
{
	cat <<-'END'
		[shared]
		repos = ["~/a"]
		[identity]
		username = "someone"
	END
	plugin echo 'params = { k = "$input.k", n = 1.50 }' 'timeout = 60' \
		'env = { KEY = { env = "SECRET_OF_TEST" } }'
	plugin bare "interpreter = \"$PYTHON\""
	plugin args 'args = ["$steps.echo.data.step.name", "b c"]'
	plugin fails
	plugin skips
	plugin list
	plugin exits
	plugin later 'script = "echo.py"' 'params = { all = "$steps.bare.data" }' |
		sed '/later.py/d'
	plugin each 'script = "args.py"' 'args = ["$item"]' 'foreach = "$steps.fails.data"' |
		sed '/each.py/d'
} >r.toml
SECRET_OF_TEST=hunter2hunter2 run_matins run -c r.toml r -p k=007 --json
json_is "a plugin reads its request" \
	step_results[0].state ok step_results[0].output 'gen 1' \
	step_results[0].data '{"protocol":"modulex-plugin/1","generation":1,"dry_run":false,"step":{"name":"echo","type":"python","timeout":60,"repos":[],"params":{"k":"007","n":1.5}},"shared":{"repos":["~/a"],"identity":{"username":"someone","gitlab_host":""}}}'
json_is "a plugin without data: all that it prints is the data" \
	step_results[1].output '' \
	step_results[1].data '{"repo_results": [], "n": 123456789012345678901234567890}'
json_is "a plugin has arguments behind its script" \
	step_results[2].output 'echo b c'
json_is "a plugin that fails says why" step_results[3].reason is_error \
	step_results[3].error 'no notes today' step_results[3].data '[1]'
json_is "a plugin may skip itself" step_results[4].state skipped \
	step_results[4].reason condition \
	step_results[4].error 'the plugin skipped itself: nothing to do'
json_is "a plugin that prints no object" step_results[5].reason not_json
json_is "a plugin whose exit is a failure" step_results[6].reason exit_status
json_is "a plugin gets the data of another as it is" \
	step_results[7].data.step.params.all.n 123456789012345678901234567890
json_is "a plugin for each element, of a step that failed" step_results[8].reason needs

{
	plugin a 'command = "python3"'
	printf '[[routines.r.steps]]\nname = "b"\ntype = "python"\nscirpt = "x.py"\n'
} >bad.toml
run_matins check bad.toml
exit_is "a plugin with a command: an error" 1
err_like "a plugin with a command: which key it is" 'no "command"; the program is "interpreter"'
err_like "a plugin without a script" 'unknown key "scirpt"; did you mean "script"\?'

# what data says is no script
{
	printf '[[routines.r.steps]]\nname = "a"\ntype = "python"\nscript = "{{input.x}}.py"\n'
} >inject.toml
cp args.py '{{input.x}}.py'
run_matins run -c inject.toml r -p x=fails --json
json_is "a reference in a script is none" step_results[0].state ok step_results[0].output ''

done_testing
