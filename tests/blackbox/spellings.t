#!/usr/bin/env bash
# Routines as durable_workflow, dagu and conductor spell them, and step types of
# modulex that `matins brief` does.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# step TYPE LINES...: the file r.toml, a routine of one such step
step() {
	printf '[[routines.r.steps]]\ntype = "%s"\n' "$1" >r.toml
	printf '%s\n' "${@:2}" >>r.toml
}

# says NAME LINE TEXT: check finds just that error there
says() {
	run_matins check r.toml
	exit_is "$1: an error" 1
	err_like "$1: said with the place" "^r\.toml:$2:1: $3"
	err_like "$1: it is the only one" '^r\.toml: 1 error$'
}

# ---- durable_workflow ----

cat >durable.toml <<-'END'
	[mcp_servers.clock]
	transport = "stdio"
	command = ["matins", "brief"]

	[routines.r]
	description = "what is due"

	[[routines.r.steps]]
	id = "ask the clock"
	type = "mcp"
	server = "clock"
	tool = "deadlines"
	arguments = { today = "$input.day", items = [{ title = "tax", date = "2026-12-31" }] }
	output = "dates"
	next = "again"

	[[routines.r.steps]]
	id = "again"
	type = "mcp"
	transport = "stdio"
	command = ["matins", "brief"]
	tool = "deadlines"
	output = "more"
	[routines.r.steps.arguments]
	today = "2026-12-01"
	items = [
		{ title = "$dates", date = "2026-12-02" },
		{ title = "on $input.day: ${dates}; $dates.", date = "2026-12-03" },
	]

	[[routines.r.steps]]
	id = "print"
	type = "script"
	command = "printf"
	args = ["%s|%s|%s", "$more", "cost $5, $dates_, ${dates", "$$dates"]
END
run_matins check durable.toml
exit_is "durable_workflow: check" 0
is "durable_workflow: without a word" "$(<"$err")" ""
run_matins run -c durable.toml r -p day=2026-12-30 --json
exit_is "durable_workflow: exit status 0" 0
tax="2026-12-31 tax: in 1 day"
more="2026-12-02 $tax: in 1 day
2026-12-03 on 2026-12-30: $tax; $tax.: in 2 days"
json_is "durable_workflow: the tool answers" \
	step_results[0].step_name "ask the clock" \
	step_results[0].step_type mcp-client step_results[0].output "$tax"
json_is "durable_workflow: a name of an output is that output" \
	step_results[1].output "$more"
json_is "durable_workflow: other words behind a \$ stay" \
	step_results[2].output "$more|cost \$5, \$dates_, \${dates|\$dates"
run_matins graph -c durable.toml r
out_like "durable_workflow: a name of an output is a need" '^    needs ask the clock'
sed 's/ "\$dates"/ "$dates.a[0]"/' durable.toml >path.toml
run_matins run -c path.toml r -p day=2026-12-30 --json
json_is "durable_workflow: a path goes into the output read as JSON" \
	step_results[1].reason reference step_results[1].error '~has no "json", because its output is not JSON: "2026.*; it has'
sed '/^output = "dates"/d' durable.toml >none.toml
run_matins run -c none.toml r -p day=2026-12-30 --json
json_is "without its output the name is a text" \
	step_results[1].output '~^2026-12-02 \$dates: in 1 day'
modules=$TOP/build/npm/node_modules/@modelcontextprotocol
if [[ -n $NODE && -d $modules ]]; then
	cat >npm.toml <<-END
		[mcp_servers.all]
		transport = "stdio"
		command = ["$NODE", "$modules/server-everything/dist/index.js", "stdio"]
		[[routines.r.steps]]
		id = "one"
		type = "mcp"
		server = "all"
		tool = "echo"
		arguments = { message = "\$input.text" }
		output = "said"
		[[routines.r.steps]]
		id = "two"
		type = "mcp"
		server = "all"
		tool = "echo"
		arguments = { message = "\$said" }
	END
	run_matins run -c npm.toml r -p text=héllo --json
	exit_is "durable_workflow: a server of others" 0
	json_is "durable_workflow: a server of others is called by both" \
		step_results[1].output "Echo: Echo: héllo" \
		step_results[1].run.session_of one
else
	skip "durable_workflow: a server of others" "npm's servers are not there"
fi

# what a name gives is data, as any reference
step script 'name = "said"' 'command = "printf"' 'args = ["%s", "-rf"]' 'output = "said"' \
	'[[routines.r.steps]]' 'name = "option"' 'type = "script"' \
	'command = "ls"' 'args = ["$said"]' \
	'[[routines.r.steps]]' 'name = "code"' 'type = "script"' \
	'command = "sh"' 'args = ["-c", "echo $said"]'
run_matins run -c r.toml r --json
json_is "an output is no option" step_results[1].reason reference \
	step_results[1].error '~begins with "-"'
json_is "an output is no code of a shell" step_results[2].state denied \
	step_results[2].reason policy

# ---- conductor and dagu ----

cat >others.toml <<-'END'
	[[routines.r.steps]]
	taskReferenceName = "list_ref"
	type = "harness"
	command = "echo"
	args = ['{"items":[{"id":7}],"n":1e400}']
	[[routines.r.steps]]
	name = "third"
	type = "script"
	command = "pwd"
	depends = ["list_ref"]
	timeoutSec = 5
	dir = "there"
	sandbox = { read = ["there"] }
	[[routines.r.steps]]
	name = "second"
	type = "script"
	command = "echo"
	args = ["${list_ref.output.items[0].id}", "${list_ref.output}", "n is ${list_ref.output.n} for ${workflow.input.who}"]
END
mkdir there
run_matins run -c others.toml r -p who=me --json
exit_is "conductor and dagu: exit status 0" 0
json_is "conductor: references of a task, byte for byte" step_results[2].output \
	'7 {"items":[{"id":7}],"n":1e400} n is 1e400 for me'
json_is "dagu: a folder" step_results[1].output "$T/there"
for depends in '["list_ref"]' '"list_ref"'; do
	sed "s/\"echo\"/\"false\"/; s/^depends = .*/depends = $depends/" \
		others.toml >fails.toml
	run_matins run -c fails.toml r -p who=me --json
	json_is "dagu: depends = $depends stops the step" \
		step_results[1].reason needs
done

# ---- an alias beside its own key, and what differs ----

# rows ERE: section, key and own key of the rows whose own key is like this
rows() {
	run_matins steps --md
	awk -F ' [|] ' -v like="$1" '/^## / { is = /Spellings/ }
		is && NF == 5 && /`/ && $4 ~ like {
			sub(/^[|] /, "", $1)
			gsub(/`|differs: /, "", $2)
			gsub(/`|differs: /, "", $4)
			print $1, $2, $4 }' "$out"
}
rows '^`' >same.txt
ok "there are spellings" test "$(wc -l <same.txt)" -gt 10
while read -r of key own; do
	[[ $of == step && -n $key && $own != "$key" && $own != '$steps' &&
		$key != transport && $key != next ]] || continue
	step mcp 'server = "s"' 'tool = "t"' "$own = 1" "$key = 1"
	run_matins check r.toml
	err_like "$key beside $own: names both" \
		"^r\.toml:6:1: \"$key\" and \"$own\" say the same; keep one"
done <same.txt
step mcp 'name = "a"' 'args = []' 'tool = "t"' 'command = ["x", "y"]'
says "arguments twice" 6 '"command" and "args" say the same; keep one'
rows '^differs' >differs.txt
{
	echo '[routines.r]'
	sed -n 's/^routine \([^ ]*\).*/\1 = "x"/p' differs.txt
	printf '%s\n' '[[routines.r.steps]]' 'name = "a"' 'type = "script"' \
		'command = "x"'
	sed -n 's/^step \([^ ]*\).*/\1 = "x"/p' differs.txt
} >differs.toml
run_matins check differs.toml
exit_is "what differs: errors" 1
is "what differs: each has one" \
	"$(grep -c '^differs.*" (.*) is not understood here: ' "$err")" \
	"$(wc -l <differs.txt)"
err_like "what differs: what to write" \
	'^differs\.toml:[0-9]+:1: "continueOn" \(dagu\) is not understood here: a step that does not'
run_matins check --lax differs.toml
exit_is "what differs, --lax: warnings" 0
step script 'name = "a"' 'command = ["make", "make install"]'
run_matins check r.toml
err_like "a list of commands is no program with arguments" \
	'^r\.toml:4:1: "command" .*write command = "PROGRAM"'
step script 'name = "a"' 'command = "x"' 'next = "b"'
says "next is not the step behind" 5 '"next" \(durable_workflow\) is not'
for name in input steps a-b 1a '' ; do
	step script 'name = "a"' 'command = "x"' "output = \"$name\""
	says "output = \"$name\"" 5 '"output" is a name that no other step gives'
done
step script 'name = "a"' 'command = "x"' 'output = "z"' \
	'[[routines.r.steps]]' 'name = "b"' 'type = "script"' 'command = "x"' 'output = "z"'
says "output of two steps" 5 '"output" is a name that no other step gives'
step script 'name = "a"' 'command = "x"' 'transport = "http"'
says "transport of another kind" 5 'unknown key "transport"'

step script 'name = "a"' 'command = "echo"' 'args = ["x ${workflow.input.k}"]'
run_matins check r.toml
err_like "an input of conductor, where no task has a name for references" \
	'^r.toml:5:9: "[$]{workflow.input.k}" has no value here: write "[$]input.k"'
step script 'taskReferenceName = "a"' 'command = "echo"' 'args = ["${workflow.input.k}"]'
run_matins check r.toml
exit_is "its twin has a name for references" 0

# what is advised for on_error holds for every way to fail
tool_server fails.py <<-'END'
	text, bad = "no", True
END
step script 'name = "a"' 'command = "x"' 'on_error = "b"'
run_matins check r.toml
advised=$(grep -o 'when = { .* }' "$err")
{
	plain failed false
	plain timeout sleep 'args = ["20"]' 'timeout = "100ms"'
	plain denied printf 'args = ["x"]' \
		'sandbox = { programs = { printf = { args = ["y"] } } }'
	printf '[[routines.r.steps]]\nname = "tool_error"\ntype = "mcp-client"\n'
	printf 'command = "python3"\nargs = ["%s"]\ntool = "t"\n' "$T/fails.py"
	plain good true
	for name in failed timeout denied tool_error good; do
		plain "on $name" true "${advised//NAME/$name}"
	done
} >on_error.toml
run_matins run -c on_error.toml r --json
for i in 0 1 2 3; do
	name=$(json_get "step_results[$i].step_name")
	json_is "on_error: $name is its state, and the advised handler runs" \
		"step_results[$i].state" "$name" "step_results[$((i + 5))].state" ok
done
json_is "on_error: after a success it is skipped" \
	step_results[9].state skipped step_results[9].reason condition

cat >dagu.toml <<-'END'
	name = "x"
	schedule = "0 7 * * *"
	params = ["DATE=1"]
	steps = []
	[[routines.r.tasks]]
	name = "a"
	command = "echo"
	[[routines.r.tasks]]
	name = "b"
	tool = "t"
	[[routines.r.tasks]]
	name = "c"
	type = "HTTP"
	[[routines.r.tasks]]
	name = "d"
	type = "approve"
	message = "go on?"
	command = "echo"
	[[routines.r.tasks]]
	name = "e"
	type = "routine"
	routine = "q"
	args = []
	[[routines.r.tasks]]
	name = "f"
	type = "python"
	script = "x.py"
	command = "python3"
	[routines.q]
	steps = []
END
run_matins check dagu.toml
for line in '1:1: "name" .*\[routines\.NAME\]' '2:1: "schedule" .*cron' \
	'3:1: "params" is a key of a routine' '4:1: "steps" is a key of a routine' \
	'5:1: .*lacks "type"; write type = "script"' \
	'8:1: .*lacks "type"; write type = "mcp-client"' \
	'13:8: unknown step type "HTTP"; .*curl' \
	'14:1: .*approve has no "command"; .*a step of its own' \
	'19:1: .*routine has no "args"; the steps of its routine' \
	'24:1: .*python has no "command"; the program is "interpreter"$'; do
	err_like "of others: $line" "^dagu\.toml:$line"
done
err_like "of others: no more than these" '^dagu\.toml: 10 errors, 1 warning$'

run_matins schema
ok "the schema is JSON" python3 -m json.tool "$out"
while read -r of key own; do
	ok "the manual has $key" grep -q "^\.It Li $key\$" "$TOP/core/cli/matins.1"
done < <(cat same.txt differs.txt)

# ---- step types of modulex ----

if ! command -v git >/dev/null; then
	skip "step types of modulex" "git is not installed"
	done_testing
	exit
fi
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir -p "$HOME/src"
git init -q -b main "$HOME/src/a"
git init -q -b other "$HOME/src/b"
cat >modulex.toml <<-'END'
	[identity]
	username = "me"
	[shared]
	repos = ["~/src/a"]
	[board]
	path = "~/board"
	[[deadlines]]
	label = "a \"quoted\" talk"
	date = "9999-07-01"
	notes = "room $5"
	[[countdowns]]
	label = "ramp"
	start_date = "1970-01-05"
	end_date = "9999-12-31"
	total_work_days = 30
	[routines.morning]
	description = "as it was"
	[[routines.morning.steps]]
	name = "tend"
	type = "git-tend"
	parallel = true
	[[routines.morning.steps]]
	name = "trees"
	type = "git-status"
	parallel = true
	env = { TOKEN = { cmd = "pass show nothing" } }
	[[routines.morning.steps]]
	name = "unpushed"
	type = "git-unpushed"
	repos = ["~/src/b"]
	parallel = true
	[[routines.morning.steps]]
	name = "dates"
	type = "deadline-calc"
	[[routines.morning.steps]]
	name = "ramp"
	type = "countdown-calc"
	[[routines.morning.steps]]
	name = "queue"
	type = "gitlab-mr-review"
	env = { GITLAB_TOKEN = { cmd = "pass show gitlab/token" } }
	[[routines.morning.steps]]
	name = "board"
	type = "board-scan"
	[[routines.morning.steps]]
	name = "briefing"
	type = "harness"
	command = "no-such-assistant"
	args = ["briefing", "--json"]
	timeout = 120
	env = { PA_TOKEN = { file = "~/.keys/pa-token" } }
	[[routines.morning.steps]]
	name = "weather"
	type = "script"
	command = "~/bin/weather.sh"
	timeout = 30
END
mkdir -p "$HOME/bin"
printf '#!/bin/sh\necho sunny\n' >"$HOME/bin/weather.sh"
chmod 755 "$HOME/bin/weather.sh"
run_matins run -c modulex.toml morning --json
exit_is "modulex: exit status 0" 0
json_is "modulex: its own steps are done by matins brief" step_results '#9' \
	step_results[1].output "a: main, no commit yet; clean" \
	step_results[2].output "b: other, no commit yet; clean" \
	step_results[3].output '~^9999-07-01 a "quoted" talk: in [0-9]+ days — room \$5$' \
	step_results[4].output '~^9999-12-31 ramp: in [0-9]+ days, work day [0-9]+ of 30$'
json_is "modulex: the others are skipped with a pointer" \
	step_results[0].reason unsupported step_results[5].reason unsupported \
	step_results[6].reason unsupported step_results[7].reason no_command \
	step_results[8].output sunny
json_is "modulex: each step may read its own folders only" \
	step_results[1].run.server matins step_results[1].run.tool repos
sed 's/"~\/src\/b"\]/"~\/src\/b"]\nsandbox = { read = ["~\/src\/a"] }/' modulex.toml >own.toml
run_matins run -c own.toml morning --only unpushed --json
json_is "modulex: a sandbox of the step joins its folders" \
	step_results[2].state ok step_results[2].output '~^b: other'
sed 's/^repos = \["~\/src\/b"\]/sandbox = { read = ["~\/src\/b"] }/; s/"git-unpushed"/"mcp-client"\ncommand = "matins"\nargs = ["brief"]\ntool = "repos"\nparams.paths = ["~\/src\/a"]/' modulex.toml >other.toml
run_matins run -c other.toml morning --only unpushed --json
json_is "modulex: what neither names is not seen" \
	step_results[2].output '~src/a: .*a routine must grant it'
sed 's/^sandbox = { read.*/sandbox = { read = "x" }/' own.toml >bad.toml
run_matins check bad.toml
err_like "modulex: a sandbox that is wrong is told" 'bad.toml:[0-9]+:[0-9]+: .*read'
sed 's/^notes = .*/notes = "$input.x"\nend_date = "9999-08-01"/; s/a \\"quoted\\" talk/{{steps.tend.output}}{{{ $$/; s/^total_work.*/&\ndisplay = "bar"/' \
	modulex.toml >texts.toml
run_matins run -c texts.toml morning --only dates --json
json_is "modulex: a text of it is no reference" \
	step_results[3].output '~^9999-07-01 {{steps.tend.output}}{{{ [$][$]: .* [$]input.x$'
run_matins check texts.toml
err_like "modulex: the end of a deadline is not used" \
	'^texts.toml:[0-9]+:1: .*"end_date" of \[\[deadlines\]\] is not used'
err_like "modulex: nor how a countdown is shown" \
	'^texts.toml:[0-9]+:1: .*"display" of \[\[countdowns\]\] is not used'
run_matins check modulex.toml
err_unlike "modulex: its twin has all that is used" 'is not used'
MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":{"only":["git"]},"net":"all","max_calls":"unlimited","valid_for_generation":"all"}' \
	run_matins run -c modulex.toml morning --only dates --json
json_is "modulex: an explicit leash holds for them" \
	step_results[3].state denied step_results[3].reason leash
for c in "list" "list morning" "check" "doctor morning" "graph morning" \
	"run morning --dry-run" "run morning --only dates"; do
	read -ra words <<<"$c"
	[[ ${words[0]} == check ]] && words+=(modulex.toml) || words+=(-c modulex.toml)
	run_matins "${words[@]}"
	# the assistant and its credential are missing
	exit_is "modulex: matins $c" "$([[ $c == doctor* ]] && echo 1 || echo 0)"
done
sed '/^repos/d; /^\[\[deadlines/,/^notes/d' modulex.toml >empty.toml
run_matins run -c empty.toml morning --json
json_is "modulex: without repositories or dates, skipped with the pointer" \
	step_results[1].reason unsupported step_results[2].reason unsupported \
	step_results[3].error '~tool = "deadlines"'
sed 's/9999-07-01/soon/' modulex.toml >soon.toml
run_matins run -c soon.toml morning --only dates --json
json_is "modulex: no date is an error of the tool" \
	step_results[3].state tool_error step_results[3].output '~must be a date'

done_testing
