#!/usr/bin/env bash
# Rules on programs, [sandbox.programs.NAME]: for the program that is started,
# for what its first line starts, and for what its tree starts; pins; policy
# files and presets of `exec`.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# policy NAME: a policy file from stdin
policy() {
	cat >"$W/$1.toml"
	chmod 644 "$W/$1.toml"
	[[ $who == root ]] || as_user true
}

# script_file PATH LINES...
script_file() {
	mkdir -p "${1%/*}"
	printf '%s\n' "${@:2}" >"$1"
	chmod 755 "$1"
	[[ $who == root ]] || as_user true
}

# runs NAME OPTIONS... -- PROGRAM...: allowed; denied_by NAME ERE …: refused
runs() {
	local name=$1

	shift
	gate "$@"
	exit_is "$who: $name" 0
}

denied_by() {
	local name=$1 ere=$2

	shift 2
	gate "$@"
	exit_is "$who: $name" 126
	err_like "$who: $name: why" "$ere"
}

# ---- the program that is started ----

arguments() {
	local py=(--policy "$W/py.toml" -- "$PYTHON")

	policy py <<-'END'
		exec = ["sh"]
		[programs.python3]
		deny = ["@eval"]
	END
	script_file "$W/s.py" 'import sys' 'print("ran", *sys.argv[1:])'
	runs "a script" "${py[@]}" "$W/s.py" -c -m
	out_is "$who: its own options are its own" 'ran -c -m'
	denied_by "python3 -c is denied by its rule" 'rule for python3: argument 1, "-c"' \
		"${py[@]}" -c 'print(1)'
	denied_by "python3 -Ic is denied by its rule" '"-Ic", is refused' "${py[@]}" -Ic 'print(1)'
	denied_by "python3 -W ignore -c" '"-c"' \
		"${py[@]}" -W ignore -c 'print(1)'
	denied_by "python3 without a script" 'standard input' "${py[@]}"
	denied_by "its input by another name" 'standard input' \
		"${py[@]}" /dev/./stdin
	printf '[programs.bash]\ndeny = ["@eval"]\n' | policy plus
	script_file "$W/s.sh" 'echo "ran $*"'
	denied_by "bash +c is denied by its rule" '"\+c", is refused' \
		--policy "$W/plus.toml" -- bash +c -x 'echo no'
	runs "bash +x is not what the rule denies" --policy "$W/plus.toml" -- bash +x "$W/s.sh" +c
	out_is "$who: what follows the script is its own" 'ran +c'
	ln -sf "$PYTHON" "$W/renamed"
	denied_by "python3 by another name" '"-c"' \
		--policy "$W/py.toml" -- "$W/renamed" -c 'print(1)'
	policy exact <<-'END'
		[programs.echo]
		args = ["one", "two"]
		[programs.printf]
		prefix = ["%s"]
	END
	runs "exactly the allowed arguments are run" --policy "$W/exact.toml" -- echo one two
	denied_by "one argument more than allowed is denied" 'argument 3, "three"' \
		--policy "$W/exact.toml" -- echo one two three
	denied_by "one argument less than allowed is denied" 'are missing; allowed is exactly "one" "two"' \
		--policy "$W/exact.toml" -- echo one
	runs "arguments with the allowed beginning are run" --policy "$W/exact.toml" -- printf %s x
	denied_by "arguments with another beginning are denied" '"%d"' \
		--policy "$W/exact.toml" -- printf %d 1
}

# ---- what a first line starts ----

first_lines() {
	policy u <<-'END'
		[programs.sh]
		deny = ["-u"]
	END
	script_file "$W/plain" '#!/bin/sh' 'echo plain'
	script_file "$W/option" '#!/bin/sh -u' 'echo option'
	script_file "$W/env" '#!/usr/bin/env sh' 'echo env'
	script_file "$W/split" '#!/usr/bin/env -S sh -u' 'echo split'
	script_file "$W/quoted" "#!/usr/bin/env -S sh '-u'" 'echo quoted'
	runs "a script whose interpreter has a rule" --policy "$W/u.toml" -- \
		"$W/plain"
	out_is "$who: the script of an allowed interpreter prints" plain
	denied_by "the option in its first line" 'option: the rule for sh' \
		--policy "$W/u.toml" -- "$W/option"
	runs "a script with an interpreter by env is run" --policy "$W/u.toml" -- "$W/env" -u
	out_is "$who: the script's own option is none of the rule's" env
	denied_by "env -S with the option" 'split: the rule for sh' \
		--policy "$W/u.toml" -- "$W/split"
	denied_by "env -S with quotes" 'cannot tell which program env starts' \
		--policy "$W/u.toml" -- "$W/quoted"
	runs "without the rule it runs" -- "$W/quoted"
}

# ---- what the tree starts ----

trees() {
	local sh=(--policy "$W/tree.toml" --report "$W/r.json" -- sh -c)

	policy tree <<-END
		exec = ["sh", "$PYTHON", "env", "$W/tool"]
		[programs."${PYTHON##*/}"]
		deny = ["-c", "-u"]
	END
	script_file "$W/tool" '#!/usr/bin/env -S python3 -u' 'print("tool")'
	script_file "$W/t.py" 'print("tree")'
	[[ $who == root ]] || as_user true
	gate "${sh[@]}" "$PYTHON $W/t.py -c"
	out_is "$who: a script of the tree" tree
	gate "${sh[@]}" "$PYTHON -c 'print(1)'; echo \$?"
	out_is "$who: python3 -c of the tree" 126
	err_like "$who: the rule and the argument are named" 'denied: the rule for python3: .*"-c"'
	json_file_is "$who: and is in the report" "$W/r.json" \
		denials[0].kind exec denials[0].program present \
		denials[0].detail '~"-c"' denials[0].count 1
	gate "${sh[@]}" "env $PYTHON -c 'print(1)'; echo \$?"
	out_is "$who: python3 -c by env is denied" 126
	gate "${sh[@]}" "cd / && $W/tool; echo \$?"
	out_is "$who: the option in a first line" 126
	gate "${sh[@]}" "exec $PYTHON $W/t.py $(printf ' %s' {1..600})"
	out_is "$who: what has many arguments behind its script" tree
	gate "${sh[@]}" "x=\$(printf %070000d 0)
		$PYTHON -W\$x -W\$x -c 'print(1)' 2>/dev/null; echo \$?"
	out_is "$who: an option behind more than can be looked at" 126
	gate "${sh[@]}" "x=\$(printf %070000d 0); $PYTHON $W/t.py \$x \$x"
	out_is "$who: behind a script it is the script's own" tree
	gate --exec sh --exec "$PYTHON" -- sh -c "$PYTHON -c 'print(1)'"
	out_is "$who: without the rule" 1
}

# Every spelling of a ruled program in a tree is that program.
spellings() {
	local isolate line

	cat >"$W/spell.toml" <<-END
		exec = ["sh", "ln", "$PYTHON"]
		read = ["$W/t.py"]
		write = ["$W/own"]
		[programs."${PYTHON##*/}"]
		deny = ["-c"]
	END
	chmod 644 "$W/spell.toml"
	mkdir -p "$W/own"
	echo 'print("honest")' >"$W/t.py"
	cp "$(type -P echo)" "$W/own/one"
	ln -f "$W/own/one" "$W/own/other"
	policy hard <<-END
		[sandbox.programs."$W/own/one"]
		args = ["good"]
	END
	denied_by "a hard link to a ruled program, started at once" "own/one: " \
		--policy "$W/hard.toml" -- "$W/own/other" bad
	gate --policy "$W/hard.toml" -- "$W/own/other" good
	out_is "$who: it may do as the rule says" good
	for isolate in auto off; do
		while IFS= read -r line; do
			gate --policy "$W/spell.toml" --isolate "$isolate" \
				--report "$W/r.json" -- \
				sh -c "cd \$TMPDIR; $line -c 'print(6 * 7)'"
			isnt "$who: refused: $line ($isolate)" "$status" 0
			file_lacks "$who: refused: $line: did not run" \
				"$out" 42
			json_file_is "$who: refused: $line: named" \
				"$W/r.json" denials[0].kind exec
		done <<-END
			$PYTHON
			ln -s $PYTHON x && ./x
			ln -s x y && ln -s $PYTHON x && ./y
			ln -s / d && ./d$PYTHON
			ln -s / $W/own/$who-$isolate && $W/own/$who-$isolate$PYTHON
			/proc/self/root$PYTHON
			/proc/thread-self/root$PYTHON
			ln -s /proc/self/root$PYTHON x && ./x
			ln -s /proc/self/root r && ./r$PYTHON
			cd / && /proc/self/cwd$PYTHON
			exec 3<$PYTHON && /proc/self/fd/3
			exec 3<$PYTHON && /dev/fd/3
			cd /dev && ./../..$PYTHON
		END
		gate --policy "$W/spell.toml" --isolate "$isolate" -- \
			sh -c "cd \$TMPDIR; ln -s $PYTHON x && ./x $W/t.py"
		out_is "$who: by a link, without the option ($isolate)" honest
		gate --policy "$W/spell.toml" --isolate "$isolate" -- \
			sh -c "/proc/self/exe -c 'echo honest'"
		out_is "$who: a program that starts itself ($isolate)" honest
		gate --policy "$W/spell.toml" --isolate "$isolate" -- \
			sh -c "no-such-program; echo \$?"
		out_is "$who: a program that is not there ($isolate)" 127
	done
}

# Nothing granted it, so the kernel refuses it: the report says so.
unlisted() {
	local isolate

	for isolate in auto off; do
		gate --isolate "$isolate" --report "$W/r.json" --exec cat \
			--preset none -- \
			sh -c 'cat /dev/null; date; nothing; echo end'
		out_is "$who: a script goes on without a program" end
		json_file_is "$who: refused programs are named ($isolate)" \
			"$W/r.json" denials[0].kind exec \
			denials[0].name '~/date$' denials[0].count 1 \
			denials[0].allow 'sandbox = { exec = ["date"] }' \
			denials[1] absent
		err_like "$who: and what allows them ($isolate)" \
			'denied: start .*/date by .*--exec date$'
		script_file "$W/bin/listed" '#!/usr/bin/bash' 'echo no'
		gate --isolate "$isolate" --report "$W/r.json" \
			--exec "$W/bin" -- sh -c "$W/bin/listed"
		json_file_is "$who: so is what a first line starts ($isolate)" \
			"$W/r.json" denials[0].kind exec \
			denials[0].name '~/bash$' \
			denials[0].allow 'sandbox = { exec = ["bash"] }'
		script_file "$W/bin/fine" '#!/bin/sh' 'echo fine'
		gate --isolate "$isolate" --report "$W/r.json" \
			--exec "$W/bin" -- sh -c "$W/bin/fine"
		json_file_is "$who: not where that is listed ($isolate)" \
			"$W/r.json" denials[0] absent
		gate --isolate "$isolate" --report "$W/r.json" --exec date -- \
			sh -c date
		json_file_is "$who: what may run is not ($isolate)" \
			"$W/r.json" denials[0] absent
	done
}

# ---- pins ----

pins() {
	local sum

	script_file "$W/tool" '#!/bin/sh' 'echo pinned'
	sum=$(sha256sum "$W/tool" | cut -d' ' -f1)
	printf '[programs."%s"]\nsha256 = "%s"\n' "$W/tool" "$sum" | policy pin
	runs "a file that is the pinned one" --policy "$W/pin.toml" -- "$W/tool"
	gate --policy "$W/pin.toml" --exec "$W/tool" -- sh -c "$W/tool"
	out_is "$who: started by another" pinned
	mkdir -p "$W/other"
	denied_by "one that it may write" 'may write' \
		--policy "$W/pin.toml" --write "$W" -- "$W/tool"
	[[ $W != /tmp/* ]] ||
		denied_by "one in a shared /tmp" 'may write' \
			--policy "$W/pin.toml" --tmp shared -- "$W/tool"
	runs "a pinned program that the gate cannot write is run" --policy "$W/pin.toml" --write "$W/other" -- "$W/tool"
	ln "$W/tool" "$W/second"
	denied_by "one of two names, where anything is written" 'has 2 names' \
		--policy "$W/pin.toml" --write "$W/other" -- "$W/tool"
	denied_by "by its second name as well" 'has 2 names' \
		--policy "$W/pin.toml" --write "$W/other" -- "$W/second"
	runs "where nothing is written it runs" --policy "$W/pin.toml" -- "$W/second"
	echo 'echo more' >>"$W/tool"
	denied_by "a changed file by its second name" 'not the file' \
		--policy "$W/pin.toml" -- "$W/second"
	rm "$W/second"
	denied_by "a file that has changed" "sha256 is [0-9a-f]{64}" \
		--policy "$W/pin.toml" -- "$W/tool"
	denied_by "one in exec that has changed" 'not the file' \
		--policy "$W/pin.toml" --exec "$W/tool" -- true
	denied_by "one in a folder of exec" 'not the file' \
		--policy "$W/pin.toml" --exec "$W" -- true
	printf '[programs.sh]\nsha256 = "%064d"\n' 0 | policy sh
	denied_by "the interpreter of a script" 'not the file' \
		--policy "$W/sh.toml" -- "$W/tool"
	runs "a program that no rule means" --policy "$W/sh.toml" -- true
}

# ---- policy files ----

files() {
	mkdir -p "$W/data"
	echo inside >"$W/data/f"
	policy rel <<-'END'
		read = ["data"]
		exec = ["cat"]
	END
	runs "paths are relative to the file" --policy "$W/rel.toml" -- \
		sh -c "cat $W/data/f"
	out_is "$who: it read it" inside
	gate -- sh -c "cat $W/data/f"
	isnt "$who: without the file it cannot" "$status" 0
	policy table <<-'END'
		[sandbox]
		exec = ["cat"]
		[routines.r]
		steps = []
	END
	runs "a configuration with [sandbox]" --policy "$W/table.toml" \
		--read "$W/data" -- sh -c "cat $W/data/f"
	policy wrong <<-'END'
		exce = ["cat"]
	END
	gate --policy "$W/wrong.toml" -- true
	exit_is "$who: a wrong key" 125
	err_like "$who: its place and the nearest" ':1:1: .*did you mean "exec"'
	policy open <<-'END'
		exec = ["cat"]
	END
	chmod 666 "$W/open.toml"
	gate --policy "$W/open.toml" -- true
	exit_is "$who: a file that others may write" 125
	err_like "$who: says what to do" 'chmod go-w'
	gate --policy "$W/none.toml" -- true
	exit_is "$who: no such file" 125
	gate --policy "$W/rel.toml" --write "$W" -- \
		sh -c "echo zzz >>$W/rel.toml; echo \$?"
	out_unlike "$who: the policy itself cannot be written" '^0$'
	file_unlike "$who: and was not" "$W/rel.toml" zzz
}

# ---- presets ----

presets() {
	local name

	mkdir -p "$W/p/sub" "$W/q"
	echo '{}' >"$W/p/package.json"
	echo data >"$W/p/data"
	echo 'print(open("data").read().strip())' >"$W/p/s.py"
	echo data >"$W/q/data"
	[[ $who == root ]] || as_user true
	cd "$W/p/sub" || return
	gate --preset node --exec cat -- cat ../data
	out_is "$who: a preset reads the project" data
	gate --preset node -- sh -c "echo x >$W/p/new"
	isnt "$who: but does not write it" "$status" 0
	gate --preset node --exec cat -- sh -c "cat $W/q/data"
	isnt "$who: nor reads beside it" "$status" 0
	cd "$W/p" || return
	gate --preset python -- "$PYTHON" s.py
	out_is "$who: --preset python runs a script of the project" data
	[[ $who == user ]] || cd "$HOME" || return
	[[ $who == root ]] || cd / || return
	gate --preset node --preset python -- true
	exit_is "$who: two presets in HOME or /" 0
	err_like "$who: grant nothing there" 'too wide'
	cd "$T" || return
	gate --preset nod -- true
	exit_is "$who: no such preset" 64
	err_like "$who: an unknown preset leads to the nearest one" 'did you mean "node"'
}

git_preset() {
	local as=(env)

	[[ $who == root ]] || as=(as_user env)
	mkdir -p "$W/repo"
	[[ $who == root ]] || as_user true
	cd "$W/repo" || return
	echo one >file
	[[ $who == root ]] || as_user true
	"${as[@]}" git init -q -b main . >"$T/.git-init" 2>&1
	"${as[@]}" git config user.name n
	"${as[@]}" git config user.email n@example.com
	"${as[@]}" git add file
	"${as[@]}" git commit -qm first
	gate --preset git -- git log --oneline
	out_like "$who: --preset git: log" ' first$'
	gate --preset git -- git status --short
	exit_is "$who: --preset git allows git status" 0
	gate --preset git -- git commit --allow-empty -qm second
	isnt "$who: --preset git allows no commit" "$status" 0
	gate --preset git --write . -- git commit --allow-empty -qm second
	exit_is "$who: but with --write ." 0
	cat >"$W/git.toml" <<-'END'
		[programs.git]
		deny = ["@eval"]
	END
	[[ $who == root ]] || as_user true
	gate --preset git --policy "$W/git.toml" -- git log --oneline
	out_like "$who: git with a rule" ' second$'
	denied_by "git -c is denied by its rule" '"-c"' --preset git --policy "$W/git.toml" -- \
		git -c 'alias.x=!echo escaped' x
	cd "$T" || return
}

# The servers of build/npm, by npx, with no network.
npx_preset() {
	local modules=$TOP/build/npm/node_modules server
	local start='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'

	if [[ -z $NODE || ! -d $modules ]] || ! command -v npx >/dev/null; then
		skip "$who: npx runs an official server" "no node, no npx or no servers in build/npm"
		return
	fi
	mkdir -p "$W/n"
	cp -R "$modules" "$W/n/"
	echo '{"name":"n","version":"1.0.0","private":true}' \
		>"$W/n/package.json"
	echo 'console.log(require("fs").existsSync("package.json"))' \
		>"$W/n/s.js"
	echo "$start" >"$W/start"
	[[ $who == root ]] || as_user true
	cd "$W/n" || return
	gate --preset node -- node s.js
	out_is "$who: --preset node runs a script of the project" true
	gate --preset npm -- npm ls
	out_like "$who: --preset npm: ls" 'server-memory'
	for server in filesystem memory sequential-thinking; do
		if [[ $who == root ]]; then
			run_matins_stdin "$W/start" exec --preset npx -- \
				npx "mcp-server-$server" "$W/n"
		else
			as_user run_matins_stdin "$W/start" exec \
				--preset npx -- npx "mcp-server-$server" "$W/n"
		fi
		out_like "$who: npx mcp-server-$server answers initialize" '"serverInfo"'
	done
	printf '[programs.npx]\ndeny = ["@eval"]\n' | policy npx
	denied_by "npx -c is denied by its rule" '"-c"' --preset npx --policy "$W/npx.toml" -- \
		npx -c 'echo escaped'
	printf '[programs.npx]\npackage = "a@1.2.3"\n' | policy package
	denied_by "npx with another package" 'a@1.2.3' --preset npx \
		--policy "$W/package.toml" -- npx mcp-server-memory
	cd "$T" || return
	rm -rf "$W/n"
}

# ---- explained ----

# grants_are NAME WHY PATH ACCESS: a row of the last --explain --json
grants_are() {
	is "$who: --explain: $1" "$("$PYTHON" -c 'import json, sys
for g in json.load(open(sys.argv[1]))["grants"]:
    if g["path"] == sys.argv[3] and sys.argv[2] in g["why"].split(", "):
        print(",".join(g["access"]))' "$out" "$2" "$3")" "$4"
}

gate_protects() {
	gate --write "$W/p" --explain -- sh
	out_like "$who: --explain: what stays protected" \
		"^protected .*$W/p/.git/hooks"
}

explained() {
	gate --exec cat --env SECRET=value --explain --json -- sh
	exit_is "$who: --explain ends with status 0" 0
	json_is "$who: --explain says what it would get" \
		program '~sh$' exec[0] cat environment[0] SECRET \
		enforced[0].guarantee exec-listed
	file_lacks "$who: and no value" "$out" value
	gate --explain -- sh -c "touch $W/started"
	out_like "$who: --explain as text" '^exec-listed +enforced'
	not_ok "$who: it starts nothing" test -e "$W/started"
	mkdir -p "$W/p/.git/hooks" "$W/h"
	echo k >"$W/h/k"
	[[ $who == root ]] || as_user true
	gate --write "$W/p" --exec cat --net 127.0.0.1:5432 --net x.test \
		--memory 64MiB --processes 9 --cpu 7s --record-exec --explain \
		--json -- "$PYTHON" "$W/h/k"
	grants_are "a writable folder" write "$W/p" read,write
	grants_are "a script" "argument" "$W/h/k" read
	grants_are "its folder" "script's folder" "$W/h" read
	grants_are "a listed program" exec "$(realpath "$(type -P cat)")" \
		read,run
	grants_are "the program" program "$(realpath "$PYTHON")" read,run
	json_is "$who: --explain: rows and limits" network[1] x.test \
		limits.memory_bytes 67108864 limits.processes 9 \
		limits.cpu_seconds 7 record_exec true
	gate --write "$W/p" --explain -- sh
	out_like "$who: --explain: where it starts" "^starts in +$PWD\$"
	out_like "$who: --explain: what is written" "^may write +$W/p/"
	out_like "$who: --explain: private places" '^private .*(/tmp|TMPDIR)'
	with_view "--explain: protected" gate_protects
	gate --explain -- sh
	out_like "$who: --explain: and why not here" \
		"^starts in .*because nothing in $PWD is granted"
	gate --explain -- no-such-program
	exit_is "$who: --explain of what is not there" 127
}

# What a control group does not count is an error of the program only.
bounds() {
	local take='x = []
while True:
    x.append(b"x" * (1 << 20))'

	gate --require cgroup -- true
	if [[ $status == 0 ]]; then
		gate --memory 64MiB -- "$PYTHON" -c "$take"
		err_unlike "$who: what is counted is named, not guessed" \
			'may have hit'
		return
	fi
	gate --memory 64MiB --processes 50 -- "$PYTHON" -c "$take"
	err_like "$who: a bound that was near is named after a failure" \
		'may have hit a limit.*--memory '
	gate --memory 64MiB --processes 50 -- sh -c 'exit 1'
	err_unlike "$who: one that was far is not" limit
	gate --memory 64MiB -- true
	err_unlike "$who: not after success" limit
	gate -- sh -c 'exit 1'
	err_unlike "$who: nor without bounds" limit
}

for_one_user() {
	bounds
	arguments
	first_lines
	trees
	spellings
	unlisted
	pins
	files
	presets
	git_preset
	npx_preset
	explained
}
both_users for_one_user
cd "$T" || exit 1

# ---- a pin, and a step beside it that could change the file ----

mkdir mine
printf '#!/bin/sh\necho pinned\n' >mine/tool
chmod 755 mine/tool
# pinned ROWS: steps of which one may write what ROWS say, and one is pinned
pinned() {
	cat <<-END >matins.toml
		[sandbox.programs."$T/mine/tool"]
		sha256 = "$(sha256sum <mine/tool | cut -d' ' -f1)"
		[[routines.r.steps]]
		name = "other"
		type = "script"
		command = "true"
		sandbox = { $1 }
		[[routines.r.steps]]
		name = "pinned"
		type = "script"
		command = "$T/mine/tool"
	END
}
pinned "write = ['mine']"
run_matins run r --only pinned --json
json_is "a pinned file that another step may write" step_results[1].reason pin \
	step_results[1].error '~a program of the configuration may write'
if [[ $T == /tmp/* ]]; then
	pinned 'tmp = "shared"'
	run_matins run r --json
	json_is "or that lies in /tmp, which another step shares" \
		step_results[1].reason pin
else
	skip "or that lies in /tmp, which another step shares" "TMPDIR is elsewhere"
fi
pinned "read = ['mine']"
ln mine/tool second
run_matins run r --json
json_is "one that another step may read" step_results[1].output pinned
mkdir -m 777 w
mv second w/
pinned "write = ['w']"
run_matins run r --only pinned --json
json_is "or write by another name" step_results[1].reason pin \
	step_results[1].error '~has 2 names.*mv .*/mine/tool.new'
rm w/second
run_matins run r --json
json_is "one name, and none that another step may write" \
	step_results[1].output pinned

# ---- in a routine ----

cat >matins.toml <<-END
	[sandbox.programs.sh]
	deny = ["-c"]
	[sandbox.programs.cat]
	sha256 = "$(printf %064d 0)"
	[sandbox.programs.gitt]
	deny = ["-c"]
	[routines.r]
	[[routines.r.steps]]
	name = "pin"
	type = "script"
	command = "cat"
	[[routines.r.steps]]
	name = "rule"
	type = "script"
	command = "sh"
	args = ["-c", "echo no"]
	[[routines.r.steps]]
	name = "both"
	type = "script"
	command = "sh"
	args = ["-u"]
	sandbox = { programs = { sh = { deny = ["-u"] } } }
	[[routines.r.steps]]
	name = "fine"
	type = "script"
	command = "sh"
	args = ["-x"]
	sandbox = { programs = { sh = { deny = ["-u"] } } }
END
run_matins run r --json
exit_is "steps that are denied fail the run" 2
json_is "a pin that does not hold" step_results[0].state denied \
	step_results[0].reason pin step_results[0].error '~sha256'
json_is "a rule that does not hold" step_results[1].state denied \
	step_results[1].reason policy step_results[1].error '~rule for sh'
json_is "the rule of the step" step_results[2].reason policy
json_is "a step within all rules is ok" step_results[3].state ok
run_matins check matins.toml
err_like "check: a rule that nothing needs" ':5:.*warning: .*"gitt"'
err_unlike "check: not the others" 'warning: .*"(sh|cat)"'
run_matins doctor r
exit_is "doctor says that it cannot work" 1
out_like "doctor names the pin that does not hold" 'not the file that was pinned'

cat >unlisted.toml <<-'END'
	[routines.r]
	[[routines.r.steps]]
	name = "weather"
	type = "script"
	command = "sh"
	args = ["-c", "echo weather: $(date)"]
	sandbox.preset = "none"
END
run_matins run -c unlisted.toml r --json
json_is "a step whose program was refused names it" \
	step_results[0].run.denials[0].kind exec \
	step_results[0].run.denials[0].name '~/date$'
json_is "its advice has the line that allows the program" \
	step_results[0].advice[0].toml 'sandbox.exec = ["date"]'

cat >wrong.toml <<-'END'
	[sandbox.programs.npx]
	package = "x@latest"
	[sandbox.programs.foo]
	deny = ["@eval"]
	[sandbox.programs.bar]
	denny = ["-c"]
	[sandbox.programs.baz]
	sha256 = "abc"
	args = ["a"]
	prefix = ["a"]
END
run_matins check wrong.toml
exit_is "check: rules that are none" 1
err_like "check: a package without a version" '^wrong.toml:1:.*not a pin'
err_like "check: a set that is not known" '^wrong.toml:3:.*@eval'
err_like "check: an unknown key" '^wrong.toml:6:1: .*did you mean "deny"'
err_like "check: two keys that exclude each other" '^wrong.toml:7:.*keep one'

# ---- the table of recipes ----

names=$(sed -n 's/^RECIPE("\([a-z-]*\)",.*/\1/p' "$TOP/gate/policy/recipes.def")
run_matins exec --help
for name in $names; do
	out_like "exec --help: recipe $name" "^  $name  "
	file_like "the manual: recipe $name" "$TOP/core/cli/matins.1" \
		"^\.It Cm $name\$"
done
out_like "exec --help: the words of --preset" \
	"--preset $(paste -sd'|' <<<"$names" | sed 's/|/\\|/g')\|none( |\$)"
done_testing
