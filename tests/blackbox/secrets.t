#!/usr/bin/env bash
# Credentials reach the program that they are declared for and nothing else:
# no report, log, ledger or file of ours shows one, in any form.
# shellcheck disable=SC2016,SC2088
. "${BASH_SOURCE%/*}/lib.sh"

secret='tok/en-"12\3 456+ü'
printf '\n  %s \n\n' "$secret" >token
chmod 600 token

# Prints the variable $1 in every form that a program may well print it in.
cat >leak.py <<-'END'
	import base64, json, os, sys, urllib.parse
	v = os.environ[sys.argv[1]]
	b = v.encode()
	forms = [v, json.dumps(v), json.dumps(v, ensure_ascii=False),
	         json.dumps(json.dumps(v)), json.dumps(v).replace("/", "\\/"),
	         urllib.parse.quote(v, safe=""), urllib.parse.quote(v),
	         urllib.parse.quote_plus(v),
	         urllib.parse.quote(v, safe="").lower(),
	         "".join("\\u%04X" % ord(c) for c in v),
	         "".join("%%%02x" % c for c in b)]
	for before in (b"", b"x", b"xy", b"user:"):
	    forms.append(base64.b64encode(before + b).decode())
	    forms.append(base64.urlsafe_b64encode(before + b).decode())
	    forms.append(base64.encodebytes(before + b).decode())
	print("bytes:", len(b), file=sys.stderr)
	for f in forms:
	    print("<" + f + ">")
	    print("<" + f + ">", file=sys.stderr)
END

# The cores of all these forms: none of them may be anywhere.
cat >finds.py <<-'END'
	import base64, json, sys, urllib.parse
	v = open(sys.argv[1]).read().strip()
	b = v.encode()
	cores = {v, json.dumps(v)[1:-1], json.dumps(v, ensure_ascii=False)[1:-1],
	         urllib.parse.quote(v, safe=""), urllib.parse.quote(v)}
	for i, n in ((0, 0), (1, 2), (2, 3)):
	    for f in (base64.b64encode, base64.urlsafe_b64encode):
	        cores.add(f(b"x" * i + b).decode().rstrip("=")[n:-1])
	cores |= {c.lower() for c in cores}
	for name in sys.argv[2:]:
	    text = open(name, "rb").read().decode("utf-8", "replace")
	    for c in cores:
	        if c in text or c in text.replace("\\/", "/"):
	            sys.exit("%s shows %s" % (name, c))
END

# shows_nothing NAME: neither the last run nor any file that it left
shows_nothing() {
	local files

	mapfile -t files < <(find "$XDG_STATE_HOME" -type f)
	ok "$1" "$PYTHON" finds.py token "$out" "$err" "${files[@]}"
}

cat >matins.toml <<-END
	[[routines.r.steps]]
	name = "leak"
	type = "script"
	command = "$PYTHON"
	args = ["$T/leak.py", "TOKEN"]
	env = { TOKEN = { file = "token" } }
END

ok "the probe finds a value where there is one" \
	bash -c '! "$0" finds.py token token' "$PYTHON"

# ---- every form, in every kind of output ----

run_matins run r
exit_is "the step with a secret runs" 0
out_like "the secret is scrubbed from what the step prints" '^  <\*\*\*>$'
is "every form was replaced" "$(grep -c '\*\*\*' "$out")" \
	"$(grep -c '^  <' "$out")"
shows_nothing "text: nothing is shown"
for form in --json --md --html --data "--json --pretty"; do
	# shellcheck disable=SC2086
	run_matins run r $form
	shows_nothing "$form: nothing is shown"
done
run_matins run r --json
json_is "the report is good JSON and counts the hits" \
	step_results[0].state ok step_results[0].run.scrubbed present
"$PYTHON" -c 'import sys; print("bytes:", len(open("token").read().strip().encode()))' >want
file_has "the program had the trimmed value" "$out" "$(<want)"
run_matins run r -v -o report.json --json
shows_nothing "-v: nothing is shown"
ok "-o: nothing is shown" "$PYTHON" finds.py token report.json
run_matins show last --json
shows_nothing "show: nothing is shown"

# ---- a result of MCP stays valid and keeps its other bytes ----

cat >result.py <<-'END'
	import json, os
	v = os.environ["TOKEN"]
	print(json.dumps({"content": [
	    {"type": "text", "text": "a " + v + " b", "n": 9007199254740993},
	    {"type": "text", "text": json.dumps({"k": v})}],
	    "structuredContent": {v: [v, 1]}}))
END
cat >mcp.toml <<-END
	[[routines.r.steps]]
	name = "a"
	type = "mcp-client"
	command = "$PYTHON"
	args = ["$T/result.py"]
	env = { TOKEN = { file = "token" } }
END
run_matins run -c mcp.toml r --json
json_is "subprocess: scrubbed inside of the strings" step_results[0].state ok \
	step_results[0].data.content[0].text "a *** b" \
	step_results[0].data.content[0].n 9007199254740993 \
	step_results[0].data.content[1].text '{"k": "***"}' \
	'step_results[0].data.structuredContent.***[0]' '***' \
	step_results[0].output '~^a \*\*\* b'
shows_nothing "subprocess: nothing is shown"

# A value that is a number does not break the JSON around it.
echo 'import json, os; print(json.dumps({"content": [{"type": "text",' \
	'"text": "x", "id": int(os.environ["TOKEN"])}]}))' >result.py
sed 's/{ file = "token" }/{ env = "NUMBER" }/' mcp.toml >number.toml
NUMBER=4242424242 run_matins run -c number.toml r --json
json_is "a number becomes the string ***" \
	step_results[0].data.content[0].id '***'
file_lacks "a number is not shown" "$out" 4242424242

# ---- where values come from ----

cat >sources.toml <<-'END'
	[[routines.r.steps]]
	name = "env"
	type = "script"
	command = "printenv"
	args = ["A"]
	env = { A = { env = "B" } }
	[[routines.r.steps]]
	name = "cmd"
	type = "script"
	command = "printenv"
	args = ["A"]
	env = { A = { cmd = "printf ' %s x \n' 'from a command'" } }
	[[routines.r.steps]]
	name = "undeclared"
	type = "script"
	command = "printenv"
END
A=wrong-one B=from-the-env run_matins run -c sources.toml r --json
json_is "a credential from env is scrubbed" step_results[0].output '***'
json_is "cmd: split into words, run, trimmed" step_results[1].output '***'
json_is "without a declaration nothing is handed on" step_results[2].state ok
file_lacks "no value is shown" "$out" from-the-env
file_lacks "no value of a command is shown" "$out" 'from a command'
file_lacks "no variable of the caller is shown" "$out" wrong-one
A=wrong-one B=k3y run_matins run -c sources.toml r --json
json_is "a value under 6 bytes is not scrubbed" step_results[0].output k3y

# ---- unavailable: the step is skipped, the others run ----

cat >missing.toml <<-'END'
	[[routines.r.steps]]
	name = "env"
	type = "script"
	command = "date"
	env = { A = { env = "UNSET_1" } }
	[[routines.r.steps]]
	name = "file"
	type = "script"
	command = "date"
	env = { A = { file = "gone" } }
	[[routines.r.steps]]
	name = "cmd"
	type = "script"
	command = "date"
	env = { A = { cmd = "sh -c 'echo half$((1 + 1))secret; exit 3'" } }
	[[routines.r.steps]]
	name = "no-program"
	type = "script"
	command = "date"
	env = { A = { cmd = "no-such-program-1" } }
	[[routines.r.steps]]
	name = "empty"
	type = "script"
	command = "date"
	env = { A = { cmd = "true" } }
	[[routines.r.steps]]
	name = "good"
	type = "script"
	command = "echo"
	args = ["still runs"]
END
run_matins run -c missing.toml r --json
exit_is "skips are no failure" 0
for i in 0 1 2 3 4; do
	json_is "step $i is skipped for its credential" \
		step_results[$i].state skipped \
		step_results[$i].reason no_credential
done
json_is "the unset variable is named" step_results[0].error '~UNSET_1 is not set'
json_is "the missing file is named" step_results[1].error '~/gone: No such file'
json_is "the failed command is named" step_results[2].error '~sh -c'
json_is "cmd without program: named" step_results[3].error '~no-such-program-1'
json_is "the empty credential is named" step_results[4].error '~empty'
json_is "the other step runs" step_results[5].output 'still runs'
file_lacks "what a failed command printed is not shown" "$out" half2secret
file_lacks "the output of a failed command is not on stderr" "$err" half2secret

cp token locked
chmod 000 locked
sed 's/"gone"/"locked"/' missing.toml >locked.toml
as_user run_matins run -c locked.toml r --json
json_is "an unreadable file: named" step_results[1].reason no_credential \
	step_results[1].error '~/locked: Permission denied'
[[ $(id -u) == 0 ]] && chown -R root: "$T"

# ---- what the end of stderr cuts through ----

cat >cut.py <<-'END'
	import os, sys
	sys.stderr.write("x" * 100 + os.environ["TOKEN"] + "y" * int(sys.argv[1]))
END
leaks=0
for cut in 1 4 8 12; do
	cat >cut.toml <<-END
		[[routines.r.steps]]
		name = "a"
		type = "script"
		command = "$PYTHON"
		args = ["$T/cut.py", "$((40 - cut))"]
		stderr_max = 40
		env = { TOKEN = { env = "LONG" } }
	END
	LONG=abcdefghijklmnopqrst run_matins run -c cut.toml r --json
	grep -aqE 'qrst|nopq|rsty|tyy' "$out" && leaks=$((leaks + 1))
done
is "half a value at the edge of the kept stderr is not shown" "$leaks" 0

# ---- what other ceilings cut through ----

# A server that prints TOKEN where the reader will cut: $1 says where, $2 how
# many bytes stand before it.
cat >server.py <<-'END'
	import json, os, sys
	where, n = sys.argv[1], int(sys.argv[2])
	text = "x" * n + os.environ["TOKEN"] + "y" * 80000
	def say(m):
	    print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)
	if where == "stdout":
	    sys.stdout.write(text)
	    sys.exit(0)
	if where == "killed":
	    sys.stdout.write(text[:n + 12])
	    sys.stdout.flush()
	    sys.stderr.write(text[:n + 12])
	    sys.stderr.flush()
	    os.kill(os.getpid(), 9)
	if where == "noise":
	    print(text, flush=True)
	m = json.loads(sys.stdin.readline())
	if m["method"] != "initialize":
	    sys.exit(1)
	if where == "refuse":
	    say({"id": m["id"], "error": {"code": -1, "message": text}})
	v = text if where == "version" else m["params"]["protocolVersion"]
	name = text if where == "name" else "n"
	say({"id": m["id"], "result": {"protocolVersion": v,
	    "capabilities": {}, "serverInfo": {"name": name, "version": name}}})
	sys.stdin.readline()
	m = json.loads(sys.stdin.readline())
	if where == "error":
	    say({"id": m["id"], "error": {"code": -1, "message": text}})
	uri = text if where == "uri" else "u"
	say({"id": m["id"], "result": {"content": [
	    {"type": "resource_link", "uri": uri, "name": "n"}]}})
END
# cuts WHERE N [TYPE...]: the report shows nothing of a value cut at N
cuts() {
	local where=$1 n=$2 type=${3-mcp-client} i shown

	for i in 7 12 19; do
		cat >cut.toml <<-END
			[[routines.r.steps]]
			name = "a"
			type = "$type"
			command = "$PYTHON"
			args = ["$T/server.py", "$where", "$((n - i))"]
			$([[ $type == script ]] || echo 'tool = "t"')
			stdout_max = ${STDOUT_MAX-1000000}
			env = { TOKEN = { env = "LONG" } }
		END
		LONG=abcdefghijklmnopqrst run_matins run -c cut.toml r --json
		shown=$(grep -aohE '.{0,20}abcdef.{0,20}' "$out" "$err")
		is "$where cut $i bytes into a value: nothing is shown" \
			"$shown" ""
	done
}
cuts refuse 512
json_is "the server did refuse" step_results[0].reason handshake
cuts version 64
json_is "the version was not known" step_results[0].reason handshake
cuts error 16384
json_is "the call did fail" step_results[0].reason rpc_error
cuts name 1024
json_is "the name was cut" step_results[0].run.mcp.server '~…$'
cuts noise 4096
json_is "the noise was cut" step_results[0].run.mcp.noise '~…'
cuts uri 300
json_is "the block was shown" step_results[0].output '~resource_link'
STDOUT_MAX=5000 cuts stdout 5000 script
json_is "stdout was over its ceiling" step_results[0].reason output_limit
cuts killed 400 script
json_is "the program was killed" step_results[0].reason signal

# ---- a value that is equal to a word of ours ----

echo 'print("{\"content\":[{\"type\":\"text\",\"text\":\"content\"}]}")' \
	>result.py
sed 's/{ file = "token" }/{ env = "WORD" }/' mcp.toml >word.toml
for word in content enforced mcp-client/1 isError structuredContent; do
	WORD=$word run_matins run -c word.toml r --json
	json_is "the value $word leaves our own words alone" \
		step_results[0].data.schema mcp-client/1 \
		step_results[0].data.content[0].type text \
		step_results[0].data.isError false \
		step_results[0].run.enforced present
done
WORD=content run_matins run -c word.toml r --json
json_is "a word that the program prints is scrubbed" \
	step_results[0].data.content[0].text '***' \
	step_results[0].output '***'

# ---- in single bytes, on both streams in turn ----

# As leak.py, each byte by a write of its own.
"$PYTHON" - <<-'END'
	text = open("leak.py").read()
	at = text.index("for f in forms:\n    print")
	open("slow.py", "w").write(text[:at] + "\n".join([
	    "for f in forms:",
	    "    for c in ('<' + f + '>' + chr(10)).encode():",
	    "        os.write(1, bytes([c]))",
	    "        os.write(2, bytes([c]))", ""]))
END
sed 's/leak\.py/slow.py/' matins.toml >slow.toml
run_matins run -c slow.toml r
exit_is "bytes one by one: the step runs" 0
out_like "bytes one by one: it printed" '^  <\*\*\*>$'
is "bytes one by one: every form was replaced" \
	"$(grep -c '\*\*\*' "$out")" "$(grep -c '^  <' "$out")"
shows_nothing "bytes one by one: nothing is shown"
run_matins run -c slow.toml r --json
shows_nothing "bytes one by one, --json: nothing is shown"

# ---- what a server says beside its answers, cut anywhere ----

cat >talk.py <<-'END'
	import json, os, sys
	v = os.environ["TOKEN"]
	def say(m):
	    text = (json.dumps({"jsonrpc": "2.0", **m}) + "\n").encode()
	    # what is no answer in single bytes
	    n = 1 if "method" in m else len(text)
	    for i in range(0, len(text), n):
	        os.write(1, text[i:i + n])
	def chat():
	    say({"method": "notifications/message", "params": {
	        "level": "error", "logger": v, "data": {v: v}}})
	    say({"method": "notifications/progress", "params": {
	        "progressToken": v, "progress": 1, "message": v}})
	    say({"method": v, "params": {v: v}})
	    print(v, file=sys.stderr, flush=True)
	for line in sys.stdin:
	    m = json.loads(line)
	    chat()
	    if "id" not in m:
	        continue
	    if m["method"] == "initialize":
	        say({"id": m["id"], "result": {
	            "protocolVersion": m["params"]["protocolVersion"],
	            "capabilities": {"tools": {}}, "instructions": v,
	            "serverInfo": {"name": v, "version": v, "title": v}}})
	    elif m["method"] == "tools/list":
	        say({"id": m["id"], "result": {"tools": [
	            {"name": v, "description": v,
	             "inputSchema": {"type": "object"}}]}})
	    elif os.environ["HOW"] == "refusing":
	        say({"id": m["id"], "error": {"code": -32000, "message": v,
	            "data": {v: [v]}}})
	    else:
	        say({"id": m["id"], "result": {"isError": True, "content": [
	            {"type": "text", "text": v}], "_meta": {v: v}}})
END
cat >talk.toml <<-END
	[[routines.r.steps]]
	name = "a"
	type = "mcp-client"
	command = "$PYTHON"
	args = ["$T/talk.py"]
	tool = "t"
	env = { TOKEN = { file = "token" }, HOW = { env = "HOW" } }
END
for how in refusing answering; do
	HOW=$how run_matins run -v -c talk.toml r --json
	exit_is "a talkative server, $how: the step fails" 2
	shows_nothing "a talkative server, $how: nothing is shown"
	HOW=$how run_matins run -v -c talk.toml r
	shows_nothing "a talkative server, $how, as text: nothing is shown"
done

# ---- what a program calls itself, of which the kernel keeps 15 bytes ----

cat >comm.py <<-'END'
	import ctypes, os, sys
	libc = ctypes.CDLL(None)
	libc.prctl(15, os.environ["TOKEN"].encode(), 0, 0, 0)
	libc.ptrace(16, 1, 0, 0)
	sys.exit(1)
END
for type in script mcp-client; do
	cat >comm.toml <<-END
		[[routines.r.steps]]
		name = "a"
		type = "$type"
		command = "$PYTHON"
		args = ["$T/comm.py"]
		env = { TOKEN = { env = "LONG" } }
	END
	LONG=abcdefghijklmnopqrst run_matins run -v -c comm.toml r --json
	json_is "$type: the refused call is there" \
		step_results[0].run.denials[0].name ptrace \
		step_results[0].run.denials[0].program '***'
	is "$type: who asked shows nothing" \
		"$(grep -aohE '.{0,20}abcdef.{0,20}' "$out" "$err")" ""
done

# ---- the runner's memory ----

# opens PID COMMAND...: what of a process the command may open
opens() {
	local pid=$1 f

	shift
	for f in environ maps mem; do
		"$@" bash -c ': <"$1"' x "/proc/$pid/$f" 2>/dev/null && echo "$f"
	done
}
as=(env)
[[ $(id -u) -ne 0 ]] || as=("${_setpriv[@]}")
mkfifo in.fifo out.fifo
[[ $(id -u) -ne 0 ]] || as_user true
runner=$BIN
[[ $(id -u) -ne 0 ]] || runner=$T/.bin/matins
"${as[@]}" "$runner" exec -- cat <in.fifo >out.fifo 2>exec.err &
pid=$!
exec 8>in.fifo 9<out.fifo
echo started >&8
read -r line <&9
is "the child of exec runs" "$line" started
is "its user cannot look into the runner" "$(opens "$pid" "${as[@]}")" ""
is "the user can look into a program of its own" "$(opens self "${as[@]}")" \
	"$(printf 'environ\nmaps\nmem')"
exec 8>&- 9<&-
wait "$pid"
[[ $(id -u) == 0 ]] && chown -R root: "$T"

# ---- a literal that looks like a credential ----

echo 'env = { A = "sk-literal-1234567890" }' >>sources.toml
run_matins run -c sources.toml r
exit_is "a literal: exit status 1" 1
file_lacks "a literal is not shown" "$err" sk-literal

# ---- a link that a program may have made leads to no credential ----

echo outer-secret >outer
mkdir -m 777 w
cat >link.toml <<-END
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "sh"
	args = ["-c", 'echo "\$X" | rev; rm w/own; ln -s $T/outer w/own; ln -s $T w/folder']
	env = { X = { file = "w/own" } }
	sandbox = { write = ["w"], exec = ["rev", "rm", "ln"] }
END
echo own-secret >w/own
run_matins run -c link.toml r
out_like "a file of a credential in a folder that the step may write" terces-nwo
run_matins run -c link.toml r
out_unlike "made a link by the step: what it leads to is not read" terces-retuo
out_like "the message names the link in the folder" 'w/own leads to .* by a link in a folder that the program may write'
ln -sf elsewhere w/own
run_matins run -c link.toml r
out_like "a link to nothing: said" 'skipped: X: file .*w/own: No such file'
sed -i 's,"w/own",w/folder/outer",; s,file = w,file = "w,' link.toml
run_matins run -c link.toml r
out_unlike "a folder made a link does not show the secret" terces-retuo
echo inner-secret >w/inner
rm w/own
ln -s inner w/own
sed -i 's,w/folder/outer,w/own,' link.toml
run_matins run -c link.toml r
out_like "a link within that folder is followed" terces-renni
ln -s "$T/outer" mine
sed -i 's,{ file = "w/own" },{ file = "mine" },' link.toml
run_matins run -c link.toml r
out_like "a link of the user's own is followed" terces-retuo

# ---- what is written down of a program: what it starts, where it connects ----

cat >records.py <<-'END'
	import os, subprocess, urllib.request
	v = os.environ["TOKEN"]
	def attempt(what):
	    try:
	        what()
	    except OSError:
	        pass
	os.symlink("/bin/date", "/tmp/" + v)
	for argv in (["date", "+" + v], ["date", "-u" + v, "-f" + v],
	             ["date", "+" + "%" * 250 + v], ["/tmp/" + v]):
	    attempt(lambda: subprocess.run(argv, stderr=subprocess.DEVNULL))
	attempt(lambda: urllib.request.urlopen("http://" + v + ".example.com/",
	                                       timeout=9))
END
cat >records.toml <<-END
	[[routines.r.steps]]
	name = "a"
	type = "script"
	command = "$PYTHON"
	args = ["$T/records.py"]
	env = { TOKEN = { env = "LONG" } }
	[routines.r.steps.sandbox]
	record_exec = true
	exec = ["date"]
	[routines.r.steps.sandbox.programs.date]
	deny = ["-f"]
END
export LONG=abcdefghijklmnopqrst
run_matins run -c records.toml r --json
exit_is "what is recorded: the step runs" 0
json_is "of an exec the arguments are recorded" \
	step_results[0].run.execs[1].args[1] '+***'
out_like "a path as well" '"/tmp/\*\*\*"'
out_unlike "the recorded path does not show the value" 'abcdefgh|mnopqrst'
sed -i '/^exec/a net = ["api.example.org"]' records.toml
run_matins run -c records.toml r --json
if [[ $(json_get step_results[0].state) == ok ]]; then
	out_like "a host that the proxy refused is named" \
		'"kind":"net","name":"\*\*\*\.example\.com'
	out_unlike "without the value in it" 'abcdefgh|mnopqrst'
	run_matins run -c records.toml r -o records.json
	err_like "a note names the host as well" 'denied: .*\*\*\*\.example\.com'
	err_unlike "the note shows no value" 'abcdefgh|mnopqrst'
else
	skip "the host that the proxy refused is named" "no network namespace here: $(<"$err")"
fi
run_matins trace -c records.toml r a
exit_is "a trace of such a step" 0
out_unlike "does not show it" 'abcdefgh|mnopqrst'
err_unlike "the trace shows no value on stderr" 'abcdefgh|mnopqrst'
unset LONG

# ---- a literal in args ----

printf '%s\n' '[[routines.r.steps]]' 'name = "a"' 'type = "script"' \
	'command = "echo"' 'args = ["--token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "--password", "tr0ub4dor"]' \
	>literal.toml
run_matins run -c literal.toml r --json
exit_is "a token in args: the step runs" 0
err_like "with a warning" 'warning: .*"args" holds what looks like'
json_is "and no report shows it" step_results[0].output '--token ghp_*** --password ***'
is "nor a stored one" "$(grep -rc 'ghp_abc\|tr0ub4dor' "$XDG_STATE_HOME" | grep -vc ':0$')" 0

done_testing
