#!/usr/bin/env bash
# `wrap`: the servers of its files, started as four clients start them, before
# and after.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"
# shellcheck source=tests/blackbox/wrap.sh
. "$TOP/tests/blackbox/wrap.sh"

declare -A how=([.mcp.json]=SIGINT [.vscode/mcp.json]=SIGTERM
	[.cursor/mcp.json]=SIGKILL [claude_desktop_config.json]=close)
for file in .mcp.json .vscode/mcp.json .cursor/mcp.json claude_desktop_config.json; do
	cp "$file" ../old
	is "$file: before, a server reads everything" \
		"$(client "$file" s t "{\"path\": \"$T/far/file\"}")" "not for servers"
	run_matins wrap "$file" --write
	exit_is "$file: wrapped" 0
	is "$file: a real server answers" \
		"$(client "$file" all echo '{"message": "hi"}')" "Echo: hi"
	is "$file: a server has the variables that the file says" \
		"$(client "$file" s t '{"name": "API_TOKEN"}')" abcdefgh12345678
	is "$file: and no others" \
		"$(client "$file" s t '{"name": "NOT_FOR_SERVERS"}')" unset
	like "$file: a file that was not granted is refused" \
		"$(client "$file" s t "{\"path\": \"$T/far/file\"}")" '^refused'
	is "$file: and it answers before it is ended" \
		"$(client "$file" s t '{"name": "API_TOKEN"}' "${how[$file]}")" \
		abcdefgh12345678
	ok "$file: nothing is left behind after ${how[$file]}" none_left
	run_matins wrap "$file" --undo
	ok "$file: put back exactly" cmp "$file" ../old
	is "$file: and as before it reads everything" \
		"$(client "$file" s t "{\"path\": \"$T/far/file\"}")" "not for servers"
done

done_testing
