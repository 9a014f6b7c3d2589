#!/usr/bin/env bash
# Every tool of the official MCP servers from the command line. A tool that a
# server offers and nobody calls here is a failure.
. "${BASH_SOURCE%/*}/lib.sh"

modules=$TOP/build/npm/node_modules/@modelcontextprotocol
[[ -n $NODE ]] || skip_all "node is not installed: make check-deps"
[[ -d $modules ]] || skip_all "the servers are not installed: make check"

mkdir -m 777 granted graph
echo "first line" >granted/in.txt
chmod 666 granted/in.txt
target=()
called=()

# tool NAME ERE [ARGS...]: it is called and its output has such a line
tool() {
	local name=$1 ere=$2

	shift 2
	called+=("$name")
	run_matins call "$name" "$@" "${target[@]}"
	exit_is "$name: exit status 0" 0
	out_like "$name: the answer is as expected" "$ere"
}

# none_left SERVER: all tools that it offers were called
none_left() {
	run_matins tools --json "${target[@]}"
	is "$1: every tool was called" \
		"$("$PYTHON" -c 'import json, sys
for t in json.load(open(sys.argv[1]))["tools"]:
    print(t["name"])' "$out" | sort)" \
		"$(printf '%s\n' "${called[@]}" | sort -u)"
	called=()
}

# ---- everything ----

target=(--root "$T/granted" --read "$T/granted" --elicit accept
	--elicit-content '{"name":"Ada"}'
	-- "$NODE" "$modules/server-everything/dist/index.js" stdio)
tool echo '^Echo: hé$' message=hé
tool get-annotated-message 'Error' messageType=error includeImage:=true
tool get-env '"HOME"'
tool get-resource-links 'resource_link' count:=2
tool get-resource-reference 'resource' resourceType=Text resourceId:=1
tool get-structured-content 'humidity' location=Chicago
tool get-sum '\b42\b' a=2 b=40
tool get-tiny-image 'image/png'
tool gzip-file-as-resource '.' name=x.gz \
	data=data:text/plain,hello outputType=resource
tool toggle-simulated-logging '.'
tool toggle-subscriber-updates '.'
tool trigger-long-running-operation 'completed' duration:=1 steps:=4
tool get-roots-list 'granted'
tool trigger-elicitation-request 'Ada'
tool simulate-research-query '.' topic=tea
none_left everything

# ---- filesystem ----

target=(--write "$T/granted"
	-- "$NODE" "$modules/server-filesystem/dist/index.js" "$T/granted")
g=$T/granted
tool list_allowed_directories granted
tool write_file . path="$g/new.txt" content=written
is "write_file: the file is on the disk" "$(<granted/new.txt)" written
tool read_file '^first line$' path="$g/in.txt"
tool read_text_file '^first line$' path="$g/in.txt"
tool read_media_file . path="$g/in.txt"
tool read_multiple_files '^first line$' \
	"paths:=[\"$g/in.txt\",\"$g/new.txt\"]"
tool edit_file 'second' path="$g/in.txt" \
	'edits:=[{"oldText":"first","newText":"second"}]'
is "edit_file: the file is changed on the disk" "$(<granted/in.txt)" "second line"
tool create_directory . path="$g/dir"
tool move_file . source="$g/new.txt" destination="$g/dir/moved.txt"
ok "move_file: the file is moved on the disk" test -e granted/dir/moved.txt
tool list_directory '\[DIR\] dir' path="$g"
tool list_directory_with_sizes 'in\.txt' path="$g"
tool directory_tree moved path="$g"
tool search_files 'moved\.txt' path="$g" 'pattern=**/moved*'
tool get_file_info 'size' path="$g/in.txt"
none_left filesystem

# ---- memory ----

target=(--write "$T/graph" --env "MEMORY_FILE_PATH=$T/graph/memory.json"
	-- "$NODE" "$modules/server-memory/dist/index.js")
tool create_entities 'matins' \
	'entities:=[{"name":"matins","entityType":"office","observations":["at night"]},{"name":"lauds","entityType":"office","observations":[]}]'
tool create_relations 'before' \
	'relations:=[{"from":"matins","to":"lauds","relationType":"before"}]'
tool add_observations 'long' \
	'observations:=[{"entityName":"matins","contents":["long"]}]'
tool search_nodes 'at night' query=office
tool open_nodes 'lauds' 'names:=["lauds"]'
tool read_graph 'before'
tool delete_observations . \
	'deletions:=[{"entityName":"matins","observations":["long"]}]'
tool delete_relations . \
	'relations:=[{"from":"matins","to":"lauds","relationType":"before"}]'
tool delete_entities . 'entityNames:=["lauds"]'
none_left memory
file_has "memory: what is left is on disk" graph/memory.json '"at night"'
file_lacks "memory: what was deleted is not" graph/memory.json '"lauds"'

# ---- sequential thinking ----

target=(-- "$NODE" "$modules/server-sequential-thinking/dist/index.js")
tool sequentialthinking 'thoughtNumber' thought=one nextThoughtNeeded:=true \
	thoughtNumber:=1 totalThoughts:=2
none_left sequential-thinking

done_testing
