#!/usr/bin/env bash
# Programs that run what their arguments say, started with "@eval" in `deny`;
# and the rows that say how they read their options, held against themselves.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# ---- the rows are true ----

while read -r launcher program; do
	if ! command -v "$program" >/dev/null; then
		skip "$program reads its options as its rows say" "no $program"
		continue
	fi
	mkdir -p "$T/$launcher"
	is "$program reads its options as its rows say" \
		"$("$PYTHON" "$TOP/tests/blackbox/launchers.py" \
			"$TOP/gate/policy/programs.def" "$launcher" "$T/$launcher")" ""
done <<-'END'
	PYTHON python3
	BASH bash
	DASH dash
	ENV env
	NODE node
	NPM npm
	NPX npx
	GIT git
END

# ---- what would run other code, and the honest call beside it ----

# eval_of NAME: a policy for one program
eval_of() {
	printf '[programs.%s]\ndeny = ["@eval"]\n' "$1" >"$W/$1.toml"
	chmod 644 "$W/$1.toml"
}

# refused|runs PROGRAM ARGS...
refused() {
	gate --policy "$W/$1.toml" --read "$W" --exec "$W/evil" -- "$@"
	exit_is "$who: a rule refuses ${*//$W\//}" 126
	err_like "$who: refused: ${*//$W\//}: why" \
		"the rule for $1: .*(@eval|input)"
	file_lacks "$who: refused: ${*//$W\//}: nothing ran" "$out" escaped
}

runs() {
	gate --policy "$W/$1.toml" --read "$W" -- "$@"
	exit_is "$who: a rule allows ${*//$W\//}" 0
}

shells() {
	eval_of bash
	eval_of dash
	runs bash -euo pipefail "$W/s.sh" -c
	refused bash -O login_shell "$W/s.sh"
	refused bash --rcfile "$W/evil" -i "$W/s.sh"
	runs dash -eu "$W/s.sh"
	refused dash -o stdin "$W/s.sh"
	refused dash +c 'echo escaped'
}

pythons() {
	mkdir -p "$W/pyc"
	eval_of python3
	gate --policy "$W/python3.toml" --read "$W" -- \
		"$PYTHON" -B -X dev -W ignore "$W/s.py"
	out_is "$who: allowed: python3 -B -X dev -W ignore" ran
	gate --policy "$W/python3.toml" --read "$W" -- \
		"$PYTHON" -X pycache_prefix="$W/pyc" "$W/s.py"
	exit_is "$who: refused: python3 -X pycache_prefix" 126
	err_like "$who: refused: python3 -X pycache_prefix: why" '"-X".*@eval'
}

nodes() {
	eval_of node
	runs node --title x --no-warnings "$W/s.js" -e
	refused node --title x -e 'console.log("escaped")'
	refused node --experimental-loader "$W/evil" "$W/s.js"
	refused node --no-such-option "$W/s.js"
}

npms() {
	eval_of npm
	eval_of npx
	printf '%s\n' '{"name":"n","version":"1.0.0",' \
		'"scripts":{"x":"echo fine"}}' >"$W/package.json"
	runs npm --version
	refused npm run x ---script-shell="$W/evil"
	refused npm run x --no-script-shell "$W/evil"
	refused npm install git+file:///nowhere --git="$W/evil"
	refused npm exe srv
	runs npx --version
	refused npx ---call='echo escaped'
	refused npx --no srv -c 'echo escaped'
	refused npx
}

gits() {
	eval_of git
	runs git --version
	gate --policy "$W/git.toml" --read "$W" --write "$W/new" -- \
		git init -q -b main "$W/new"
	exit_is "$who: allowed: git init" 0
	refused git -C "$W/new" status
	refused git merge-index "$W/evil" -a
	refused git alias-of-the-repository
	refused git fetch ext::"$W/evil"
}

# Whoever asked for "@eval" of a program without a row is told so.
gone() {
	local name

	for name in awk sed perl find xargs make; do
		eval_of "$name"
		gate --policy "$W/$name.toml" -- true
		exit_is "$who: \"@eval\" of $name is not known" 125
		err_like "$who: \"@eval\" of $name: what to do" \
			"$name.*list its options"
	done
}

all() {
	mkdir -p "$W/new"
	echo 'echo ran' >"$W/s.sh"
	echo 'print("ran")' >"$W/s.py"
	echo 'console.log("ran")' >"$W/s.js"
	printf '#!/bin/sh\necho escaped\n' >"$W/evil"
	chmod 755 "$W/evil"
	[[ $who == root ]] || as_user true
	shells
	pythons
	if command -v npm >/dev/null; then
		nodes
		npms
	else
		skip "$who: node and npm" "no npm"
	fi
	if command -v git >/dev/null; then
		gits
	else
		skip "$who: git starts only what its rule allows" "no git"
	fi
	gone
}
both_users all
done_testing
