#!/usr/bin/env bash
# The official MCP servers, run by routines inside the gate. For each thing
# allowed, one beside it denied.
. "${BASH_SOURCE%/*}/lib.sh"

modules=$TOP/build/npm/node_modules/@modelcontextprotocol
[[ -n $NODE ]] || skip_all "node is not installed: make check-deps"
[[ -d $modules ]] || skip_all "the servers are not installed: make check"

# server NAME ARG LINES...: a [servers.NAME] table
server() {
	local name=$1 args=$2

	shift 2
	cat <<-END
		[servers.$name]
		command = "$NODE"
		args = ["$modules/server-$name/dist/index.js"$args]
	END
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

# call STEP SERVER TOOL [PARAMS LINES...]: a step of the routine `r`
call() {
	cat <<-END
		[[routines.r.steps]]
		name = "$1"
		type = "mcp-client"
		server = "$2"
		tool = "$3"
		params = ${4-{\}}
	END
	shift $(($# < 4 ? $# : 4))
	(($# == 0)) || printf '%s\n' "$@"
	echo
}

# ---- everything ----

export SHOULD_NOT_BE_SEEN=in-the-environment
{
	server everything ', "stdio"'
	call echo everything echo '{ message = "héllo \u0001" }'
	call sum everything get-sum '{ a = 2, b = 40 }'
	call structured everything get-structured-content \
		'{ location = "Chicago" }'
	call image everything get-tiny-image
	call links everything get-resource-links '{ count = 2 }'
	call annotated everything get-annotated-message \
		'{ messageType = "error", includeImage = true }'
	call environment everything get-env
	call long everything trigger-long-running-operation \
		'{ duration = 1, steps = 4 }'
	call missing everything no-such-tool
	call wrong everything get-sum '{ a = "two" }'
} >r.toml
run_matins run -c r.toml r --json -v
exit_is "everything: exit status 2, for the two wrong calls" 2
json_is "everything: echo answers with the text it got" step_results[0].state ok \
	step_results[0].data.content[0].type text \
	step_results[0].output '~^Echo: héllo'
json_is "everything: get-sum adds two numbers" step_results[1].output '~42'
json_is "everything: structured content reaches the report" \
	step_results[2].data.structuredContent.temperature present \
	step_results[2].data.structuredContent.humidity present
json_is "everything: an image block is whole" \
	step_results[3].data.content[1].type image \
	step_results[3].data.content[1].mimeType image/png \
	step_results[3].output '~\[image image/png'
json_is "everything: resource links reach the report" \
	step_results[4].data.content[1].type resource_link \
	step_results[4].data.content[2].uri present
json_is "everything: annotations are kept" \
	step_results[5].data.content[0].annotations.priority present
json_is "everything: progress does not disturb" step_results[7].state ok
json_is "everything: the environment is empty but for a few" \
	step_results[6].state ok \
	step_results[6].output '!~SHOULD_NOT_BE_SEEN' \
	step_results[6].output '~"HOME"'
file_lacks "everything: our environment did not get in" "$out" \
	in-the-environment
json_is "everything: an unknown tool is a failure" \
	step_results[8].success false
json_is "everything: wrong arguments are a failure" \
	step_results[9].success false
json_is "everything: revision and gate are in the report" \
	step_results[0].run.mcp.protocol 2025-11-25

# ---- filesystem ----

# The server itself would serve all of $T; the gate decides what it may touch.
mkdir granted outside readable
echo "you may read this" >granted/in.txt
echo "you may read this, too" >readable/in.txt
echo "not this" >outside/secret.txt
chmod 777 granted outside
chmod 666 outside/secret.txt granted/in.txt
fs() {
	server filesystem ", \"$T\"" "sandbox = { read = [\"$T/readable\"], \
write = [\"$T/granted\"] }"
}
{
	fs
	call read filesystem read_text_file "{ path = \"$T/granted/in.txt\" }"
	call read-only filesystem read_text_file \
		"{ path = \"$T/readable/in.txt\" }"
	call read-outside filesystem read_text_file \
		"{ path = \"$T/outside/secret.txt\" }"
	call write filesystem write_file \
		"{ path = \"$T/granted/new.txt\", content = \"written\" }"
	call write-read-only filesystem write_file \
		"{ path = \"$T/readable/new.txt\", content = \"no\" }"
	call write-outside filesystem write_file \
		"{ path = \"$T/outside/new.txt\", content = \"no\" }"
	call overwrite-outside filesystem write_file \
		"{ path = \"$T/outside/secret.txt\", content = \"no\" }"
	call mkdir filesystem create_directory "{ path = \"$T/granted/dir\" }"
	call mkdir-outside filesystem create_directory \
		"{ path = \"$T/outside/dir\" }"
	call move-out filesystem move_file \
		"{ source = \"$T/granted/in.txt\", destination = \"$T/outside/in.txt\" }"
	call list filesystem list_directory "{ path = \"$T/granted\" }"
} >r.toml
run_matins run -c r.toml r --json
exit_is "filesystem: exit status 2, for the denied ones" 2
json_is "filesystem: read in the granted folder" step_results[0].state ok \
	step_results[0].output '~^you may read this'
json_is "filesystem: read in the readable folder" step_results[1].state ok \
	step_results[1].output '~^you may read this, too'
json_is "filesystem: no read outside" step_results[2].state tool_error
file_lacks "filesystem: nothing of the secret" "$out" "not this"
json_is "filesystem: write in the granted folder" step_results[3].state ok
is "filesystem: what was written is on disk" "$(cat granted/new.txt)" written
json_is "filesystem: no write in the readable folder" \
	step_results[4].state tool_error
not_ok "filesystem: nothing was created there" test -e readable/new.txt
json_is "filesystem: no write outside" step_results[5].state tool_error
not_ok "filesystem: nothing was created outside" test -e outside/new.txt
json_is "filesystem: no overwriting outside" step_results[6].state tool_error
is "filesystem: the file outside is as it was" \
	"$(cat outside/secret.txt)" "not this"
json_is "filesystem: make a folder in the granted one" step_results[7].state ok
ok "filesystem: the folder is there" test -d granted/dir
# $T lies in /tmp, so the server may have made one in its private /tmp.
not_ok "filesystem: no folder outside" test -e outside/dir
json_is "filesystem: no move to the outside" step_results[9].state tool_error
ok "filesystem: the file was not moved" test -e granted/in.txt
json_is "filesystem: list the granted folder" \
	step_results[10].output '~in\.txt'

# ---- memory ----

mkdir graph
chmod 777 graph
entity='{ entities = [{ name = "matins", entityType = "office", observations = ["at night"] }] }'
memory() {
	cat <<-END
		[servers.memory]
		command = "$NODE"
		args = ["$modules/server-memory/dist/index.js"]
		env = { MEMORY_FILE_PATH = { env = "GRAPH" } }
	END
	(($# == 0)) || printf '%s\n' "$@"
	echo
}
{
	memory "sandbox = { write = [\"$T/graph\"] }"
	call remember memory create_entities "$entity"
	call recall memory search_nodes '{ query = "office" }'
} >r.toml
GRAPH=$T/graph/memory.json run_matins run -c r.toml r --json
exit_is "memory: exit status 0" 0
json_is "memory: a second process finds what the first stored" \
	step_results[1].state ok step_results[1].output '~at night'
file_has "memory: its file is in the granted folder" graph/memory.json \
	'"office"'
{
	memory
	call remember memory create_entities "$entity"
} >r.toml
GRAPH=$T/graph/other.json run_matins run -c r.toml r --json
exit_is "memory: without the grant: exit status 2" 2
json_is "memory: without the grant: the server cannot store" \
	step_results[0].success false
not_ok "memory: without the grant: no file" test -e graph/other.json

# ---- sequential-thinking ----

{
	server sequential-thinking ''
	call think sequential-thinking sequentialthinking \
		'{ thought = "so far", nextThoughtNeeded = false, thoughtNumber = 1, totalThoughts = 1 }'
	call not-a-number sequential-thinking sequentialthinking \
		'{ thought = 7 }'
} >r.toml
run_matins run -c r.toml r --json
json_is "sequential-thinking: a thought is counted" step_results[0].state ok \
	step_results[0].output '~"thoughtNumber": 1'
json_is "sequential-thinking: a wrong one is a failure" \
	step_results[1].success false

# ---- all together, as root and as a user, with and without namespaces ----

for isolate in auto off; do
	{
		printf '[sandbox]\nisolate = "%s"\n\n' $isolate
		# the last argument marks them as processes of this test
		server everything ", \"stdio\", \"$T\""
		fs
		server sequential-thinking ", \"$T\""
		call a everything echo '{ message = "one" }' 'parallel = true'
		call b filesystem read_text_file \
			"{ path = \"$T/granted/in.txt\" }" 'parallel = true'
		call c filesystem read_text_file \
			"{ path = \"$T/outside/secret.txt\" }" \
			'parallel = true'
		call d sequential-thinking sequentialthinking \
			'{ thought = "x", nextThoughtNeeded = false, thoughtNumber = 1, totalThoughts = 1 }' \
			'parallel = true'
	} >r.toml
	run_matins run -c r.toml r --json
	json_is "in parallel, isolate = $isolate: allowed ones work" \
		step_results[0].state ok step_results[1].state ok \
		step_results[3].state ok
	json_is "in parallel, isolate = $isolate: the denied one does not" \
		step_results[2].state tool_error
	file_lacks "in parallel, isolate = $isolate: no secret" "$out" \
		"not this"
	nothing_left "in parallel, isolate = $isolate: nothing left" "$T"
done

done_testing
