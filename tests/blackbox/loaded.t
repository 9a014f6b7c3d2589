#!/usr/bin/env bash
# Which libraries are loaded when: a run without remote servers pays nothing
# for them.
. "${BASH_SOURCE%/*}/lib.sh"

heavy='lib(curl|ssl|crypto|nghttp2|git2|sqlite3|pcre2-8|cmark-gfm[a-z-]*)\.so'

if command -v ldd >/dev/null; then
	ok "no library of remote servers is linked" bash -c \
		"! ldd '$BIN' | grep -E 'lib(curl|ssl|crypto|git2|pcre2|cmark)'"
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

# A file that is no library stands for one that is not installed.
mkdir none
touch "none/$(ldconfig -p | sed -n 's/^\t\(libcmark-gfm-extensions\.so[^ ]*\) .*/\1/p' | head -n 1)"
cat >page.toml <<END
[[routines.r.steps]]
name = "a"
type = "script"
command = "echo"
args = ["| a |\n|---|\n| b |"]
END
LD_DEBUG=files run_matins run -c page.toml r --html
err_like "a page: the parser of Markdown is loaded" 'libcmark-gfm-extensions\.so'
out_like "a page: Markdown becomes HTML" '<th scope="col">a</th>'
out_unlike "a page: nothing is lacking" 'Markdown as text'
run_matins doctor
out_like "a page: the doctor has found it" 'ok  *Markdown'
export LD_LIBRARY_PATH=$T/none
run_matins run -c page.toml r --html
exit_is "without it the run is as good" 0
out_like "without it a page says so, and what to install" \
	'Markdown as text: .*apt-get install libcmark-gfm-extensions'
out_like "without it the text is there" '^\| b \|'
run_matins doctor
out_like "without it the doctor warns" 'warning  *Markdown'

done_testing
