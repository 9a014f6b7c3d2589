#!/usr/bin/env bash
# `add bundle` unpacks a ZIP with a manifest.json inside the gate and starts its
# server; what is hostile in one is refused, and nothing of it is left.
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# shellcheck disable=SC2154
servers=$HOME/.local/share/matins/servers
installing=$HOME/.local/share/matins/installing

cat >bundle.py <<'END'
"""bundle.py FILE SERVER [WHAT]: a bundle of SERVER, WHAT is odd in it."""
import json
import stat
import sys
import zipfile

out, server = sys.argv[1:3]
what = sys.argv[3] if len(sys.argv) > 3 else ""
manifest = {
    "manifest_version": "0.2", "name": "fine", "version": "1.2.3",
    "server": {"type": "python", "entry_point": "server/main.py",
               "mcp_config": {"command": "python3", "args": [
                   "${__dirname}/server/main.py", "${user_config.dirs}",
                   "--mode=${user_config.mode}"],
                   "env": {"WHERE": "${__dirname}/server"}}},
    "user_config": {
        "dirs": {"type": "directory", "multiple": True,
                 "default": ["${__dirname}/server", "${HOME}/.ssh", "/usr"]},
        "mode": {"type": "string", "default": "quiet"},
        "key": {"type": "string", "sensitive": True, "required": True}},
}
config = manifest["server"]["mcp_config"]
if what == "key":
    config["env"]["API_KEY"] = "${user_config.key}"
if what == "key-argument":
    config["args"].append("--key=${user_config.key}")
if what == "binary":
    manifest["server"] = {"type": "binary", "entry_point": "server/main.py"}
if what == "overrides":
    config["platform_overrides"] = {"linux": {
        "args": ["${__dirname}/server/main.py", "linux"]}}
if what == "steals":
    config["command"] = "${__dirname}/../../../../../../.ssh/id"
if what == "runs":
    config["command"] = "${HOME}/run"
if what == "bad-key":
    manifest["user_config"]["/../../../.ssh/id"] = {
        "sensitive": True, "required": True}
    config["env"]["K"] = "${user_config./../../../.ssh/id}"
if what == "reads":
    config["args"].append("${HOME}/.ssh/id")
    config["args"].append("--key=../../../../../../.ssh/id")
    config["args"].append("~/.ssh/id")
    config["env"]["K"] = "${HOME}/.ssh/id"
if what == "grows":
    manifest["user_config"]["big"] = {"default": "x" * 60000}
    config["args"] = ["${user_config.big}" * 300] * 8
if what == "windows":
    manifest["compatibility"] = {"platforms": ["win32"]}
if what == "entry":
    manifest["server"]["entry_point"] = "../main.py"
if what == "newer":
    manifest["version"] = "2.0.0"


def entry(z, name, content="x", mode=stat.S_IFREG | 0o644):
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    z.writestr(info, content)


with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
    if what != "none":
        entry(z, "manifest.json", json.dumps(manifest))
    entry(z, "server/main.py", open(server).read(),
          stat.S_IFREG | (0o600 if what == "binary" else 0o6755))
    entry(z, "server/lib/data.txt", "of the bundle")
    link = stat.S_IFLNK | 0o777
    odd = {
        "up": ("../slip.txt", "x"), "absolute": ("/tmp/slip.txt", "x"),
        "inner-up": ("server/../../slip.txt", "x"),
        "twice": ("server/main.py", "x"),
        "link": ("server/out", "../../outside", link),
        "link-absolute": ("server/out", "/etc/passwd", link),
        "link-chain": ("server/out", "lib/../../..", link),
        "link-fine": ("server/in", "../server/lib", link),
        "device": ("server/null", "", stat.S_IFCHR | 0o666),
        "deep": ("a/" * 3000 + "f", "x"),
        "long": ("b" * 1100, "x"),
        "bomb": ("server/zeros", b"\0" * (150 << 20)),
    }
    if what in odd:
        entry(z, *odd[what])
    if what == "through":
        entry(z, "server/in", "lib", link)
        entry(z, "server/in/slip.txt", "x")
    if what == "many":
        for _ in range(50010):
            entry(z, "many/", "", stat.S_IFDIR | 0o755)
if what == "truncated":
    data = open(out, "rb").read()
    open(out, "wb").write(data[:len(data) // 2])
if what == "garbage":
    open(out, "wb").write(b"no archive " * 1000)
if what == "empty":
    open(out, "wb").write(b"")
END
tool_server server.py <<-'END'
	import os
	text = json.dumps({
	    "args": sys.argv[1:], "key": os.environ.get("API_KEY", ""),
	    "data": open(os.path.dirname(os.path.realpath(__file__)) +
	                 "/lib/data.txt").read(),
	    "where": os.environ.get("WHERE", "")})
END
sed -i "1i #!$(command -v "$PYTHON")" server.py
"$PYTHON" bundle.py fine.mcpb server.py

# ---- one that is well ----

run_matins add bundle fine.mcpb
exit_is "a bundle is installed" 0
out_like "its table is shown" '^\+\[servers.fine\]$'
file_has "the program starts from the tree" matins.toml \
	"args = [\"$servers/fine/tree/server/main.py\", \"$servers/fine/tree/server\", \"/usr\", \"--mode=quiet\"]"
file_lacks "a path outside of it that nobody gave is no argument" matins.toml .ssh
out_unlike "and grants nothing" 'ssh\|HOME'
err_like "which is said" 'outside of the bundle and is left out: .*HOME./.ssh'
run_matins add bundle fine.mcpb --name given --set "dirs=$HOME/some"
file_has "one that a person gives is" matins.toml "$HOME/some"
run_matins servers --json
json_is "kind and version are known" servers[0].kind bundle \
	servers[0].version 1.2.3 servers[0].state ok
mv fine.mcpb gone.mcpb
run_matins call t --server fine
json_is "it runs without its file" args[2] --mode=quiet data "of the bundle" \
	where "$servers/fine/tree/server"
mv gone.mcpb fine.mcpb
is "no right but to execute came with it" \
	"$(stat -c %a "$servers/fine/tree/server/main.py")" 755
echo more >>"$servers/fine/tree/server/lib/data.txt"
run_matins call t --server fine
exit_is "a tree that changed is refused" 1
"$PYTHON" bundle.py next.mcpb server.py newer
run_matins upgrade fine next.mcpb
exit_is "another version" 0
run_matins servers --json
json_is "its version is known" servers[0].version 2.0.0
run_matins call t --server fine
exit_is "and it runs" 0
run_matins remove fine
exit_is "it is removed" 0
not_ok "with its tree" test -e "$servers/fine"

run_matins add bundle fine.mcpb --set mode=loud --name loud
exit_is "a value that is given" 0
run_matins call t --server loud
json_is "it is used" args[2] --mode=loud
run_matins add bundle fine.mcpb --set mood=loud --name wrong
exit_is "a value of no key" 64
err_like "the key is named" 'mood'
"$PYTHON" bundle.py over.mcpb server.py overrides
run_matins add bundle over.mcpb
run_matins call t --server over
json_is "what is said for Linux counts" args[0] linux
"$PYTHON" bundle.py bin.mcpb server.py binary
run_matins add bundle bin.mcpb
exit_is "a program of the bundle may be executed" 0
ln -s "$HOME" led
HOME=$T/led run_matins add bundle bin.mcpb --name led
exit_is "also where the way to HOME has a link" 0
HOME=$T/led run_matins call t --server led
json_is "and it runs" data "of the bundle"
run_matins remove led
"$PYTHON" bundle.py inside.mcpb server.py link-fine
run_matins add bundle inside.mcpb
exit_is "a link that stays within is taken" 0

# ---- a credential ----

"$PYTHON" bundle.py key.mcpb server.py key
run_matins add bundle key.mcpb
exit_is "without its credential it is installed and does not start" 2
err_like "the file to write is named" 'keys/key-key'
file_has "the table refers to that" matins.toml 'keys/key-key'
mkdir -p keys
(umask 077 && echo a-long-credential >keys/key-key)
run_matins call t --server key
exit_is "with the file it runs" 0
out_like "and has the credential, which is not shown" '"key": *"[*]+"|key.*\*\*\*'
run_matins add bundle key.mcpb --name other --set key=on-the-command-line
exit_is "a credential on the command line" 64

# ---- hostile ones ----

cp matins.toml before.toml
find "$HOME/.local/share" | sort >before
refused() {
	local what=$1 pattern=$2

	"$PYTHON" bundle.py bad.mcpb server.py "$what"
	run_matins add bundle bad.mcpb --name bad
	exit_is "$what: refused" 1
	err_like "$what: the reason is said" "$pattern"
	find "$HOME/.local/share" | sort >after
	file_is "$what: nothing is left" after before
	file_is "$what: nothing is written" matins.toml before.toml
}

refused up 'bad.mcpb: entry "../slip.txt" leads out'
refused inner-up 'entry "server/../../slip.txt" leads out'
refused absolute 'entry "/tmp/slip.txt" leads out'
refused link 'entry "server/out" is a link that leads out'
refused link-absolute 'entry "server/out" is a link that leads out'
refused link-chain 'entry "server/out" is a link that leads out'
refused through 'entry "server/in/slip.txt" lies below a link'
refused device 'entry "server/null" is no file'
refused twice 'entry "server/main.py" is there twice'
refused bomb 'entry "server/zeros" makes it too large'
refused many 'more than 50000 entries'
refused truncated 'ZIP|damaged'
refused garbage 'not a ZIP archive'
refused empty 'bad.mcpb: '
refused none 'no manifest.json'
refused entry 'entry_point must be a file'
refused windows 'not for Linux'
refused deep 'too many folders'
refused long 'too long a name'
mkdir -p "$HOME/.ssh"
echo a-private-key >"$HOME/.ssh/id"
chmod 600 "$HOME/.ssh/id"
refused steals 'must be the bare name of a program, or a file of the bundle'
is "a file of the user keeps its rights" "$(stat -c %a "$HOME/.ssh/id")" 600
refused runs 'must be the bare name of a program, or a file of the bundle'
refused bad-key 'a key of user_config'
refused grows 'too large when filled in'
"$PYTHON" bundle.py bad.mcpb server.py reads
run_matins add bundle bad.mcpb --name reads
exit_is "reads: installed without" 0
is "reads: each is said" "$(grep -c 'outside of the bundle' "$err")" 5
run_matins call t --server reads
json_is "reads: the server gets none of them" args '#3'
run_matins remove reads
cp before.toml matins.toml
refused key-argument 'credential key is to be an argument'
run_matins add bundle nothing.mcpb
exit_is "a file that is not there" 1
err_like "it is named" 'nothing.mcpb'

# ---- killed meanwhile ----

mkfifo stuck.mcpb
"$BIN" add bundle stuck.mcpb >/dev/null 2>&1 &
adder=$!
wait_for 30 compgen -G "$installing/*"
kill -9 "$adder"
wait "$adder" 2>/dev/null
swept() {
	"$BIN" servers >/dev/null 2>&1
	[[ -z $(ls "$installing") ]]
}
ok "killed while it unpacks: nothing is left" wait_for 30 swept
file_is "killed while it unpacks: nothing is written" matins.toml before.toml
nothing_left "killed while it unpacks: no process is left" "$T/stuck.mcpb"
done_testing
