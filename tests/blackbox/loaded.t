#!/usr/bin/env bash
# Which libraries are loaded when: a run without remote servers pays nothing
# for them.
. "${BASH_SOURCE%/*}/lib.sh"

heavy='lib(curl|ssl|crypto|nghttp2|git2|sqlite3|pcre2-8)\.so'

if command -v ldd >/dev/null; then
	ok "no library of remote servers is linked" bash -c \
		"! ldd '$BIN' | grep -E 'lib(curl|ssl|crypto|git2|pcre2)'"
fi

cat >one.toml <<END
[[routines.r.steps]]
name = "a"
type = "mcp-client"
command = "$PEER"
args = ["-e", "serve"]
tool = "echo"
params = { a = "b" }
END
LD_DEBUG=files run_matins run -c one.toml r
exit_is "a stdio step: done" 0
err_like "a stdio step: the loader was watched" 'libc\.so\.6'
err_unlike "a stdio step: none of them is loaded" "$heavy"
LD_DEBUG=files run_matins call echo a=b -- "$PEER" -e serve
exit_is "a stdio call: done" 0
err_unlike "a stdio call: none of them is loaded" "$heavy"
LD_DEBUG=files run_matins tools --url http://127.0.0.1:1/mcp
exit_is "a server by URL that is not there: status 1" 1
err_like "a server by URL: libcurl is loaded" 'libcurl\.so'

done_testing
