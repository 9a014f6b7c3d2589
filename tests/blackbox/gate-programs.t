#!/usr/bin/env bash
# Finding and judging programs, and that ordinary ones work: scripts and
# their interpreters, installations, PATH, the environment.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# script_file PATH FIRST-LINE [REST]: an executable script
script_file() {
	mkdir -p "${1%/*}"
	printf '%s\n' "$2" "${3-}" >"$1"
	chmod 755 "$1"
	[[ $who == root ]] || as_user true
}

scripts() {
	script_file "$W/a/plain" '#!/bin/sh' 'echo "plain $0 $1"'
	gate --isolate "$isolate" -- "$W/a/plain" arg
	out_is "$who: a script with its interpreter ($isolate)" \
		"plain $W/a/plain arg"
	script_file "$W/a/env" '#!/usr/bin/env sh' 'echo "env $0 $1"'
	gate --isolate "$isolate" -- "$W/a/env" arg
	out_is "$who: by env ($isolate)" "env $W/a/env arg"
	script_file "$W/a/option" '#!/bin/sh -e' 'false; echo no'
	gate --isolate "$isolate" -- "$W/a/option"
	exit_is "$who: with an option ($isolate)" 1
	script_file "$W/a/nested" "#!$W/a/plain" ''
	gate --isolate "$isolate" -- "$W/a/nested" arg
	out_is "$who: interpreted by a script ($isolate)" \
		"plain $W/a/plain $W/a/nested"
	script_file "$W/a/crlf" $'#!/bin/no-such-interpreter' ''
	gate --isolate "$isolate" -- "$W/a/crlf"
	exit_is "$who: whose interpreter is not there ($isolate)" 127
	err_like "$who: which is named" 'interpreter of .*/a/crlf'
	script_file "$W/a/none" 'echo hello'
	gate --isolate "$isolate" -- "$W/a/none"
	exit_is "$who: no first line ($isolate)" 126
	err_like "$who: the message says how a script begins" 'begins with #!'
	script_file "$W/a/open" '#!/bin/sh' 'echo open'
	chmod 777 "$W/a/open"
	gate --isolate "$isolate" -- "$W/a/open"
	exit_is "$who: writable by everybody ($isolate)" 126
	err_like "$who: is refused with what to do" 'chmod o-w'
	ln -sf plain "$W/a/linked"
	gate --isolate "$isolate" -- "$W/a/linked" arg
	out_is "$who: a link keeps its name ($isolate)" \
		"plain $W/a/linked arg"
	gate --isolate "$isolate" -- sh -c 'echo "$0"'
	out_is "$who: argv[0] is kept ($isolate)" sh
}

pythons() {
	local py=$PYTHON

	mkdir -p "$W/pkg/sub"
	echo 'value = "from beside"' >"$W/pkg/sub/helper.py"
	printf '%s\n' 'import helper, os, sys, json, ssl, sqlite3' \
		'import subprocess, multiprocessing.pool' \
		'print(helper.value, os.path.exists(sys.executable))' \
		>"$W/pkg/sub/main.py"
	[[ $who == root ]] || as_user true
	gate --isolate "$isolate" -- "$py" "$W/pkg/sub/main.py"
	out_is "$who: python finds what lies beside a script ($isolate)" \
		"from beside True"
	gate --isolate "$isolate" -- "$py" -c \
		'import subprocess, sys; print(subprocess.run([sys.executable,
		"-c", "print(42)"], capture_output=True).stdout.decode())'
	out_like "$who: python starts itself ($isolate)" '^42$'
	if ((has_venv)); then
		[[ -d $W/venv ]] || cp -a "$T/venv" "$W/venv"
		sed -i "s|$T/venv|$W/venv|" "$W/venv/bin/tool"
		[[ $who == root ]] || as_user true
		gate --isolate "$isolate" -- "$W/venv/bin/tool"
		out_like "$who: a virtual environment ($isolate)" "^$W/venv$"
	else
		skip "$who: a virtual environment ($isolate)" "no venv module"
	fi
}

nodes() {
	mkdir -p "$W/app/node_modules/dep" "$W/app/bin"
	echo '{"name":"app"}' >"$W/app/package.json"
	echo 'module.exports = "dependency"' \
		>"$W/app/node_modules/dep/index.js"
	cat >"$W/app/bin/main.js" <<-'END'
		const { Worker } = require("worker_threads");
		new Worker(`require("worker_threads").parentPort.postMessage(1)`,
			{ eval: true }).on("message", () =>
				console.log(require("dep")));
	END
	[[ $who == root ]] || as_user true
	gate --isolate "$isolate" -- node "$W/app/bin/main.js"
	out_is "$who: node, its package and threads ($isolate)" dependency
	gate --isolate "$isolate" -- npx --version
	exit_is "$who: npx answers ($isolate)" 0
}

gits() {
	mkdir -p "$W/repo"
	[[ $who == root ]] || as_user true
	gate --isolate "$isolate" --write "$W/repo" --cwd "$W/repo" -- \
		git init -q "$W/repo/$isolate"
	exit_is "$who: git init ($isolate)" 0
	echo x >"$W/repo/$isolate/file"
	[[ $who == root ]] || as_user true
	gate --isolate "$isolate" --write "$W/repo/$isolate" -- \
		git -C "$W/repo/$isolate" -c user.name=a -c user.email=a@b \
		-c safe.directory='*' add file
	exit_is "$who: git add ($isolate)" 0
	gate --isolate "$isolate" --write "$W/repo/$isolate" -- \
		git -C "$W/repo/$isolate" -c user.name=a -c user.email=a@b \
		-c safe.directory='*' commit -qm first
	exit_is "$who: git commit ($isolate)" 0
	gate --isolate "$isolate" --read "$W/repo/$isolate" -- \
		git -C "$W/repo/$isolate" -c safe.directory='*' log --oneline
	out_like "$who: git log ($isolate)" 'first$'
}

names() {
	script_file "$W/bin/only-here" '#!/bin/sh' 'echo here'
	PATH=$W/bin:$PATH gate --isolate "$isolate" -- only-here
	out_is "$who: a bare name in our PATH ($isolate)" here
	cd "$W/bin" || return
	PATH=:.:bin:$PATH gate --isolate "$isolate" -- only-here
	exit_is "$who: never in the working directory ($isolate)" 127
	gate --isolate "$isolate" -- ./only-here
	out_is "$who: unless by a path ($isolate)" here
	cd "$T" || return
	PATH=$W/bin:$PATH gate --isolate "$isolate" --exec only-here -- \
		sh -c only-here
	out_is "$who: the child finds it, too ($isolate)" here
}

# A sandbox in a sandbox: fewer protections, still the floor.
nested() {
	local matins=$BIN

	[[ $who == user && $(id -u) -eq 0 ]] && matins=$T/.bin/matins
	gate --isolate "$isolate" --exec "$matins" --exec true -- \
		"$matins" exec -- true
	exit_is "$who: matins under matins ($isolate)" 0
	gate --isolate "$isolate" --exec "$matins" --exec "$PROBE" -- \
		"$matins" exec -- "$PROBE" read @/etc/shadow
	out_like "$who: confines as well ($isolate)" '^blocked'
	gate --isolate "$isolate" --exec "$matins" --exec true -- \
		"$matins" exec --isolate require -- true
	exit_is "$who: and says what it cannot ($isolate)" 125
}

ordinary() {
	local isolate

	for isolate in auto off; do
		scripts
		pythons
		if command -v node >/dev/null; then
			nodes
		else
			skip "$who: node starts its scripts ($isolate)" "no node"
		fi
		if command -v git >/dev/null; then
			gits
		else
			skip "$who: git starts its programs ($isolate)" "no git"
		fi
		names
		nested
	done
}

has_venv=0
if "$PYTHON" -m venv --without-pip "$T/venv" >/dev/null 2>&1; then
	has_venv=1
	printf '%s\n' "#!$T/venv/bin/python3" 'import sys' \
		'print(sys.prefix)' >"$T/venv/bin/tool"
	chmod 755 "$T/venv/bin/tool"
fi
both_users ordinary
done_testing
