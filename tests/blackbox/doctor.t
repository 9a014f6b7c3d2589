#!/usr/bin/env bash
# Can a routine run here? Every row that is fine has one beside it that is not.
. "${BASH_SOURCE%/*}/lib.sh"

# row NAME AREA LEVEL ERE: a check of that area whose text matches
row() {
	"$PYTHON" -c '
import json, re, sys
path, area, level, ere = sys.argv[1:]
rows = [c for c in json.load(open(path))["checks"] if c["area"] == area]
for c in rows:
    if re.fullmatch(level, c["level"]) and re.search(ere, c["name"] + ": " + c["text"]):
        if c["level"] == "ok" or c.get("remedy"):
            sys.exit(0)
print(json.dumps(rows, indent=1))
sys.exit(1)' "$out" "$2" "$3" "$4" >"$T/.row" 2>&1
	ok "$1" test $? = 0
	[[ -s $T/.row ]] && show_file "$T/.row" "the rows of $2"
	return 0
}

printf 'a-long-secret\n' >key
printf 'abc\n' >short
chmod 600 key short
cat >good.toml <<-'END'
	[routines.good]
	[[routines.good.steps]]
	name = "host"
	type = "mcp-client"
	command = "matins"
	args = ["brief", "host", "--json"]
	env = { TOKEN = { file = "key" } }
END
run_matins doctor -c good.toml --json
exit_is "a routine that can run" 0
json_is "a routine that can run: ok" ok true
row "the program is resolved" program ok 'good/host: /.*matins'
row "the credential is there" credential ok 'TOKEN'
row "the leash and what it allows" leash ok 'declared.*matins'
row "the filter is enforced" protection ok '^syscalls: enforced'
row "the network is enforced" protection ok '^net-off: enforced'
row "what the kernel has of Landlock" kernel '(ok|warning)' '^landlock: '
row "who children are" kernel ok '^identity: children are'
row "the state directory" state ok 'recorded'
file_lacks "the value of a credential is not shown" "$out" a-long-secret

cat >bad.toml <<-'END'
	[routines.bad]
	[[routines.bad.steps]]
	name = "gone"
	type = "script"
	command = "no-such-program-anywhere"
	env = { A = { env = "NOT_SET_ANYWHERE" }, B = { file = "missing" }, C = { file = "short" } }
	[[routines.bad.steps]]
	name = "plain"
	type = "script"
	command = "./key"
	env = { D = { cmd = "no-such-helper get" } }
	[[routines.bad.steps]]
	name = "off"
	type = "script"
	command = "another-that-is-not-there"
	enabled = false
	[[routines.bad.steps]]
	name = "unset"
	type = "script"
	command = "true"
	cwd = "${NOT_SET_ANYWHERE}"
END
run_matins doctor -c bad.toml bad --json
exit_is "a routine that cannot run" 1
json_is "a routine that cannot run: not ok" ok false
row "a missing program fails and says what to do" program failed \
	'bad/gone: .*no-such-program'
row "a file that is no program fails" program failed 'bad/plain: .*key'
row "a variable that is not set fails" credential failed 'A: .*NOT_SET'
row "a missing file fails" credential failed 'B: .*missing'
row "a short credential is a warning" credential warning 'C: .*scrubbed'
row "the helper of a credential is missing" credential failed \
	'D: .*no-such-helper'
row "a disabled step is not looked at, and that is said" step ok '^bad/off: .*not looked at'
row "a variable of a step is named" variable failed 'NOT_SET_ANYWHERE'
row "its step is not called disabled" step failed \
	'^bad/unset: a variable is not set'

mkdir -p "$HOME/.ssh"
touch "$HOME/.ssh/id" plain-text
cat >named.toml <<-END
	[[routines.n.steps]]
	name = "key"
	type = "script"
	command = "cat"
	args = ["$HOME/.ssh/id"]
	[[routines.n.steps]]
	name = "text"
	type = "script"
	command = "cat"
	args = ["$PWD/plain-text"]
END
run_matins doctor -c named.toml n --json
row "a key that an argument names is a warning" program warning \
	'n/key: .*/\.ssh/id can be read.*~/\.ssh holds'
file_lacks "another file is none" "$out" 'plain-text can be read'
rm -r "$HOME/.ssh"

chmod 644 key
run_matins doctor -c good.toml --json
exit_is "a credential that others can read: only a warning" 0
row "a credential that others can read: says chmod" credential warning \
	'TOKEN: .*read by others'

cat >leashed.toml <<-'END'
	[caveats]
	fs_read = "all"
	fs_write = "all"
	exec = { only = ["true"] }
	net = "all"
	max_calls = "unlimited"
	valid_for_generation = "all"
	[routines.l]
	[[routines.l.steps]]
	name = "allowed"
	type = "script"
	command = "true"
	[[routines.l.steps]]
	name = "denied"
	type = "script"
	command = "false"
END
run_matins doctor -c leashed.toml --json
exit_is "the leash denies one step" 1
row "the leash: an allowed program" program ok 'l/allowed'
row "the leash: a denied program" program failed 'l/denied'
row "the leash: its source" leash ok 'caveats'

not_ok "nothing was created by looking" test -e "$XDG_STATE_HOME/matins"
mkdir "$T/locked"
MATINS_STATE=$T/locked/deep/state run_matins doctor -c good.toml --json
row "a state directory that is not there yet" state ok 'first creates it'
not_ok "a state directory is not created by doctor" test -e "$T/locked/deep"

# ---- tokens of remote servers ----

MATINS_STATE=$T/st run_matins doctor --json
file_lacks "without tokens there is nothing to say of them" "$out" \
	'"area":"tokens"'
mkdir -p "$T/st/tokens"
chmod 700 "$T/st/tokens"
sealed=$T/st/tokens/a.sealed
tail -c +2 "$TOP/tests/fuzz/corpus/seal/opens" >"$sealed"
chmod 600 "$sealed"
MATINS_STATE=$T/st run_matins doctor --json
row "a key beside the tokens is a warning" tokens warning \
	'st/tokens: 1 encrypted by a key in a file beside them'
printf '\002' | dd of="$sealed" bs=1 seek=9 conv=notrunc status=none
MATINS_STATE=$T/st run_matins doctor --json
row "a key in the keyring is none" tokens ok 'in the kernel.s keyring'
echo broken >"$sealed"
MATINS_STATE=$T/st run_matins doctor --json
row "a file that is none of ours is a warning" tokens warning \
	'1 cannot be used: a.sealed: not a file of tokens'
chmod 755 "$T/st/tokens"
MATINS_STATE=$T/st run_matins doctor --json
row "a folder that is open to others cannot serve" tokens failed \
	'open to others'
mkdir -m 700 "$T/elsewhere"
cat >elsewhere.toml <<-'END'
	[servers.remote]
	url = "https://mcp.example/mcp"
	[servers.remote.auth]
	token_store = "./elsewhere"
	[routines.e]
	[[routines.e.steps]]
	name = "host"
	type = "mcp-client"
	command = "matins"
	args = ["brief", "host", "--json"]
END
run_matins doctor -c elsewhere.toml --json
row "a folder of one server" tokens ok 'elsewhere: none is kept yet'

# ---- servers with a URL, and servers that are asked ----

: >empty.pem
cat >remote.toml <<-'END'
	[servers.open]
	url = "https://mcp.example.com/mcp?key=in-the-query"
	[servers.token]
	url = "https://mcp.example.com/mcp"
	token = { env = "NOT_SET_ANYWHERE" }
	[servers.ca]
	url = "https://mcp.example.com/mcp"
	ca_file = "empty.pem"
	token = { file = "key" }
	[servers.ci]
	url = "https://mcp.example.com/mcp"
	[servers.ci.auth]
	grant = "jwt-bearer"
	client_id = "me"
	assertion_file = "missing.jwt"
	[servers.anybody]
	url = "https://mcp.example.com/mcp"
	[servers.anybody.auth]
	grant = "client_credentials"
END
for name in open0 token1 ca2 ci3 anybody4 open5; do
	cat >>remote.toml <<-END
		[[routines.u.steps]]
		name = "$name"
		type = "mcp-client"
		server = "${name%?}"
		tool = "echo"
	END
done
run_matins doctor -c remote.toml u --json
exit_is "remote servers: some cannot work" 1
row "a URL that the leash allows" server ok \
	'u/open0: open at https://mcp.example.com may be .*libcurl'
file_lacks "what stands in its query is not shown" "$out" in-the-query
row "no token is kept of it: a warning" authorization warning \
	'u/open0: .*no token'
file_lacks "each server is listed once" "$out" u/open5
row "the variable of a token is not set" credential failed \
	'u/token1 token: .*NOT_SET'
row "authorities without a certificate" server failed \
	'u/ca2: .*no certificate'
row "a token in a file" credential '(ok|warning)' 'u/ca2 token: '
row "a grant without a person" authorization ok 'u/ci3: .*jwt-bearer'
row "and no issuer says where its credential may go" authorization warning \
	'ci: without issuer .* url.s own origin'
row "its file is not there" credential failed \
	'u/ci3 assertion_file: .*missing.jwt'
row "a grant without a client" authorization failed 'u/anybody4: .*client'
MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":"all","net":{"only":["example.org"]},"max_calls":"unlimited","valid_for_generation":"all"}' \
	run_matins doctor -c remote.toml u --json
row "a URL that the leash does not allow" server failed \
	'u/open0: .*mcp.example.com'
out_like "a URL outside the leash has a remedy" 'add ..mcp.example.com.. to .net. of the leash'
not_ok "nothing was created by looking at tokens" test -e "$T/state/matins"

cat >deep.toml <<-END
	[servers.nobody]
	url = "http://127.0.0.1:1/mcp"
	[servers.silent]
	command = "sleep"
	args = ["60"]
	[servers.shared]
	command = "matins"
	args = ["brief"]
	[[routines.d.steps]]
	name = "stdout"
	type = "mcp-client"
	server = "shared"
	[[routines.d.steps]]
	name = "second"
	type = "mcp-client"
	server = "shared"
	tool = "host"
	[[routines.d.steps]]
	name = "third"
	type = "mcp-client"
	server = "shared"
	tool = "hosts"
	[[routines.d.steps]]
	name = "host"
	type = "mcp-client"
	command = "matins"
	args = ["brief"]
	tool = "host"
	[[routines.d.steps]]
	name = "hostess"
	type = "mcp-client"
	command = "matins"
	args = ["brief"]
	tool = "hostess"
	[[routines.d.steps]]
	name = "away"
	type = "mcp-client"
	server = "nobody"
	tool = "echo"
	[[routines.d.steps]]
	name = "silent"
	type = "mcp-client"
	server = "silent"
	tool = "echo"
	timeout = "500ms"
	[[routines.d.steps]]
	name = "mute"
	type = "mcp-client"
	command = "sleep"
	args = ["60", "0s"]
	tool = "echo"
	timeout = "500ms"
	[[routines.d.steps]]
	name = "reads"
	type = "mcp-client"
	command = "$PYTHON"
	args = ["-c", "open('$T/far/list')"]
	tool = "t"
	[[routines.d.steps]]
	name = "touch"
	type = "script"
	command = "touch"
	args = ["$T/touched"]
	sandbox = { write = ["$T"] }
END
mkdir far
touch far/list
run_matins doctor -c deep.toml d --json
file_lacks "without --deep nobody is asked" "$out" '"area":"answer"'
run_matins doctor -c deep.toml d --deep --json
exit_is "--deep: some do not answer" 1
row "--deep: a server that answers" answer ok \
	'd/host: matins-brief .*MCP 20.*, 4 tools'
row "--deep: one without the tool of the step" answer failed \
	'd/hostess: .*none is "hostess"'
row "--deep: a server whose first step calls no tool" answer ok \
	'd/second: matins-brief'
row "--deep: the tool of a later step with the same server" answer failed \
	'd/third: .*none is "hosts"'
file_lacks "--deep: what is asked is not guessed" "$out" 'it may want none'
row "--deep: nobody listens" answer failed 'd/away: .*127.0.0.1:1'
row "--deep: a server that says nothing" answer failed 'd/silent: .*500 ms'
not_ok "--deep: a script is not run" test -e "$T/touched"
row "--deep: a server that dies at its start" answer failed \
	'd/reads: .*status 1 .*; its stderr: FileNotFoundError: .*/far/list'
run_matins doctor -c deep.toml d --deep
out_like "--deep: the line of advice that lets it start" \
	'-> denied: read /.*/far/list, .*: sandbox.read = .*; to find .*: matins trace -c [^ ]*/deep.toml d reads$'
out_like "--deep: the command of a step that says nothing" \
	"matins tools -v -- sleep 60 0s$"

# ---- what is declared, and no step uses ----

mkdir -p declared/root
printf '#!/bin/sh\necho a-value-of-some-length\n' | tee declared/helper >declared/browse
chmod 755 declared/helper declared/browse
cp key declared/key
chmod 600 declared/key
cat >declared/all.toml <<-'END'
	[servers.local]
	command = "matins"
	args = ["brief"]
	env = { A = { env = "SET_HERE" }, B = { file = "key" }, C = { cmd = "./helper get" } }
	sampling = ["./helper"]
	roots = ["root"]
	sandbox = { read = ["root"], exec = ["./helper"] }
	[servers.remote]
	url = "https://mcp.example.com/mcp"
	token = { env = "SET_HERE" }
	[servers.remote.auth]
	browser = "./browse"
	[routines.r]
	[[routines.r.steps]]
	name = "s"
	type = "script"
	command = "true"
	[[routines.r.steps]]
	name = "off"
	type = "mcp-client"
	server = "local"
	tool = "host"
	enabled = false
END
export SET_HERE=a-long-enough-value
run_matins doctor -c declared/all.toml --json
exit_is "servers that no step uses can work" 0
row "its program is looked at" program ok '^servers\.local: /.*matins'
row "its variable" credential ok '^servers\.local A: SET_HERE is there'
row "its file" credential ok '^servers\.local B: .*key is there'
row "the program of its reference" credential ok '^servers\.local C: .*helper'
row "the program that answers sampling" program ok '^servers\.local sampling: '
row "its URL" server ok '^servers\.remote: remote at https://mcp\.example'
row "its token" credential ok '^servers\.remote token: '
row "the program that opens a page" program ok '^servers\.remote browser: .*browse is there'
row "a disabled step is said not to be looked at" step ok '^r/off: .*not looked at'
{
	cat declared/all.toml
	printf '[servers.parked]\ncommand = "not-there"\nenabled = false\n'
} >declared/parked.toml
run_matins doctor -c declared/parked.toml --json
exit_is "a server that is switched off fails nothing" 0
row "a server that is switched off is said not to be looked at" step ok \
	'^servers\.parked: disabled, and not looked at'
run_matins doctor -c declared/all.toml --deep --json
row "--deep: it is asked, for no tool in particular" answer ok \
	'^servers\.local: matins-brief .*, 4 tools$'
run_matins doctor -c declared/all.toml
out_like "text: everything was looked at" '^all checks passed'
run_matins doctor -c declared/all.toml r --json
exit_is "doctor of a routine looks at its own things" 0
file_lacks "with a routine: servers that it does not use are left out" \
	"$out" 'servers.local'
run_matins doctor -c declared/all.toml r
out_like "text: what was looked at" '^all checks of this routine passed'

# broken NAME AREA ERE [SED...]: one thing is not there
broken() {
	local name=$1 area=$2 ere=$3

	shift 3
	sed "$@" declared/all.toml >declared/broken.toml
	run_matins doctor -c declared/broken.toml --json
	exit_is "$name: doctor fails for a broken configuration" 1
	row "$name: named, with what to do" "$area" failed "$ere"
	run_matins doctor -c declared/broken.toml r
	exit_is "$name: the routine can run" 0
}
broken "a program that is not there" program '^servers\.local: .*no-such-server' \
	's/"matins"/"no-such-server"/'
broken "a variable that is not set" credential '^servers\.local A: .*NOT_SET_HERE' \
	's/A = { env = "SET_HERE"/A = { env = "NOT_SET_HERE"/'
broken "a file that is not there" credential '^servers\.local B: .*no-key' \
	's/"key"/"no-key"/'
broken "the program of a reference that is not there" credential \
	'^servers\.local C: .*no-helper' 's|"./helper get"|"./no-helper get"|'
broken "a program for sampling that is not there" program \
	'^servers\.local sampling: .*no-helper' 's|\["./helper"\]$|["./no-helper"]|'
broken "a root that is not there" server '^servers\.local roots: .*no-root' \
	's|roots = \["root"|roots = ["no-root"|'
broken "a token that is not there" credential '^servers\.remote token: .*NOT_SET_HERE' \
	's/token = { env = "SET_HERE"/token = { env = "NOT_SET_HERE"/'
broken "a browser that is not there" program '^servers\.remote browser: .*no-browser' \
	's|"./browse"|"./no-browser"|'
broken "a program of exec that is not there" program \
	'^servers\.local: sandbox\.exec names no-such-tool, which is not in PATH' \
	's|exec = \["./helper"|exec = ["no-such-tool"|'
broken "a folder of exec that is not there" program \
	'^servers\.local: sandbox\.exec names .*/declared/node_modules, which does not exist' \
	's|exec = \["./helper"|exec = ["./node_modules"|'
run_matins doctor -c declared/broken.toml
out_like "a missing node_modules: what to do speaks of it" \
	'^ +-> run npm install in its folder, or take it out of .sandbox\.exec.$'
out_unlike "a missing node_modules: the command is not to blame" 'install it, or write its'
sed 's/enabled = false//' declared/broken.toml >declared/step.toml
run_matins run -c declared/step.toml r --json
json_is "a missing node_modules: so says the step" step_results[1].state skipped \
	step_results[1].error \
	'~^sandbox\.exec names \./node_modules, which does not exist \(run npm install first\?\)$'
unset SET_HERE

# no warning is left without a way out, whatever the kernel lacks
for level in $("$HELPERS/hide" --list 2>/dev/null | grep -v -e '^landlock-abi' -e '^sysctl' -e '^domain'); do
	at_level "$level"
	run_matins doctor --json
	"$PYTHON" -c '
import json, sys
bare = [c for c in json.load(open(sys.argv[1])).get("checks", [])
        if c["level"] != "ok" and not c.get("remedy")]
print(json.dumps(bare, indent=1))
sys.exit(bool(bare))' "$out" >"$T/.row" 2>&1
	ok "without $level: each row says what to do" test $? = 0
	at_level
done

# ---- a step whose policy comes to something else ----

cat >wide.toml <<-'END'
	[routines.w]
	[[routines.w.steps]]
	name = "wide"
	type = "script"
	command = "true"
	sandbox = { net = "all", isolate = "off" }
	[[routines.w.steps]]
	name = "usual"
	type = "script"
	command = "true"
	[[routines.w.steps]]
	name = "named"
	type = "script"
	command = "true"
	sandbox = { net = ["127.0.0.1:8765", "api.example.com"] }
END
run_matins doctor -c wide.toml w --json
row "hosts that are named are no loss" protection ok \
	'^w/named net-off: net: 127\.0\.0\.1:8765, api\.example\.com only$'
row "what a step gives up" protection warning '^w/wide net-off: absent: .*; so '
row "with what to do" protection warning '^w/wide proc-hidden: absent'
file_lacks "a step that gives up nothing has no rows" "$out" 'w/usual n'
run_matins doctor -c wide.toml
out_like "text: columns are aligned" '^  ok      syscalls     +enforced'
out_like "text: what to do about it" '-> isolate = "auto"'

# ---- the dead man's check ----

run_matins doctor -c good.toml --stale 1h --json
exit_is "a routine that never ran is stale" 1
row "a routine that never ran: says so" stale failed 'never'
chmod 600 key
run_matins run -c good.toml good
exit_is "a routine that doctor passed runs" 0
run_matins doctor -c good.toml --stale 1h --json
exit_is "a routine that just ran is not stale" 0
sleep 0.1
run_matins doctor -c good.toml --stale 50ms --json
exit_is "a routine that ran too long ago is stale" 1
run_matins step -c good.toml good host
run_matins doctor -c good.toml --stale 50ms --json
exit_is "one step is no run of the routine" 1
run_matins doctor --stale soon
exit_is "an age that is none is wrong usage" 64

# ---- without a configuration, and text ----

# ---- files that are named and not granted ----

mkdir -p named/notes named/build named/text "$HOME/lists" "$HOME/.ssh"
touch named/notes/a.md named/text/plain named/s.sh "$HOME/.ssh/id"
cat >named/n.toml <<'END'
[[routines.n.steps]]
name = "named"
type = "script"
command = "sh"
args = ["-c", "ls ./notes ~/lists/*.md", "x=./build"]
env = { A = "./text" }
[[routines.n.steps]]
name = "words"
type = "script"
command = "sh"
args = ["-c", "echo notes build https://etc/passwd >/dev/null; cat ~/.ssh/id a/b ./none"]
[[routines.n.steps]]
name = "granted"
type = "script"
command = "sh"
args = ["./s.sh", "./notes", "./text/plain"]
sandbox.read = ["notes/a.md", "text"]
END
run_matins doctor -c named/n.toml
exit_is "named files that are not granted: warnings" 0
is "each path that is there, with its line" \
	"$(grep -A1 'is named, and is not' "$out" | sed 's/  */ /g')" \
	" warning n/named ./notes is named, and is not granted: the program does not see it
 -> sandbox.read = [\"./notes\"], or write, if the program needs it
 warning n/named ~/lists is named, and is not granted: the program does not see it
 -> sandbox.read = [\"~/lists\"], or write, if the program needs it
 warning n/named ./build is named, and is not granted: the program does not see it
 -> sandbox.read = [\"./build\"], or write, if the program needs it
 warning n/named ./text is named, and is not granted: the program does not see it
 -> sandbox.read = [\"./text\"], or write, if the program needs it"

run_matins doctor
exit_is "without a configuration the machine is looked at" 0
out_like "doctor prints protections as text" '^protection'
out_like "text: it says that nothing else was looked at" \
	'no configuration: only this machine was checked'
out_unlike "text: it promises nothing" 'checks passed'
run_matins doctor -c good.toml
out_like "text: a closing sentence" 'all checks passed'
run_matins doctor -c bad.toml
out_like "text: what failed stands out" 'FAILED'
out_like "text: with what to do" '->'
run_matins doctor -c bad.toml -q
exit_is "-q: it fails" 1
out_like "-q: what failed, and what to do" 'FAILED'
out_unlike "-q: nothing else" '^  (ok|warning)|check'
run_matins doctor -c good.toml -q
out_is "-q: nothing of what is well" ""
run_matins doctor -c good.toml nothing-like-it
exit_is "doctor of an unknown routine fails" 1

MATINS_STATE=$T/key/state run_matins doctor -c good.toml --json
row "an unwritable state directory is a warning" state warning 'not recorded'

MATINS_STATE=$T/key/state run_matins doctor -c good.toml --unattended --json
row "a schedule needs the state directory" state failed 'schedules cannot run'
if [[ $(id -u) == 0 ]] && mkdir "$T/full" && mount -t tmpfs -o size=256k,mode=700 none "$T/full"; then
	MATINS_STATE=$T/full run_matins doctor -c good.toml --json
	row "a disk with room" state ok 'recorded here'
	dd if=/dev/zero of="$T/full/x" 2>/dev/null
	MATINS_STATE=$T/full run_matins doctor -c good.toml --json
	exit_is "a full disk fails" 1
	row "and is said" state failed 'not recorded.*No space left'
	is "nothing stays of the trial" "$(ls "$T/full")" x
	umount "$T/full"
else
	skip "a full disk" "needs a mount"
fi

cat good.toml - >told.toml <<'END'
[notify]
url = "https://127.0.0.1:1/x"
token = { env = "TERMINAL_ONLY" }
END
sed 's/env = "TERMINAL_ONLY"/file = "key"/' told.toml >told-file.toml
TERMINAL_ONLY=long-enough-1 run_matins doctor good -c told.toml --json
row "the token of notices: a variable of the terminal" credential ok 'notify token: TERMINAL_ONLY is there'
TERMINAL_ONLY=long-enough-1 run_matins doctor good -c told.toml --unattended --json
row "a timer does not have it" credential failed 'notify token: .*TERMINAL_ONLY'
run_matins doctor good -c told-file.toml --unattended --json
row "a file it has" credential ok 'notify token: .*key is there'
rm told*.toml

if [[ $(id -u) == 0 ]]; then
	chmod 555 "$T/locked"
	export MATINS_STATE=$T/locked/state
	as_user run_matins doctor -c good.toml --json
	row "a folder that the user cannot write is a warning" state warning \
		'not recorded'
	unset MATINS_STATE
	chown -R root: "$T"
else
	skip "a folder that the user cannot write" "needs root for a user"
fi

# ---- a pattern in read ----

printf '%s\n' '[[routines.r.steps]]' 'name = "code"' 'type = "script"' \
	'command = "echo"' 'sandbox.read = ["*.md"]' >pattern.toml
run_matins doctor -c pattern.toml r
exit_is "a pattern in read: a warning" 0
err_like "which says that it is no path" '"read" grants .*md, which does not exist: patterns'

# ---- a script that only a shell would find ----

printf '%s\n' '[[routines.r.steps]]' 'name = "own"' 'type = "script"' \
	'command = "python3"' 'args = ["~/srv/server.py"]' >tilde.toml
run_matins doctor -c tilde.toml r
out_like "a script with ~: it is passed on as it is" \
	'is to run ~/srv/server\.py, which is passed on as it is'
out_like "and the whole path is asked for" 'write the whole path'

# ---- a script that a run names ----

{
	plain later python3 'args = ["$input.script"]'
	plain part python3 'args = ["{{input.dir}}/x.py"]'
	plain given python3 'args = ["{{input.there}}/x.py"]'
	plain none python3 'args = ["nothere.py", "$input.script"]'
} >input.toml
run_matins doctor -c input.toml r -p "there=$T/none" --json
row "a script that -p will name is not looked for" program ok \
	'^r/later: .* is to run \$input\.script$'
row "nor one in a folder that it will name" program ok \
	'^r/part: .* is to run \{\{input\.dir\}\}/x\.py$'
row "another one is" program failed '^r/none: .*/nothere\.py, which does not exist'

# ---- routines within a routine ----

{
	printf '[[routines.outer.steps]]\nname = "in"\ntype = "routine"\nroutine = "mid"\n\n'
	printf '[[routines.mid.steps]]\nname = "in"\ntype = "routine"\nroutine = "inner"\n\n'
	routine=inner plain x not-there-at-all
	routine=other plain y nor-there
} >within.toml
run_matins doctor -c within.toml outer --json
exit_is "doctor of a routine looks into those within" 1
row "with their steps" program failed '^inner/x: .*not-there-at-all'
file_lacks "and into no others" "$out" 'other/y'

done_testing
