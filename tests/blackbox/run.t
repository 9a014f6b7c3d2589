#!/usr/bin/env bash
# The edges of a run: where the report goes, what credentials become, what is
# kept of a step that ran out of time, how many run side by side.
. "${BASH_SOURCE%/*}/lib.sh"

cat >r.toml <<-'END'
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "echo"
	args = ["hello"]
END

# ---- -o ----

run_matins run -q -c r.toml r -o report.txt
exit_is "-o FILE writes the report to a file" 0
file_has "-o FILE: the report is in it" report.txt hello
out_is "-o FILE: and nothing on stdout" ""
err_is "-o FILE: a good run needs no mail" ""
run_matins run -c r.toml r -o -
out_like "-o - writes the report to stdout" '^  hello$'
ln -s report.txt link
run_matins run -c r.toml r --json -o link
ok "-o LINK: the link stays" test -L link
file_has "-o LINK: its target is written" report.txt '"hello"'
ln -s /proc/self/fd/1 stdout
run_program /dev/null bash -c '"$0" run -q -c r.toml r -o stdout | cat' "$BIN"
out_like "-o a link to a pipe: written through" '^  hello$'
ok "-o a link to a pipe: the link stays" test -L stdout
mkfifo fifo
exec 8<>fifo
run_matins run -c r.toml r -o fifo
dd bs=64K count=1 iflag=nonblock <&8 >from-fifo 2>/dev/null
exec 8<&-
file_has "-o FIFO: written through" from-fifo hello
ok "-o FIFO: it stays one" test -p fifo
chmod 640 report.txt
run_matins run -c r.toml r -o report.txt
is "-o FILE: an old file keeps its mode" "$(stat -c %a report.txt)" 640
(umask 077 && "$BIN" run -q -c r.toml r -o private.txt)
is "-o FILE: a new one gets the umask's" "$(stat -c %a private.txt)" 600
run_matins run -c r.toml r -o no/such/folder.txt
exit_is "-o into no folder: status 1" 1
run_matins history
out_unlike "-o into no folder: said before anything ran" 'folder'
run_matins run -c r.toml r -o .
exit_is "-o a folder: status 1" 1
run_program /dev/null bash -c '"$0" run -q -c r.toml r >&-' "$BIN"
exit_is "a closed stdout is an error" 1
run_program /dev/null bash -c '"$0" run -q -c r.toml r >/dev/full' "$BIN"
exit_is "a full stdout is an error" 1
run_program /dev/null bash -c '"$0" help | true; echo "${PIPESTATUS[0]}"' \
	"$BIN"
err_is "a reader that has seen enough: no complaint" ""

# ---- filters ----

run_matins run -c r.toml r --only ''
exit_is "--only with nothing is wrong usage, not everything" 64
run_matins run -c r.toml r -p =1
exit_is "-p without a key is wrong usage" 64
run_matins -q run -c r.toml r
exit_is "options may stand before the command" 0
run_matins run -qn -c r.toml r
exit_is "short options may be bundled" 0

# ---- credentials ----

printf 'the-same-value\n' >key
chmod 600 key
export SAME=the-same-value
cat >c.toml <<-END
	[sandbox]
	exec = ["cat"]
	read = ["$T/key"]
	[servers.s]
	command = "sh"
	args = ["-c", "printf '{\"content\":[{\"type\":\"text\",\"text\":\"%s %s\"}]}' \${#A} \$(env | grep -c ^A=)"]
	env = { A = { env = "SHORTER" } }
	[[routines.same.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", "test \"\$A\" = \"\$B\" && echo \${#B}"]
	env = { A = { env = "SAME" }, B = { cmd = "cat $T/key" } }
	[[routines.both.steps]]
	name = "a"
	type = "mcp-client"
	server = "s"
	env = { A = { env = "SAME" } }
	sandbox = { exec = ["env", "grep"] }
	[[routines.failing.steps]]
	name = "a"
	type = "script"
	command = "true"
	env = { A = { cmd = "sh -c 'cat $T/key >&2; exit 1'" } }
END
run_matins run -c c.toml same --json
json_is "one value from two places is itself both times" \
	step_results[0].state ok step_results[0].output 14
export SHORTER=short-one
run_matins run -c c.toml both --json
json_is "the step's variable replaces its server's" \
	step_results[0].output "14 1"
run_matins run -c c.toml failing --json -v
json_is "a credential program that fails: skipped" \
	step_results[0].reason no_credential
err_like "a credential program that fails: why is said" \
	'its stderr ends with'
file_lacks "a credential is in no report" "$out" the-same-value

# ---- stderr of a step ----

cat >f.toml <<-'END'
	[[routines.f.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", "echo the cause >&2; exit 1"]
END
run_matins run -c f.toml f
out_like "stderr of a step that failed stands in the report" \
	'^  stderr: the cause$'
err_unlike "and is not said beside it" 'the cause'
run_matins run -c f.toml f -o f.txt
err_like "stderr of a step that failed is said beside a file" \
	'^matins: a: its stderr ends with: the cause$'

cat >e.toml <<-'END'
	[[routines.e.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", "echo $MARK one >&2; printf two >&2; echo fine"]
	env = { MARK = { env = "SAME" } }
END
run_matins run -c e.toml e
err_unlike "stderr of a step that is ok is not said" 'one|two'
run_matins run -c e.toml e -v
out_like "-v: the step is ok" '1 ok'
err_like "-v says each line of its stderr" \
	'^matins: debug: a: stderr: \*\*\* one$'
err_like "-v says a last line without an end" \
	'^matins: debug: a: stderr: two$'

# ---- what is kept ----

cat >k.toml <<-'END'
	[sandbox]
	exec = ["sleep"]
	[[routines.k.steps]]
	name = "whole"
	type = "mcp-client"
	command = "sh"
	args = ["-c", "echo '{\"content\":[{\"type\":\"text\",\"text\":\"whole\"}]}'; exec sleep 60"]
	timeout = "700ms"
	[[routines.k.steps]]
	name = "part"
	type = "mcp-client"
	command = "sh"
	args = ["-c", "echo '{\"content\":[{'; exec sleep 60"]
	timeout = "700ms"
	[[routines.k.steps]]
	name = "structured"
	type = "mcp-client"
	command = "echo"
	args = ["{\"structuredContent\":{\"a\":1}}"]
	[[routines.k.steps]]
	name = "closed"
	type = "mcp-client"
	command = "sh"
	args = ["-c", "echo '{\"content\":[]}'; exec >&-; exec sleep 60"]
	timeout = "700ms"
	[servers.far]
	url = "http://127.0.0.1:1/mcp"
	[[routines.k.steps]]
	name = "remote"
	type = "mcp-client"
	server = "far"
	tool = "t"
END
run_matins run -c k.toml k --json
json_is "a result before the deadline is kept, the reason too" \
	step_results[0].state timeout \
	step_results[0].data.content[0].text whole step_results[0].output whole
json_is "half a result is shown" step_results[1].state timeout \
	step_results[1].output '{"content":[{'
json_is "a step with data only" step_results[2].state ok \
	step_results[2].data.structuredContent.a 1

json_is "stdout ended, the program did not: its own reason" \
	step_results[3].state timeout \
	step_results[3].reason deadline_close step_results[3].data.content '[]'
json_is "a remote server is a failure that says why" \
	step_results[4].state failed step_results[4].reason transport \
	step_results[4].error '~127\.0\.0\.1:1'

# ---- many, and busy ----

{
	echo '[routines.m]'
	for i in $(seq 60); do
		printf '[[routines.m.steps]]\nname = "s%s"\ntype = "script"\n' "$i"
		printf 'command = "true"\nparallel = true\n'
	done
} >m.toml
run_program /dev/null bash -c 'ulimit -n 100; "$0" run -q -c m.toml m -j 60 --json' "$BIN"
exit_is "more steps side by side than descriptors" 0
json_is "more steps side by side than descriptors: all ran" \
	summary "m: 60 ran, 0 skipped, 0 failed"

sed 's/^\[\[routines.r.steps\]\]/[routines.r]\non_busy = "fail"\n&/' r.toml >b.toml
MATINS_STATE=$T/report.txt/state run_matins run -c b.toml r
exit_is "on_busy without a place for its lock: refused" 1
MATINS_STATE=$T/report.txt/state run_matins run -c r.toml r
exit_is "while a run that asks for no lock goes on" 0
MATINS_STATE=$T/report.txt/state run_matins run -c r.toml r --require-ledger
exit_is "--require-ledger fails a run that cannot be recorded" 1

done_testing
