#!/usr/bin/env bash
# `init` writes a file that checks and runs as it is.
. "${BASH_SOURCE%/*}/lib.sh"

run_matins init
exit_is "exit status 0" 0
ok "init writes matins.toml" test -f matins.toml
is "readable by others, writable by nobody else" \
	"$(stat -c %a matins.toml)" 644
err_like "says what to do next" 'matins run hello'
cp matins.toml before
echo "# mine" >>matins.toml
cp matins.toml mine
run_matins init
exit_is "again: exit status 1" 1
err_like "init refuses to overwrite it" 'matins\.toml exists already'
file_is "again: nothing is changed" matins.toml mine

run_matins check
exit_is "it is a good configuration" 0
out_is "with one routine" "matins.toml: ok, 1 routine, 3 steps"
err_is "and without any warning" ""

run_matins run hello
exit_is "the routine of init runs" 0
out_like "the report of that run counts three steps" '^hello: 3 ran, 0 skipped, 0 failed$'

run_matins init sub/x.toml
exit_is "a folder that does not exist: exit status 1" 1
err_like "a folder that is not there is named" 'sub/x\.toml: No such'
mkdir sub
run_matins init sub/x.toml
exit_is "a named file" 0
file_is "has the same content" sub/x.toml before
ln -s nowhere link.toml
run_matins init link.toml
exit_is "a link that leads nowhere is there already" 1
not_ok "and is not followed" test -e nowhere
run_matins init a b
exit_is "two files: usage" 64

done_testing
