#!/usr/bin/env bash
# Servers of the official TypeScript SDK, of both eras, from the command line
# and by a routine: every kind of content, sign, question and list.
. "${BASH_SOURCE%/*}/lib.sh"

servers=$TOP/build/npm
[[ -n $NODE ]] || skip_all "node is not installed: make check-deps"
[[ -d $servers/node_modules/@modelcontextprotocol/server ]] ||
	skip_all "the SDK is not installed: make check"
_reachable "$servers/dual.mjs" || skip_all "the servers are out of reach"
dual=("$NODE" "$servers/dual.mjs")
handshake=("$NODE" "$servers/handshake.mjs")
modern=("$NODE" "$servers/dual.mjs" modern)

# ---- what a tool gives, in both eras ----

contents() {
	local date=$1

	run_matins call --protocol "$date" echo 'text=hé "x"' -- "${dual[@]}"
	out_is "$date: the text of a tool is printed" 'hé "x"'
	exit_is "$date: text: exit status 0" 0
	run_matins call --protocol "$date" blocks --json -- "${dual[@]}"
	json_is "$date: each type of content" content '#5' \
		content[0].text plain content[1].mimeType image/png \
		content[2].type audio content[3].resource.text in \
		content[4].uri test://b
	run_matins call --protocol "$date" blocks --save saved -- "${dual[@]}"
	exit_is "$date: bytes are saved" 0
	is "$date: the image as it was" \
		"$(head -c 4 saved/*.png | od -An -tx1)" ' 89 50 4e 47'
	rm -rf saved
	run_matins call --protocol "$date" structured --data -- "${dual[@]}"
	out_is "$date: structured content is printed" '{"n":42}'
	run_matins call --protocol "$date" fails -- "${dual[@]}"
	out_is "$date: a failed tool: its text" "it went wrong"
	isnt "$date: a failed tool: its status" "$status" 0
	run_matins call --protocol "$date" throws -- "${dual[@]}"
	out_is "$date: a tool that throws: its text" thrown
	run_matins call --protocol "$date" nope -- "${dual[@]}"
	isnt "$date: an unknown tool: its status" "$status" 0
	err_like "$date: an unknown tool is named" nope
	run_matins call --protocol "$date" echo -- "${dual[@]}"
	err_like "$date: a missing argument is told before" text
}

# ---- what it says meanwhile ----

signs() {
	local date=$1

	run_matins call --protocol "$date" progress -v -- "${dual[@]}"
	out_is "$date: progress does not disturb" "all parts"
	err_like "$date: progress is told, the last one always" '3/3'
	run_matins call --protocol "$date" change -- "${dual[@]}"
	out_is "$date: a changed list does not disturb" changed
	run_matins call --protocol "$date" slow --timeout 4s -v -- "${dual[@]}"
	err_like "$date: no answer in time" 'no answer to tools/call'
	err_like "$date: the server was told" 'slow: cancelled'
}

# ---- what it asks ----

questions() {
	local date=$1

	run_matins call --protocol "$date" ask --elicit accept \
		--elicit-content '{"name":"Ada"}' -- "${dual[@]}"
	out_is "$date: asked, accepted, a default filled in" "hello Ada, 7"
	run_matins call --protocol "$date" ask --elicit accept \
		--elicit-content '{"name":"Ada","age":36}' -- "${dual[@]}"
	out_is "$date: a question is accepted" "hello Ada, 36"
	run_matins call --protocol "$date" ask --elicit decline -- "${dual[@]}"
	out_is "$date: a question is declined" "no: decline"
	run_matins call --protocol "$date" ask --elicit accept -- "${dual[@]}"
	out_is "$date: a required value is missing" "no: cancel"
	run_matins call --protocol "$date" ask -- "${dual[@]}"
	isnt "$date: nothing was declared" "$status" 0
	mkdir -p "$T/folder"
	run_matins call --protocol "$date" roots --root "$T/folder" \
		--read "$T/folder" -- "${dual[@]}"
	out_is "$date: a root is told to the server" "file://$T/folder"
	run_matins call --protocol "$date" roots -- "${dual[@]}"
	isnt "$date: no root was declared" "$status" 0
	run_matins call --protocol "$date" sample -- "${dual[@]}"
	isnt "$date: no sampling was declared" "$status" 0
}

# ---- what it offers ----

lists() {
	local date=$1

	run_matins tools --protocol "$date" -- "${dual[@]}"
	out_like "$date: a tool is listed" '^echo — Echo'
	run_matins resources --protocol "$date" -- "${dual[@]}"
	out_like "$date: a resource is listed" '^test://note'
	out_like "$date: a template is listed" '^test://item/\{id\}'
	run_matins read --protocol "$date" test://note -- "${dual[@]}"
	out_is "$date: a resource is read" "a note"
	run_matins read --protocol "$date" test://item/5 -- "${dual[@]}"
	out_is "$date: one of a template" "item 5"
	run_matins read --protocol "$date" test://nope -- "${dual[@]}"
	err_like "$date: one that is not there" 'not found'
	run_matins prompts --protocol "$date" -- "${dual[@]}"
	out_like "$date: a prompt is listed" '^greet'
	run_matins prompt --protocol "$date" greet name=Bo -- "${dual[@]}"
	out_like "$date: a prompt with its argument" 'Greet Bo'
}

for date in 2025-11-25 2026-07-28; do
	contents "$date"
	signs "$date"
	questions "$date"
	lists "$date"
done

# ---- which era ----

run_matins call echo text=x -v -- "${dual[@]}"
err_like "both eras: the newer one is found" 'MCP 2026-07-28'
run_matins call echo text=x -v -- "${modern[@]}"
err_like "the newer alone: found" 'MCP 2026-07-28'
out_is "the newer alone: answers" x
run_matins call --protocol 2025-11-25 echo text=x -- "${modern[@]}"
err_like "the newer alone, an older one pinned" 'Unsupported protocol version'
run_matins call plain -v -- "${handshake[@]}"
err_like "the older alone: found" 'MCP 2025-11-25'
out_is "the older alone: answers" plain
run_matins call --protocol 2026-07-28 plain -- "${handshake[@]}"
err_like "the older alone, the newer pinned" 'does not speak 2026-07-28'

# ---- the older era: requests of the server, tasks, pages ----

run_matins call ping -- "${handshake[@]}"
out_is "its ping is answered" "pong came"
run_matins call roots -- "${handshake[@]}"
out_is "RW-60: roots are refused at once" "refused -32601"
run_matins call sample -- "${handshake[@]}"
out_is "RW-60: sampling is refused at once" "refused -32601"
run_matins call ask --elicit accept --elicit-content '{"name":"Ada"}' \
	-- "${handshake[@]}"
out_is "a question within a handshake session is answered" "hello Ada, 7"
run_matins call task -- "${handshake[@]}"
out_is "the result of a task" "from a task"
run_matins resources -- "${handshake[@]}"
out_is "three pages, an empty one between" 'test://a — a
test://b — b
test://c — c
test://d — d
test://e — e'

# ---- by a routine ----

sdk_step() {
	cat <<-END
		[[routines.r.steps]]
		name = "$1"
		type = "mcp-client"
		command = "$NODE"
		args = ["$servers/dual.mjs"]
		tool = "$1"
		protocol = "$2"
	END
}
for date in 2025-11-25 2026-07-28; do
	{
		sdk_step blocks "$date"
		sdk_step structured "$date"
		sdk_step fails "$date"
		sdk_step progress "$date"
	} >r.toml
	run_matins run -c r.toml r --json
	json_is "$date: by a routine" step_results '#4' \
		step_results[0].state ok \
		step_results[0].data.content '#5' \
		step_results[0].run.mcp.protocol "$date" \
		step_results[1].data.structuredContent.n 42 \
		step_results[2].state tool_error \
		step_results[3].output "all parts"
done

done_testing
