#!/usr/bin/env bash
# `init` writes a file that checks and runs as it is.
. "${BASH_SOURCE%/*}/lib.sh"

run_matins init
exit_is "init ends with status 0" 0
ok "init writes a file named matins.toml" test -f matins.toml
is "readable by others, writable by nobody else" \
	"$(stat -c %a matins.toml)" 644
err_like "init names the command to try next" 'matins run hello'
cp matins.toml before
echo "# mine" >>matins.toml
cp matins.toml mine
run_matins init
exit_is "init fails where the file exists" 1
err_like "init refuses to overwrite it" 'matins\.toml exists already'
file_is "init leaves the file that exists as it was" matins.toml mine

run_matins check
exit_is "the new file is a good configuration" 0
out_is "the new file has one routine" "matins.toml: ok, 1 routine, 3 steps"
err_is "the new file gives no warning" ""

run_matins run hello
exit_is "the routine of init runs" 0
out_like "the report of that run counts three steps" '^hello: 3 ran, 0 skipped, 0 failed$'

run_matins init sub/x.toml
exit_is "a folder that does not exist: exit status 1" 1
err_like "a folder that is not there is named" 'sub/x\.toml: No such'
mkdir sub
run_matins init sub/x.toml
exit_is "init writes to a file that is named" 0
file_is "has the same content" sub/x.toml before
ln -s nowhere link.toml
run_matins init link.toml
exit_is "a link that leads nowhere is there already" 1
not_ok "init follows no link that leads nowhere" test -e nowhere
run_matins init a b
exit_is "two files are a usage error" 64

done_testing
