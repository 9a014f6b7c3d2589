#!/usr/bin/env bash
# `wrap --trace` starts the servers of a file once, and grants what they need.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"
# shellcheck source=tests/blackbox/wrap.sh
. "$TOP/tests/blackbox/wrap.sh"

"$BIN" trace -- true >/dev/null 2>&1 || skip_all "no trace works here"

cat >files.json <<-END
	{"mcpServers": {"files": {"command": "$NODE",
		"args": ["$sdk/server-filesystem/dist/index.js", "$T/far"]}}}
END
cp files.json old
run_matins wrap files.json --write --trace --allow-write "$T/far"
client files.json files write_file "{\"path\": \"$T/far/new\", \"content\": \"x\"}" >/dev/null
is "--allow-write: the server writes it" "$(<"$T/far/new")" x
rm "$T/far/new"
run_matins wrap files.json --undo
run_matins wrap files.json --write
exit_is "without a trace a folder is said: status" 1
is "without a trace a folder is not granted" \
	"$(client files.json files read_text_file "{\"path\": \"$T/far/file\"}")" ""
run_matins wrap files.json --undo
run_matins wrap files.json --write --trace --grant
exit_is "--trace: status" 0
err_like "--trace: a folder that was read is not written" "argument 2 names $T/far, which it may read alone"
is "--trace: then the server reads it" \
	"$(client files.json files read_text_file "{\"path\": \"$T/far/file\"}")" "not for servers"
run_matins wrap files.json --undo
ok "--trace: put back exactly" cmp files.json old
printf '{"mcpServers": {"a": {"command": "touch", "args": ["%s/started"], "disabled": true}}}' "$T/project" >off.json
run_matins wrap off.json --trace
err_like "--trace: a disabled server is said" 'a is disabled: not traced'
ok "--trace: a disabled server does not start" test ! -e started
printf '{"mcpServers": {"a": {"command": "false"}}}' >false.json
cp false.json old
run_matins wrap false.json --write --trace
exit_is "--trace: a server that fails: status" 1
ok "--trace: a server that fails stays" cmp false.json old


# ---- a start is a dry run, and grants what `add` grants ----

# It reads its project and elsewhere, and writes in the folder it starts in.
mkdir "$HOME/proj2" inner srv
printf 'all:\n' >"$HOME/proj2/Makefile"
printf 'all:\n' >Makefile
echo x >inner/data
cat >srv/dry.py <<-END
	import json, os, sys
	def try_(f):
	    try:
	        f()
	    except OSError:
	        pass
	try_(lambda: open("Makefile", "w").write("evil"))
	try_(lambda: open("new", "w").write("evil"))
	try_(lambda: open("$HOME/proj2/new", "w").write("evil"))
	try_(lambda: open("$T/far/file").read())
	try_(lambda: open("$PWD/inner/data").read())
END
grep -v '^import' server.py >>srv/dry.py
printf '{"mcpServers": {"a": {"command": "%s", "args": ["%s/srv/dry.py"], "cwd": "%s"}}}' "$PYTHON" "$PWD" "$HOME/proj2" >dry.json
for command in "wrap dry.json" "import dry.json"; do
	# shellcheck disable=SC2086
	run_matins $command --trace
	is "$command: a file where it starts stays" "$(<"$HOME/proj2/Makefile")" "all:"
	is "$command: nothing is made there" "$(ls "$HOME/proj2")" Makefile
	out_like "$command: its project is granted for reading" 'inner'
	grep -v '^#' "$out" >granted
	unlike "$command: other rows are not granted" "$(<granted)" 'proj2["/]*(new|Makefile)|far|--write|sandbox.write'
	for row in 'write = \["~/proj2' 'read = \["'"$T/far"; do
		err_like "$command: it is said: $row" "sandbox.$row.*wanted at its first start and not granted"
	done
	run_matins $command --trace --grant
	out_like "$command: --grant grants them" '(--write", "|sandbox.write = ..)~/proj2'
	run_matins $command --grant
	exit_is "$command: --grant without --trace: usage" 64
done
sed -i 's/, "cwd".*/}}}/' dry.json
run_matins wrap dry.json --trace
is "the folder of the file stays as it is" "$(<Makefile)" "all:"
ok "nothing is made in the folder of the file" test ! -e new
run_matins wrap dry.json --trace --allow-read "$T/far"
out_like "a row that is named is granted" '"--read", "'"$T/far"
err_unlike "a row that is granted is not said" 'far.*not granted'

done_testing
