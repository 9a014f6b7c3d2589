#!/usr/bin/env bash
# `matins brief`: the tools one by one, and the MCP server on stdio.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# rpc ID METHOD PARAMS
rpc() {
	printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\n' "$@"
}
hello() {
	rpc 1 initialize '{"protocolVersion":"'"$1"'","capabilities":{},
		"clientInfo":{"name":"t","version":"1"}}' | tr -d '\n\t'
	echo
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}
# answer ID: that answer of the last run
answer() {
	grep -a "^{\"jsonrpc\":\"2.0\",\"id\":$1," "$out" >answer.json
}

# ---- one tool ----

run_matins brief host
exit_is "brief host prints text and succeeds" 0
out_like "host tells the load" '^load [0-9.]+ [0-9.]+ [0-9.]+ on '
out_like "host tells the memory" '^memory [0-9.]+ [KMGT]iB of '
out_like "host tells the disk" '^disk /: '

run_matins brief host --json
exit_is "brief host --json prints JSON and succeeds" 0
json_is "host as JSON is a result" isError false
json_is "host as JSON has a text block" content[0].type text
json_is "host as JSON shows the root" structuredContent.disks[0].path /

run_matins brief host paths=/nonexistent --json
exit_is "a tool that fails with --json still ends with status 0" 0
json_is "a failed tool is an error" isError true
run_matins brief host paths=/nonexistent
exit_is "a failed tool as text ends with 2" 2

run_matins brief hots
exit_is "an unknown tool is a usage error" 64
err_like "unknown tool: the nearest is offered" 'did you mean host\?'
run_matins brief todo fil=x
exit_is "an unknown argument fails the tool" 2
out_like "unknown argument: the nearest is offered" 'did you mean "file"\?'
run_matins brief repos
exit_is "a missing argument fails the tool" 2
out_like "a missing argument: named" '^repos: arguments: missing required "paths"'
err_like "a missing argument: how it is written" \
	'matins brief repos paths=VALUE'
run_matins brief repos --json
json_is "a missing argument as JSON" isError true
is "a missing argument as JSON: nothing on stderr" "$(<"$err")" ""
mkdir -p broken/.git
run_matins brief repos paths=broken
out_like "a .git that is none: what that means" \
	'^broken: .git is not a repository, or leads to one'
run_matins brief todo today
exit_is "a word that is no argument" 64
run_matins brief deadlines 'items:=[{]'
exit_is "an argument that is no JSON" 64
err_like "an argument that is no JSON: named" 'argument items is not JSON: '
run_matins brief deadlines --args '[]'
exit_is "--args that is no object" 64
run_matins brief --args '{}'
exit_is "--args without a tool" 64

run_matins brief todo
exit_is "no list at home" 0
out_like "no list at home: says how to begin" 'There is no ~/todo.txt'

printf '(A) Call the bank due:2026-01-30 +home\nx done\nWrite\n' >todo.txt
run_matins brief todo file=todo.txt today=2026-01-31
exit_is "brief todo reads a list" 0
out_like "brief todo counts open, overdue and done lines" '^2 open, 1 overdue, 1 done$'
out_like "a list: the urgent one" '^\(A\) Call the bank \+home \(overdue, due 1 day ago\)$'

printf 'evil \033[31m red\n' >todo.txt
run_matins brief todo file=todo.txt
out_unlike "control characters do not reach the terminal" $'\033'

run_matins brief deadlines today=2026-01-31 \
	'items:=[{"title":"b","date":"2026-02-02"}]' \
	--args '{"today":"2020-01-01"}' --json
exit_is "all forms of arguments" 0
json_is "a single argument wins over --args" structuredContent.today 2026-01-31
json_is "a JSON argument arrives" structuredContent.items[0].days_left 2

# a Monday to a Tuesday eight days later; the last day has passed in the end
for day in 2026-06-01:0 2026-06-05:4 2026-06-07:5 2026-06-09:6 2026-05-01:0; do
	run_matins brief deadlines "today=${day%:*}" --json \
		'items:=[{"title":"ramp","date":"2026-06-09","since":"2026-06-01","work_days":7,"notes":"soon"}]'
	json_is "days of work up to ${day%:*}" \
		structuredContent.items[0].work_day "${day#*:}" \
		content[0].text "~, work day ${day#*:} of 7 — soon\$"
done
run_matins brief deadlines today=2026-06-10 \
	'items:=[{"title":"ramp","date":"2026-06-09","since":"2026-06-01"}]'
is "work that is over has no day" "$(<"$out")" "2026-06-09 ramp: 1 day ago"
run_matins brief deadlines 'items:=[{"title":"b","date":"2026-02-02","since":"x"}]'
exit_is "a first day that is no date" 2

# ---- working trees ----

if ! command -v git >/dev/null; then
	skip "brief repos describes working trees" "git is not installed"
else
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
	export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.com
	export GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.com
	export GIT_AUTHOR_DATE=2026-01-02T03:04:05Z
	export GIT_COMMITTER_DATE=2026-01-02T03:04:05Z
	mkdir src
	git init -q -b main src/up
	echo 1 >src/up/one
	git -C src/up add one
	git -C src/up commit -qm 'first: "quoted"'
	git clone -q src/up src/wc
	echo 2 >src/up/two
	git -C src/up add two
	git -C src/up commit -qm second
	cd src/wc || exit 1
	echo 3 >three
	git add three
	git commit -qm third
	git fetch -q
	echo changed >>one
	echo 4 >staged
	git add staged
	mkdir loose
	echo 5 >loose/five
	echo 6 >six
	cd "$T" || exit 1

	run_matins brief repos paths=src --json
	exit_is "a folder of working trees" 0
	r='structuredContent.repos[1]'
	json_is "trees are sorted by their names" structuredContent.repos[0].name up
	json_is "a tree has its branch" "$r.branch" main
	json_is "a tree has the subject of its last commit" "$r.head.subject" third
	json_is "a tree has the time of its last commit" "$r.head.time" 2026-01-02T03:04:05.000Z
	json_is "a tree has the id of its last commit" "$r.head.id" "$(git -C src/wc rev-parse HEAD)"
	json_is "a tree counts the staged files" "$r.changes.staged" 1
	json_is "a tree counts the modified files" "$r.changes.modified" 1
	json_is "a tree counts the untracked files" "$r.changes.untracked" 2
	json_is "a tree counts commits ahead of upstream" "$r.upstream.ahead" 1
	json_is "a tree counts commits behind upstream" "$r.upstream.behind" 1
	run_matins brief repos paths=src/up paths=src/wc
	is "trees are described as text" "$(sed 's/ [0-9a-f]\{7\} / ID /' "$out")" \
'up: main ID "second" (2026-01-02); clean
wc: main ID "third" (2026-01-02); 1 staged, 1 modified, 2 untracked; 1 ahead, 1 behind origin/main'

	before=$(cd src/wc && find .git -type f | sort | xargs sha256sum)
	touch src/wc/one
	run_matins brief repos paths=src/wc
	is "a tree is only read" \
		"$(cd src/wc && find .git -type f | sort | xargs sha256sum)" \
		"$before"

	git -C src/up checkout -q --detach HEAD~
	run_matins brief repos paths=src/up
	out_like "a detached head is called detached" '^up: detached [0-9a-f]{7} "first: "quoted""'

	git -C src/wc checkout -q -f -B other HEAD~
	echo theirs >src/wc/three
	git -C src/wc add three
	git -C src/wc commit -qm rival
	git -C src/wc merge -q main >merge.out 2>&1
	run_matins brief repos paths=src/wc
	out_like "a conflict in a tree is counted" '1 conflicted.*; merge in progress$'

	if [[ $(id -u) == 0 ]]; then
		chown -R 4242 src/up
		run_matins brief repos paths=src/up
		exit_is "a tree of somebody else" 0
	fi
	rm -rf src/up/.git/objects
	run_matins brief repos paths=src
	exit_is "a broken tree fails the tool" 2
	out_like "a broken tree: the others are told" '^wc: '
	out_like "a broken tree: named" '^src/up: '
fi

# ---- the server ----

{
	hello 2025-11-25
	rpc 2 tools/list '{}'
	rpc 3 tools/call '{"name":"todo","arguments":{"file":"none.txt"}}'
	rpc 4 tools/call '{"name":"todo","arguments":{"file":1}}'
	rpc 5 tools/call '{"name":"tood"}'
	rpc 6 server/discover '{}'
	echo nonsense
	rpc '"7"' ping '{}'
} >in
run_matins_stdin in brief
exit_is "a session ends with its input" 0
is "a session: one answer a request" "$(wc -l <"$out")" 8
answer 1
json_file_is "initialize answers with revision and capabilities" answer.json \
	result.protocolVersion 2025-11-25 result.capabilities.tools {}
answer 2
json_file_is "tools/list answers with the four tools" answer.json result.tools '#4' \
	result.tools[0].name host result.tools[1].name repos \
	result.tools[2].name todo result.tools[3].name deadlines
json_file_is "tools/list: read only, closed" answer.json \
	result.tools[1].annotations.readOnlyHint true \
	result.tools[1].annotations.openWorldHint false \
	result.tools[1].inputSchema.additionalProperties false
answer 3
json_file_is "tools/call: a missing list is no error" answer.json \
	result.isError false result.structuredContent.exists false
answer 4
json_file_is "tools/call: wrong arguments are a tool error" answer.json \
	result.isError true
answer 5
json_file_is "an unknown tool is a protocol error" answer.json error.code -32602
answer 6
json_file_is "server/discover is unknown to this revision" answer.json error.code -32601
answer null
json_file_is "a broken line is answered by a parse error" answer.json error.code -32700
answer '"7"'
json_file_is "ping behind a broken line" answer.json result {}

{
	hello 2025-03-26
	echo '[{"jsonrpc":"2.0","id":2,"method":"ping"}]'
} >in
run_matins_stdin in brief
out_like "2025-03-26: a batch is answered by a batch" '^\[\{"jsonrpc":"2.0","id":2,"result":\{\}\}\]$'
{
	hello 2025-06-18
	echo '[{"jsonrpc":"2.0","id":2,"method":"ping"}]'
} >in
run_matins_stdin in brief
out_like "2025-06-18: a batch is an invalid request" '"id":null,"error":\{"code":-32600'

# ---- requests that stand alone ----

# alone VERSION: members of params that make a request stand alone
alone() {
	printf '"_meta":{"io.modelcontextprotocol/%s":"%s",' protocolVersion "$1"
	printf '"io.modelcontextprotocol/%s":{}}' clientCapabilities
}
{
	rpc 1 server/discover "{$(alone 2026-07-28)}"
	rpc 2 tools/list "{$(alone 2026-07-28)}"
	rpc 3 tools/call '{"name":"todo","arguments":{"file":"none.txt"},'"$(
		alone 2026-07-28
	)}"
	rpc 4 ping "{$(alone 2026-07-28)}"
	rpc 5 tools/list "{$(alone 2031-01-01)}"
	rpc 6 tools/list '{}'
	echo '{"jsonrpc":"2.0","method":"notifications/cancelled"}'
} >in
run_matins_stdin in brief
exit_is "2026-07-28: a session ends with its input" 0
is "2026-07-28: one answer a request" "$(wc -l <"$out")" 6
answer 1
json_file_is "2026-07-28: server/discover answers with revision and capabilities" answer.json \
	result.resultType complete result.supportedVersions '["2026-07-28"]' \
	result.capabilities.tools {} result.ttlMs 3600000
answer 2
json_file_is "2026-07-28: tools/list may be kept" answer.json \
	result.resultType complete result.tools '#4' \
	result.ttlMs 3600000 result.cacheScope public
answer 3
json_file_is "2026-07-28: tools/call answers with a complete result" answer.json \
	result.resultType complete result.isError false \
	result.structuredContent.exists false
answer 4
json_file_is "2026-07-28: ping is an unknown method" answer.json error.code -32601
answer 5
json_file_is "an unknown version: what there is" answer.json \
	error.code -32022 error.data.supported '["2026-07-28"]' \
	error.data.requested 2031-01-01
answer 6
json_file_is "2026-07-28: a request without a version is refused" answer.json error.code -32602

# What a tool answers conforms to the schema that it announces; judged by a
# validator that shares no code with the program.
cat >conforms.py <<-'END'
	import json
	import sys

	import jsonschema

	answers = [json.loads(line) for line in open(sys.argv[1], "rb")]
	answers = {a["id"]: a["result"] for a in answers}
	n = 0
	for tool in answers.pop("list")["tools"]:
	    for key in "inputSchema", "outputSchema":
	        jsonschema.Draft202012Validator.check_schema(tool[key])
	    schema = jsonschema.Draft202012Validator(tool["outputSchema"])
	    for id, result in answers.items():
	        if str(id).startswith(tool["name"] + " "):
	            schema.validate(result["structuredContent"])
	            n += 1
	print(n)
END
printf -- '- [ ] a due:2026-01-30 +p @c\n  - [ ] b\n- [x] c\n' >boxes.md
printf '2026-01-30 past\nnever bad\n2026-02-01 coming\n' >dates
{
	hello 2025-11-25
	rpc '"list"' tools/list '{}'
	while read -r id tool args; do
		rpc "\"$tool $id\"" tools/call \
			'{"name":"'"$tool"'","arguments":'"$args"'}'
	done <<-'END'
		1 host {}
		2 host {"paths":["/nonexistent","/"]}
		3 repos {"paths":["src/wc","src/none","."]}
		4 todo {"file":"boxes.md"}
		5 todo {"file":"todo.txt"}
		6 todo {}
		7 deadlines {"file":"dates","items":[{"title":"t","date":"2026-01-01"}]}
		8 deadlines {}
	END
} >in
run_matins_stdin in brief
is "structured results conform to their schemas" \
	"$("$PYTHON" conforms.py "$out" 2>&1 | tail -n 3)" 8

# The reader ends at once; the server then has an answer for nobody.
{
	rpc 1 ping '{}'
	sleep 0.3
	rpc 2 ping '{}'
} | {
	"$BIN" brief 2>gone.err
	echo $? >gone
} | true
is "a client that has gone is a quiet end" "$(<gone)$(<gone.err)" 0

# ---- by a routine, in every revision ----

# in_each_revision PROGRAM: its tool `deadlines` by way of a routine
in_each_revision() {
	local date

	for date in 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
		cat >each.toml <<-END
			[[routines.r.steps]]
			name = "d"
			type = "mcp-client"
			command = "$1"
			args = ["brief"]
			tool = "deadlines"
			params = { today = "2026-01-31", items = [
				{ title = "b", date = "2026-02-02" } ] }
			protocol = "$date"
		END
		run_matins run -c each.toml r --json
		json_is "$date: the same answer" step_results[0].state ok \
			step_results[0].run.mcp.protocol "$date" \
			step_results[0].output '~b.*in 2 days|in 2 days.*b'
	done
}

# ---- what is loaded when ----

if command -v ldd >/dev/null; then
	ok "libgit2 is not linked" bash -c "! ldd '$BIN' | grep -q git2"
fi
LD_DEBUG=files run_matins brief host
err_unlike "host does not load libgit2" 'libgit2'
LD_DEBUG=files run_matins brief repos paths=.
err_like "brief repos loads libgit2" 'libgit2'

# ---- the shipped routine, inside the gate ----

# AddressSanitizer wants terabytes of addresses, which the limits of a child
# forbid; there the children are those of the ordinary build.
inner=matins
if grep -aq __asan_init "$BIN"; then
	inner=$TOP/build/matins
	if [[ ! -x $inner ]]; then
		skip "the shipped routine works in each revision" "needs an ordinary build beside this one"
		done_testing
	fi
fi
in_each_revision "$inner"

mkdir -p co/routines
sed "s|\"matins\"|\"$inner\"|" "$TOP/routines/morning.toml" \
	>co/routines/morning.toml
command -v git >/dev/null && git init -q -b main co
run_matins run -c co/routines/morning.toml morning --json
exit_is "the shipped routine, from nothing" 0
json_is "the shipped routine: nothing failed" \
	summary "morning: 4 ran, 0 skipped, 0 failed"
json_is "the shipped routine: host" step_results[0].output '~load [0-9.]+ '
json_is "the shipped routine: a missing list is told" \
	step_results[2].output '~There is no todo.txt here'
json_is "the shipped routine: dates from the file" \
	step_results[3].data.structuredContent.items '#2'
if command -v git >/dev/null; then
	json_is "the shipped routine: its own tree" \
		step_results[1].data.structuredContent.repos[0].name co \
		step_results[1].data.structuredContent.repos[0].branch main
else
	skip "the shipped routine: its own tree" "git is not installed"
fi

echo 'Feed the cat' >co/routines/todo.txt
run_matins step -c co/routines/morning.toml morning todo --json
json_is "a list beside the routine is read" \
	step_results[0].output "1 open, 0 done
Feed the cat"

sed -e '/^sandbox *=/d' -e "s|\"\.\.\"|\"$T/co\"|" co/routines/morning.toml \
	>co/routines/bare.toml
run_matins run -c co/routines/bare.toml morning --json
exit_is "a routine without its grants fails" 2
json_is "without its grants: host and deadlines need none" \
	step_results[0].state ok step_results[3].state ok
json_is "without its grants: no tree is read" step_results[1].state tool_error
json_is "without its grants: the line that is missing is told" \
	step_results[1].output '~sandbox = \{ read = '
json_is "without its grants: the list that is named is not seen" \
	step_results[2].state tool_error \
	step_results[2].output '~read = \["todo.txt"\]'

# ---- not granted, not there ----

mkdir -p home/lists
echo Call >home/lists/todo.txt
for tool in todo deadlines; do
	inside() {
		run_matins call "$tool" "$@" -- "$inner" brief
	}
	inside file=~/lists/todo.txt
	exit_is "$tool: a named file that is not granted is an error" 2
	out_like "$tool: with the line that grants it" \
		'(or not there|may not be read); grant it:.*read = \["/.*/lists/todo.txt"\]'
	if grep -q 'or not there' "$out"; then
		err_like "$tool: call says that it is there" \
			'read .*/lists/todo.txt, .*to allow it: --read /.*/lists/todo.txt$'
		inside file=~/lists/gone.txt
		err_unlike "$tool: and not so of one that is not" 'gone.txt: --read'
	fi
	inside file=~/lists/todo.txt --isolate off
	exit_is "$tool: it is one without namespaces" 2
	out_like "$tool: where the file is known to be there" \
		'todo.txt is there and may not be read'
	inside file=~/lists/gone.txt --read ~/lists
	exit_is "$tool: one that is not there, in a folder that is granted" 0
	out_like "$tool: is told from that" 'There is no .*gone.txt here'
done
run_matins call todo file=~/lists/todo.txt --read ~/lists -- "$inner" brief
out_like "a named file that is granted is read" '1 open'

run_matins tools host -- "$BIN" brief
out_like "tools NAME: its hints in words" 'hints from the server: read-only'

done_testing
