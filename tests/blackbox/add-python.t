#!/usr/bin/env bash
# `add python` installs wheels into a virtual environment in the gate, without
# any network.

# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

/usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null ||
	skip_all "python3 has no venv: make check-deps"
unset PIP_FIND_LINKS PIP_INDEX_URL PIP_CERT
servers=$HOME/.local/share/matins/servers
# wheel DIR NAME VERSION [REQUIRED]: with a module from stdin, and a program of
# its name where that has a main()
wheel() {
	mkdir -p "$1"
	python3 - "$@" 3<&0 <<-'END'
		import os, sys, zipfile
		folder, name, version, *needs = sys.argv[1:]
		code = os.fdopen(3).read()
		with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as z:
		    z.writestr(f"{name}.py", code)
		    at = f"{name}-{version}.dist-info/"
		    z.writestr(at + "METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s" % (
		        name.replace("_", "-"), version,
		        "".join(f"Requires-Dist: {n}\n" for n in needs)))
		    z.writestr(at + "WHEEL", "Wheel-Version: 1.0\nGenerator: x\n"
		               "Root-Is-Purelib: true\nTag: py3-none-any\n")
		    if "def main" in code:
		        z.writestr(at + "entry_points.txt", "[console_scripts]\n"
		                   f"a-tool = {name}:main\n"
		                   f"{name.replace('_', '-')} = {name}:main\n")
		    z.writestr(at + "RECORD", "")
	END
}

# server: a module whose main() is a server that says a TEXT and its arguments
server() {
	echo 'text = NAME + " " + " ".join(sys.argv[1:])' | tool_server body.py
	echo "$1"
	echo 'def main():'
	sed "s/^/    /; s/NAME/$2/" body.py
}

echo 'NAME = "first"' | wheel wheels a_library 1.0
server 'from a_library import NAME' NAME | wheel wheels mcp_server_tiny 1.0 a-library

offline_matins add python mcp-server-tiny --find-links wheels -- --flag
exit_is "a package of a folder of wheels, with what it requires" 0
file_has "its environment starts it" matins.toml \
	"command = \"$servers/tiny/tree/bin/python\""
file_has "its program is that of its name" matins.toml \
	"args = [\"$servers/tiny/tree/bin/mcp-server-tiny\", \"--flag\"]"
ok "exact versions are locked" grep -q '"a-library"' "$servers/tiny/tree/lock.json"
mv wheels gone
offline_matins call t --server tiny
out_is "it runs offline, without the wheels" 'first --flag'
run_matins servers --json
json_is "it is listed" servers[0].kind python servers[0].version 1.0 \
	servers[0].state ok
mv gone wheels

# ---- a source that is no package of the index ----

mkdir pyp data
: >pyp/pyproject.toml
offline_matins add python pyp
exit_is "the name of a folder of a package: usage" 64
err_like "the name of a folder of a package: what to write" 'pyp is a folder here: add python ./pyp --allow-scripts'
offline_matins add python data --find-links wheels
exit_is "the name of another folder is that of a package" 1
err_unlike "no option is advised that add has not" '--(exec|net|read|write) '
offline_matins add python ./nothere.whl
exit_is "a wheel that is not there: status" 1
err_like "a wheel that is not there: said" "$T/nothere.whl: No such file"
err_unlike "a wheel that is not there: pip does not start" 'pip'
offline_matins add python ./pyp
exit_is "a folder without --allow-scripts: usage" 64

server 'import sys' '"second"' | wheel new mcp_server_tiny 2.0
offline_matins upgrade tiny new/mcp_server_tiny-2.0-py3-none-any.whl
exit_is "an upgrade from a wheel" 0
offline_matins call t --server tiny
out_is "the new one answers" 'second --flag'
find "$servers/tiny/tree/lib" -name mcp_server_tiny.py -exec \
	sed -i 's/second/third/' {} +
run_matins call t --server tiny
err_like "a tree that changed is refused" 'not as it was installed'

# ---- a folder is built by its own words ----

mkdir built
server 'import sys' '"built"' >built/body.py
cat >built/pyproject.toml <<-'END'
	[build-system]
	requires = []
	build-backend = "backend"
	backend-path = ["."]
END
cat >built/backend.py <<-'END'
	import os, zipfile

	def build_wheel(folder, config_settings=None, metadata_directory=None):
	    open("written", "w").close()
	    name = "built_server-1.0-py3-none-any.whl"
	    at = "built_server-1.0.dist-info/"
	    with zipfile.ZipFile(os.path.join(folder, name), "w") as z:
	        z.write("body.py", "built_server.py")
	        z.writestr(at + "METADATA", "Metadata-Version: 2.1\nName: built-server\nVersion: 1.0\n")
	        z.writestr(at + "WHEEL", "Wheel-Version: 1.0\nGenerator: x\n"
	                   "Root-Is-Purelib: true\nTag: py3-none-any\n")
	        z.writestr(at + "entry_points.txt", "[console_scripts]\nbuilt-server = built_server:main\n")
	        z.writestr(at + "RECORD", "")
	    return name
END
offline_matins add python ./built --find-links wheels --allow-scripts
exit_is "a folder is built where that is allowed" 0
offline_matins call t --server built
out_is "its server answers" 'built '
not_ok "the build wrote into a copy" test -e built/written
run_matins remove built

# ---- a package that wants to be more ----

mkdir "$HOME/precious"
echo mine >"$HOME/precious/key"
server 'import sys' '"sly"' | wheel sly mcp_server_sly 1.0
python3 - sly/mcp_server_sly-1.0-py3-none-any.whl "$HOME/precious" <<-'END'
	import sys, zipfile
	wheel, precious = sys.argv[1:]
	write = "open(os.path.dirname(sys.prefix) + '/%s', 'w').write(%r)"
	with zipfile.ZipFile(wheel, "a") as z:
	    for name, text in (("upgrading", precious), ("installed.json", "{}")):
	        z.writestr(name.split(".")[0] + ".pth",
	                   "import os, sys; " + write % (name, text) + "\n")
END
offline_matins add python sly/mcp_server_sly-1.0-py3-none-any.whl
exit_is "a package that writes beside its tree is installed" 0
is "what it wrote there is not" "$(ls "$servers/sly")" $'installed.json\ntree'
printf %s "$HOME/precious" >"$servers/sly/upgrading"
run_matins servers test sly
run_matins servers
is "a marker moves nothing but drafts" "$(cat "$HOME/precious/key")" mine
is "and the server stays in its place" "$(ls "$servers/sly")" \
	$'installed.json\ntree\nupgrading'
rm "$servers/sly/upgrading"
run_matins remove sly

# ---- failures leave nothing ----

cp matins.toml first.toml
offline_matins add python wheels/a_library-1.0-py3-none-any.whl
exit_is "a package without a program" 1
err_like "it is said" 'no program'
mkdir project
echo 'raise SystemExit(1)' >project/setup.py
run_matins add python ./project
exit_is "a folder is not built unasked" 64
err_like "the option is named" 'allow-scripts'
is "nothing is left" "$(leftovers)" tiny
file_is "nothing is written" matins.toml first.toml

# ---- an index that has no address ----

PIP_INDEX_URL=https://index.invalid/simple \
	run_matins add python mcp-server-tiny --name lost
exit_is "an index that is not reached: status" 1
err_like "what goes on is said before it takes its time" \
	'^matins: pip installs mcp-server-tiny$'
err_like "pip only knows of its proxy: the name is said" \
	'^matins: index\.invalid:443: the name does not resolve'
err_like "pip is named, not its path" '^matins: pip install ended with status 1;'

done_testing
