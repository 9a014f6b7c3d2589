#!/usr/bin/env bash
# `add` of a server whose place is written with escapes: what is killed behind
# its table stays installed.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

"$HELPERS/fail" tried lseek EIO 1000 -- "$(type -P true)" 2>/dev/null ||
	skip_all "no process can be traced here"

mkdir escaped
tool_server escaped/server.py <<<'text = "whole"'
touch matins.toml
name='a"b\c'
# calls before the one that takes the mark away leave no table
for n in 1 2 3 4; do
	"$HELPERS/fail" tried unlink KILL $n -- "$BIN" add custom escaped \
		--name "$name" -- "$PYTHON" server.py >said 2>&1
	grep -q '^\[servers."a' matins.toml && break
done
ok "an add is killed behind the table" grep -q '^\[servers."a' matins.toml
"$BIN" servers >/dev/null 2>&1
run_matins call t --server "$name"
out_is "what is in the table with escapes is not swept away" whole
run_matins remove "$name"
exit_is "and it can be removed" 0

done_testing
