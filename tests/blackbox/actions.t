#!/usr/bin/env bash
# Actions: `promote` writes them, `do` and steps of type action call them.
. "${BASH_SOURCE%/*}/lib.sh"

cat >offer.py <<-'END'
	import json, os, sys
	SIZE = {"enum": ["small", "large"], "type": "string"}
	TOOL = {"name": "order", "description": "Order a \u001b[31mdrink",
	        "inputSchema": {"type": "object", "$defs": {"size": SIZE},
	        "required": ["kind", "maxResults"],
	        "properties": {
	          "kind": {"type": "string", "description": "Of drink"},
	          "maxResults": {"type": "integer", "default": 10, "maximum": 99},
	          "size": {"$ref": "#/$defs/size"},
	          "hot": {"type": "boolean"},
	          "json": {"type": "object"},
	          "tags": {"type": "array", "items": {"type": "string"}}}}}
	if os.path.exists("changed"):
	    TOOL["description"] = "Order something else"
	if os.path.exists("gone"):
	    TOOL["name"] = "buy"
	for line in sys.stdin:
	    m = json.loads(line)
	    if "id" not in m:
	        continue
	    r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
	         "serverInfo": {"name": "s", "version": "1"}}
	    if m["method"] == "tools/list":
	        r = {"tools": [TOOL]}
	    if m["method"] == "tools/call":
	        a = m["params"].get("arguments", {})
	        r = {"content": [{"type": "text", "text": json.dumps(a, sort_keys=True)}],
	             "structuredContent": {"kind": a.get("kind")},
	             "isError": a.get("kind") == "gin"}
	    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
END
cat >matins.toml <<-END
	# a comment that stays
	[servers.shop]
	command = "$PYTHON"
	args = ["offer.py"]
	sandbox = { read = ["."] }
	[servers.broken]
	command = "sh"
	args = ["-c", "exit 3"]
END

# ---- promote ----

run_matins promote shop.order
exit_is "without a name: status 64" 64
run_matins promote shop.ordr --as drink
exit_is "an unknown tool: status 1" 1
file_unlike "and nothing is written" matins.toml actions
run_matins promote shop.order --as drink
exit_is "a tool is promoted: status 0" 0
out_like "the difference is shown" '^\+\[actions\.drink\]$'
file_like "the rest of the file stays" matins.toml '^# a comment that stays'
file_like "the description, on one line that a terminal may show" matins.toml \
	'^description = "Order a .*x1b.*drink"$'
file_like "the pin of the tool" matins.toml '^pin = "[0-9a-f]{64}"$'
file_like "what is required" matins.toml '^required = \["kind", "maxResults"\]$'
file_like "a parameter with its default" matins.toml \
	'^maxResults = \{ type = "integer", default = 10, maximum = 99 \}$'
file_like "one that the schema refers to" matins.toml \
	'^size = \{ enum = \["small", "large"\], type = "string" \}$'
run_matins check
exit_is "what was written is valid" 0
cp matins.toml before.toml
run_matins promote shop.order --as drink
exit_is "a name that is taken: status 1" 1
err_like "it says where" 'matins.toml:10: there is an action drink already'
file_is "and the file stays as it is" matins.toml before.toml

# ---- do ----

run_matins 'do'
out_like "the actions are listed" '^drink +Order a '
out_unlike "without control characters" $'\033'
run_matins 'do' drink --help
out_like "options of the parameters" '--max-results N +required \(default 10\)'
out_like "choices" '--size small\|large'
out_like "both signs of a flag" '--no-hot'
out_like "a name that the command has itself" '--param-json JSON'
run_matins 'do' drink --kind tea
exit_is "an action is called: status 0" 0
out_is "with its defaults" '{"kind": "tea", "maxResults": 10}'
run_matins 'do' drink --kind=tea --max-results 3 --no-hot --tags a --tags b \
	--size large --param-json '{"x":1}'
out_is "every option has its type" \
	'{"hot": false, "json": {"x": 1}, "kind": "tea", "maxResults": 3, "size": "large", "tags": ["a", "b"]}'
run_matins 'do' drink --kind tea --json
json_is "as JSON" success true code SUCCESS message '' structured.kind tea \
	output '~"kind": "tea"'
run_matins 'do' drink --kind gin --json
exit_is "the tool fails: status 2" 2
json_is "the tool fails: its code" success false code TOOL_ERROR
run_matins 'do' drink --kind gin
exit_is "the tool fails, as text: status 2" 2
cat >twins.toml <<-END
	[servers.shop]
	command = "$PYTHON"
	args = ["offer.py"]
	sandbox = { read = ["."] }
	[actions.twins]
	server = "shop"
	tool = "order"
	[actions.twins.params]
	kind = { type = "string" }
	maxResults = { type = "integer" }
	max_results = { type = "integer" }
	no_hot = { type = "string" }
	hot = { type = "boolean" }
	either = { anyOf = [{ type = "integer" }, { type = "string" }] }
	maybe = { type = ["integer", "null"] }
	"" = { type = "string" }
END
run_matins 'do' twins --kind a --max-results 1 --either 3 --maybe 4 -c twins.toml
out_like "a string wherever the schema takes one" '"either": "3".*"maybe": 4'
run_matins 'do' twins --help -c twins.toml
out_like "help says that it is one" '--either TEXT'
out_like "a number that may be null is a number" '--maybe N'
out_unlike "a parameter without a name is no option" '^ +-- '
run_matins 'do' twins --help -c twins.toml
out_like "two parameters of one option: the second has a number" \
	'--max-results-2 N +max_results;'
run_matins 'do' twins --kind a --max-results 1 --max-results-2 2 --no-hot x \
	--hot-2 -c twins.toml
out_is "each has its own value" \
	'{"hot": true, "kind": "a", "maxResults": 1, "max_results": 2, "no_hot": "x"}'
for wrong in '--max-results 3' '--kind tea --max-results 100' \
	'--kind tea --max-results many' '--kind tea --size huge'; do
	# shellcheck disable=SC2086
	run_matins 'do' drink $wrong --json
	exit_is "wrong parameters ($wrong): status 64" 64
	json_is "wrong parameters ($wrong): the code" code INVALID_PARAMS
done
run_matins 'do' drink --knd tea
exit_is "an unknown option: status 64" 64
err_like "an unknown option: the nearest" '--kind'
run_matins 'do' drink --wxyzw tea
err_like "without one: the help that lists those of the action" \
	'unknown option --wxyzw; .matins do drink --help. lists them'
run_matins 'do' drink --size huge --max-results 100
err_like "wrong parameters: all of them are told" \
	'missing required "kind".*must be at most 99.*"small"'
run_matins 'do' drnk --kind tea
exit_is "an unknown action: status 1" 1
err_like "an unknown action: the nearest" 'did you mean drink'
run_matins 'do' drink --knd tea --json
exit_is "an unknown option, as JSON: status 64" 64
json_is "an unknown option, as JSON" success false code INVALID_PARAMS \
	message '~--kind' output '' structured null error absent
run_matins 'do' drnk --json
exit_is "an unknown action, as JSON: status 1" 1
json_is "an unknown action, as JSON" success false code SERVER_NOT_FOUND \
	message '~did you mean drink'
run_matins 'do' drink too many --json
json_is "too many words, as JSON" code INVALID_PARAMS
run_matins 'do' drink --kind tea --json -c nowhere.toml
json_is "no configuration, as JSON" success false message '~nowhere.toml'
run_matins 'do' --json --knd
json_is "without an action the error has the form of all" error.kind usage
run_matins __complete 'do' ''
out_like "completion knows the actions" '^drink'
run_matins __complete 'do' drink --size ''
out_is "and the choices of their options" 'small
large'

# ---- what can be refused ----

printf '\n[actions.away]\nserver = "broken"\ntool = "t"\n' >>matins.toml
run_matins 'do' away --json
exit_is "a server that fails: status 1" 1
json_is "a server that fails: its code" code CONNECTION_ERROR
sed 's/^sandbox = .*/&\ndeny_tools = ["order"]/' matins.toml >denied.toml
run_matins 'do' drink --kind tea --json -c denied.toml
exit_is "a tool that bounds forbid: status 1" 1
json_is "a tool that bounds forbid: its code" code DENIED message '~deny_tools'

# ---- numbers that TOML does not have ----

sed -e 's/"hot": {"type": "boolean"}/"hot": True/' -e 's/"default": 10, "maximum": 99/\
	"default": 12345678901234567890, "minimum": 1, "maximum": 18446744073709551615/' \
	offer.py >far.py
cat >far.toml <<-END
	[servers.far]
	command = "$PYTHON"
	args = ["far.py"]
	sandbox = { read = ["."] }
END
run_matins promote far.order --as far -c far.toml
exit_is "a default beyond the integers of TOML: status 0" 0
err_like "the parameter and the key are named" 'maxResults: its "default" holds'
file_like "the other keys of the parameter stay" far.toml \
	'^maxResults = \{ type = "integer", minimum = 1 \}$'
run_matins 'do' far --kind tea --max-results 12345678901234567890 -c far.toml
out_like "such a value is passed as it is" '"maxResults": 12345678901234567890'

# ---- steps ----

cat >>matins.toml <<-'END'

	[[routines.r.steps]]
	name = "one"
	type = "action"
	action = "drink"
	params = { kind = "tea", maxResults = 5 }
	[[routines.r.steps]]
	name = "two"
	type = "action"
	action = "drink"
	params = { kind = "$steps.one.data.structuredContent.kind" }
END
run_matins run r --json
exit_is "a step calls an action: status 0" 0
json_is "with its params" step_results[0].output '{"kind": "tea", "maxResults": 5}' \
	step_results[0].state ok
json_is "with references, and defaults of the action" \
	step_results[1].output '{"kind": "tea", "maxResults": 10}'
sed 's/action = "drink"/action = "drnk"/' matins.toml >wrong.toml
run_matins check wrong.toml
exit_is "a step of no action: status 1" 1
err_like "a step of no action: the nearest" 'there is no action "drnk"; did you mean "drink"'
sed 's/^server = "shop"/server = "shp"/' matins.toml >wrong.toml
run_matins check wrong.toml
err_like "an action of no server" 'there is no server "shp"; did you mean "shop"'
run_matins 'do' drink --kind tea --json -c wrong.toml
exit_is "an action of no server is not called: status 1" 1
json_is "an action of no server is not called: its code" \
	code SERVER_NOT_FOUND message '~did you mean "shop"'

# ---- a tool that is no longer what it was ----

touch changed
run_matins 'do' drink --kind tea --json
exit_is "another tool than was promoted: status 1" 1
json_is "another tool: its code, and how to accept it" code DENIED \
	message '~write pin = '
run_matins run r --json
json_is "a step is denied, too" step_results[0].state denied step_results[0].reason pin
run_matins sync shop
touch -d '+1 hour' matins.toml
touch gone
run_matins sync shop
run_matins check
err_like "check says that the tool of an action is gone" \
	'matins.toml:10:.*no tool order since'
run_matins doctor r
out_like "doctor says it of steps" 'no tool order since'
run_matins doctor
out_like "doctor says it of actions" 'action drink +shop has no tool order since'
run_matins 'do' drink --kind tea --json
exit_is "a call of it: status 2" 2
json_is "a call says it" code TOOL_ERROR message '~no tool order since 20[0-9-]{8}; it seems to be buy$'

done_testing
