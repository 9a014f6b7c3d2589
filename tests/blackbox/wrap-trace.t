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
run_matins wrap files.json --write --trace
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

done_testing
