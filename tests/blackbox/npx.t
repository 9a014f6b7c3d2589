#!/usr/bin/env bash
# npx and its like without themselves: an installed package is started as what
# it comes to. For each thing allowed, one beside it denied.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

[[ -n $NODE ]] || skip_all "node is not installed: make check-deps"

# package FOLDER NAME VERSION BIN: package.json of a package
package() {
	mkdir -p "$1"
	printf '{"name":"%s","version":"%s","bin":%s}\n' "$2" "$3" "$4" \
		>"$1/package.json"
}

# program FILE [FIRST LINE]: a script that says its name, options, arguments
program() {
	mkdir -p "${1%/*}"
	cat >"$1" <<-END
		${2-#!/usr/bin/env node}
		const path = require("path");
		console.log(path.basename(__filename, ".js"), process.execArgv,
		    process.argv.slice(2));
	END
	chmod 755 "$1"
}

project() {
	local m=$W/p/node_modules

	rm -rf "$W/p"
	mkdir -p "$m/.bin" "$W/p/deep/er"
	echo '{"name":"mine","version":"0.1.0","bin":"own.js"}' >"$W/p/package.json"
	program "$W/p/own.js"
	package "$m/say" say 1.2.3 '"./dist/say.js"'
	program "$m/say/dist/say.js"
	ln -s ../say/dist/say.js "$m/.bin/say"
	package "$m/@s/tools" @s/tools 2.0.0-rc.1 '{"tools":"t.js","other":"./o.js"}'
	program "$m/@s/tools/t.js" '#!/usr/bin/env -S node --title=x --no-warnings'
	program "$m/@s/tools/o.js"
	ln -s ../@s/tools/o.js "$m/.bin/other"
	package "$m/plain" plain 1.0.0 '"p.js"'
	program "$m/plain/p.js" '#!/usr/bin/node'
	package "$m/many" many 1.0.0 '{"a":"a.js","b":"b.js"}'
	package "$m/shell" shell 1.0.0 '"shell"'
	printf '#!/bin/sh\necho "shell $*"\n' >"$m/shell/shell"
	chmod 755 "$m/shell/shell"
	# as pnpm has it
	mkdir -p "$m/.pnpm/deep@1.0.0/node_modules"
	package "$m/.pnpm/deep@1.0.0/node_modules/deep" deep 1.0.0 '{"deeper":"d.js"}'
	program "$m/.pnpm/deep@1.0.0/node_modules/deep/d.js"
	ln -s .pnpm/deep@1.0.0/node_modules/deep "$m/deep"
	cat >"$m/.bin/deeper" <<-'END'
		#!/bin/sh
		exec node  "$basedir/../deep/d.js" "$@"
	END
	cd "$W/p/deep/er" || return
}

# comes_to NAME OUT WORDS...: it runs, and says this
comes_to() {
	local name=$1 says=$2

	shift 2
	gate -- "$@"
	exit_is "$who: $name" 0
	out_is "$who: $name: what ran" "$says"
}

# no NAME STATUS ERE WORDS...: it does not, and this is said
no() {
	local name=$1 is=$2 ere=$3

	shift 3
	gate -- "$@"
	exit_is "$who: $name" "$is"
	err_like "$who: $name: why" "$ere"
}

words() {
	comes_to "the name of a package" "say [] [ 'a', '--yes', '--', '-c' ]" \
		npx -y say a --yes -- -c
	comes_to "the words of npx end at --" "say [] [ 'x' ]" npx --yes -- say x
	comes_to "npm exec" "say [] [ '-x' ]" npm exec -y say -- -x
	comes_to "npm exec with --package" "o [] [ 'x' ]" \
		npm x --package=@s/tools -- other x
	comes_to "npx -p" "o [] [ '-p' ]" npx -p @s/tools other -p
	comes_to "a program by its own name" "o [] []" npx other
	comes_to "a scoped package chooses its namesake" \
		"t [ '--title=x', '--no-warnings' ] []" npx -y @s/tools
	[[ $NODE != /usr/bin/node ]] ||
		comes_to "a first line with the path of node" "p [] []" npx plain
	comes_to "a package of pnpm's" "d [] []" npx deep
	comes_to "a program of pnpm's" "d [] []" npx deeper
	comes_to "the program of the project" "own [] []" npx mine
	comes_to "bunx takes what the first line names" "say [] []" bunx say
	comes_to "a program of sh" "shell a b" npx shell a b
	no "a package without a choice" 126 'many 1.0.0 has no program of its own name; choose.*: a, b' \
		npx many
	no "a program that the package has not" 126 'say 1.2.3 has no program talk; it has say' \
		npx -p say talk
	for words in "-c say" "./say" "--unknown say" "https://localhost/x.tgz" ""; do
		# shellcheck disable=SC2086
		command -v npx >/dev/null && gate --explain -- npx $words
		out_unlike "$who: npx $words: left to npx" '^launcher'
	done
}

versions() {
	local spec

	for spec in 1.2.3 v1.2.3 ^1 '~1.2' 1.x '>=1 <2' '3 || 1' '1 - 2' '*' ''; do
		gate --explain -- npx "say@$spec"
		out_like "$who: say@$spec" '^launcher .*/say.js \(say 1\.2\.3\)$'
	done
	for spec in 2 1.2.4 '^1.3' '<1.2.3' '1.2.3-rc.1' '2 || 3'; do
		no "say@$spec" 127 \
			'is not installed, but say 1\.2\.3 is: npm install .?say@' \
			npx -y "say@$spec"
	done
	no "a prerelease is in no range that names none" 127 '@s/tools 2\.0\.0-rc\.1' \
		npx @s/tools@2
	gate --explain -- npx say@latest
	out_like "$who: a tag takes what is there, and says so" \
		'^launcher +npx say@latest: runs node /.*/node_modules/say/dist/say.js \(say 1\.2\.3; what is installed counts as latest\)$'
}

# What is started, and what it may read.
least() {
	local report=$W/report.json

	rm -f "$report"
	gate --record-exec --report "$report" -- npx -y say
	json_file_is "$who: npx starts node alone" "$report" execs "#1" \
		execs[0].path "$(readlink -f "$NODE")"
	json_file_is "$who: the report says so" "$report" runs \
		"npx say: runs node $W/p/node_modules/say/dist/say.js (say 1.2.3)"
	echo 'a secret' >"$W/p/secret.txt"
	cat >"$W/p/node_modules/say/dist/say.js" <<-'END'
		const fs = require("fs");
		for (const f of ["../../say/package.json", "../../many/package.json",
		    "../../../secret.txt", "../../../own.js"])
			try {
				fs.readFileSync(__dirname + "/" + f);
				console.log("read");
			} catch (e) {
				console.log("refused");
			}
	END
	gate -- npx say
	out_is "$who: node_modules is read, the project is not" \
		$'read\nread\nrefused\nrefused'
}

# A node_modules that a hostile program wrote.
hostile() {
	local m=$W/p/node_modules

	echo 'console.log("escaped")' >"$W/outside.js"
	package "$m/up" up 1.0.0 '"../../../outside.js"'
	no "a program above its package" 126 'leads out of its package' npx up
	package "$m/root" root 1.0.0 "\"$W/outside.js\""
	no "an absolute program" 126 'leads out of its package' npx root
	package "$m/link" link 1.0.0 '"link.js"'
	ln -s "$W/outside.js" "$m/link/link.js"
	no "a program that is a link out of its package" 126 'out of its package' npx link
	package "$m/folder" folder 1.0.0 '"dist/x.js"'
	mkdir "$W/dist"
	cp "$W/outside.js" "$W/dist/x.js"
	ln -s "$W/dist" "$m/folder/dist"
	no "a folder that is a link out of its package" 126 'out of its package' npx folder
	ln -s "$W/outside.js" "$m/.bin/abs"
	ln -s ../../../outside.js "$m/.bin/rel"
	no "an entry of .bin that leads to no package" 127 'abs is not installed' npx abs
	no "an entry of .bin that leads out" 126 'no file of a package' npx rel
	package "$m/fifo" fifo 1.0.0 '"fifo.js"'
	mkfifo "$m/fifo/fifo.js"
	no "a FIFO" 126 'not a regular file' npx fifo
	mkdir "$m/pipe"
	mkfifo "$m/pipe/package.json"
	no "a FIFO for a package.json" 127 'pipe is not installed' npx pipe
	mkdir "$m/broken"
	echo '{"name":' >"$m/broken/package.json"
	no "a package.json that is none" 126 'broken/package.json: ' npx broken
	package "$m/open" open 1.0.0 '"o.js"'
	program "$m/open/o.js"
	chmod 777 "$m/open"
	no "a package that everybody may write" 126 'changed by everybody' npx open
	ln -s "$HOME" "$m/home"
	mkdir -p "$W/q/node_modules/far"
	package "$W/q/node_modules/far" far 1.0.0 '"o.js"'
	program "$W/q/node_modules/far/o.js"
	mkdir "$W/r"
	ln -s "$W/q/node_modules" "$W/r/node_modules"
	cd "$W/r" || return
	no "a node_modules that is a link to another" 126 \
		'node_modules leads to .*/q/node_modules: a link that leads out' npx far
	gate --read "$W/q/node_modules" -- npx far
	out_is "$who: unless that is granted" 'o [] []'
	cd "$W/p" || return
	package "$HOME" home 1.0.0 '"o.js"'
	program "$HOME/o.js"
	no "a package that is a link to HOME" 126 'leads to HOME' npx home
	rm -f "$HOME/package.json" "$HOME/o.js"
	if [[ $(id -u) -ne 0 ]]; then
		skip "$who: a package of another user" "needs root"
		return
	fi
	package "$m/theirs" theirs 1.0.0 '"o.js"'
	program "$m/theirs/o.js"
	chown -R nobody "$m/theirs"
	ln -s say "$m/their-link"
	chown -h nobody "$m/their-link"
	if [[ $who == user ]]; then
		# as_user would hand them back
		run_program /dev/null "${_setpriv[@]}" "$T/.bin/matins" exec -- npx theirs
	else
		gate -- npx theirs
	fi
	exit_is "$who: a package of another user" 126
	err_like "$who: a package of another user: why" 'belongs to another user'
	if [[ $who == user ]]; then
		run_program /dev/null "${_setpriv[@]}" "$T/.bin/matins" exec -- npx their-link
	else
		gate -- npx their-link
	fi
	exit_is "$who: a link of another user" 126
	err_like "$who: a link of another user: why" 'a link of theirs'
	rm -rf "$m/theirs" "$m/their-link"
}

# Rules are read by the words that were written.
rules() {
	local open='"fs_read":"all","fs_write":"all","net":"all"'
	local calls='"max_calls":"unlimited","valid_for_generation":"all"'

	cat >"$W/pin.toml" <<-'END'
		[programs.npx]
		package = "say@1.2.3"
	END
	gate --policy "$W/pin.toml" -- npx -y say@1.2.3 x
	out_is "$who: a package that its rule pins" "say [] [ 'x' ]"
	gate --policy "$W/pin.toml" -- npx -y say x
	exit_is "$who: the same without its version" 126
	err_like "$who: the same without its version: why" 'rule for npx'
	printf '[programs.node]\ndeny = ["--title"]\n' >"$W/node.toml"
	gate --policy "$W/node.toml" -- npx @s/tools
	exit_is "$who: a rule for node holds for what npx comes to" 126
	gate --policy "$W/node.toml" -- npx say
	exit_is "$who: what the rule allows" 0
	export MATINS_CAVEATS="{$open,\"exec\":{\"only\":[\"npx\"]},$calls}"
	gate -- npx say
	exit_is "$who: a leash that lists npx allows node for it" 0
	gate -- node "$W/p/own.js"
	exit_is "$who: and for nothing else" 126
	gate -- npx shell
	exit_is "$who: and no other interpreter" 126
	MATINS_CAVEATS="{$open,\"exec\":{\"only\":[\"node\"]},$calls}" gate -- npx say
	exit_is "$who: a leash that lists node does not allow npx" 126
	unset MATINS_CAVEATS
}

# Packages that are installed globally, wherever npm has them.
globals() {
	local g=$W/global/lib/node_modules

	package "$g/say" say 3.0.0 '{"say":"s.js","shout":"loud.js"}'
	program "$g/say/s.js"
	program "$g/say/loud.js"
	mkdir -p "$W/global/bin"
	ln -s ../lib/node_modules/say/loud.js "$W/global/bin/shout"
	no "not in any prefix" 127 'shout is not installed: npm install shout' npx shout
	npm_config_prefix=$W/global comes_to "npm_config_prefix" "loud [] []" npx shout
	NPM_CONFIG_PREFIX=$W/global comes_to "NPM_CONFIG_PREFIX" "s [] []" npx say@3
	# shellcheck disable=SC2016
	printf '; comment\nprefix = ${BASE}/global ; x\n[x]\nprefix=/nowhere\n' >"$HOME/.npmrc"
	BASE=$W comes_to "prefix of the user's npmrc" "loud [] []" npx shout
	npm_config_prefix=$W/other \
		no "the environment stands before it" 127 'not installed' npx shout
	comes_to "node_modules stands before the prefix" "say [] []" npx say
	rm -f "$HOME/.npmrc"
	package "$HOME/.npm/_npx/0a1b/node_modules/kept" kept 1.0.0 '"k.js"'
	program "$HOME/.npm/_npx/0a1b/node_modules/kept/k.js"
	comes_to "what npx fetched before" "k [] []" npx -y kept
	no "in another version" 127 'but kept 1.0.0 is' npx kept@2
	npm_config_cache=$W/other no "in another cache" 127 'not installed' npx kept
	rm -rf "$HOME/.npm"
}

# tool FOLDER NAME VERSION: an environment as uv and pipx make them
tool() {
	local site module=${2//-/_}

	site=$1/lib/$("$PYTHON" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')/site-packages
	mkdir -p "$1/bin" "$site/$module-$3.dist-info" "$site/$module"
	printf 'home = %s\nversion = 3\n' "${PYTHON%/*}" >"$1/pyvenv.cfg"
	ln -sf "$PYTHON" "$1/bin/python"
	echo "v = '$2 $3'" >"$site/$module/__init__.py"
	cat >"$1/bin/$2" <<-END
		#!/bin/sh
		'''exec' "$1/bin/python" "\$0" "\$@"
		' '''
		import sys, $module as m
		print(m.v, sys.argv[1:])
	END
	chmod 755 "$1/bin/$2"
}

# What uv and pipx installed, and modules of python's.
python_tools() {
	local data=$HOME/.local/share

	tool "$data/uv/tools/a-tool" a-tool 1.2
	tool "$data/pipx/venvs/b-tool" b-tool 2.0
	comes_to "uvx" "a-tool 1.2 ['x', '-y']" uvx a-tool x -y
	comes_to "uvx by another spelling" "a-tool 1.2 []" uvx -q --from A_Tool@1.2 a-tool
	comes_to "uvx --from" "a-tool 1.2 []" uvx --from a-tool==1.2 a-tool
	comes_to "pipx run" "b-tool 2.0 ['x']" pipx run b-tool x
	no "another version" 127 'a-tool==1.3 is not installed, but a-tool 1.2 is: uv tool install' \
		uvx a-tool==1.3
	no "a program that the tool has not" 126 'a-tool 1.2 has no program talk' \
		uvx --from a-tool talk
	ln -sf "$W/outside.py" "$data/uv/tools/a-tool/bin/out"
	echo 'print("escaped")' >"$W/outside.py"
	no "a program that is a link out of the tool" 126 'out of its package' \
		uvx --from a-tool out
	rm -rf "$data"
	mkdir -p "$W/m/pack" "$W/m/deep/er"
	echo 'import pack.x; print(pack.x.v)' >"$W/m/pack/__main__.py"
	echo 'v = "a module"' >"$W/m/pack/x.py"
	cat >"$W/m/reach.py" <<-'END'
		import os
		print(open(os.path.dirname(__file__) + "/../p/package.json").read())
	END
	cd "$W/m" || return
	comes_to "python3 -m of the working directory" "a module" "$PYTHON" -m pack
	no "it reads nothing beside that" 1 'Error' "$PYTHON" -m reach
	gate --read "$W/p" -- "$PYTHON" -m reach
	exit_is "$who: unless that is granted" 0
	cd "$W/m/deep" || return
	gate --explain -- "$PYTHON" -m pack
	out_unlike "$who: a module that is not there grants nothing" "may read +$W"
	cp -R "$W/m/pack" "$HOME/"
	cd "$HOME" || return
	gate --explain -- "$PYTHON" -m pack
	out_unlike "$who: a module in HOME does not grant HOME" "may read +$HOME/(…|pack)"
	rm -rf "$HOME/pack"
	cd "$W/p" || return
}

# A package that is a link to elsewhere: npm link, a workspace.
linked() {
	local ws=$W/p/packages/ws

	package "$ws" ws 1.0.0 '"w.js"'
	cat >"$ws/w.js" <<-'END'
		const fs = require("fs");
		console.log("ws", require("say/package.json").version,
		    fs.existsSync(__dirname) && process.argv.slice(2));
		try {
			fs.readFileSync(__dirname + "/../../package.json");
		} catch (e) {
			console.log("refused");
		}
	END
	sed -i '1i #!/usr/bin/env node' "$ws/w.js"
	ln -s ../packages/ws "$W/p/node_modules/ws"
	comes_to "a workspace finds the packages beside its link" \
		$'ws 1.2.3 [ \'a\' ]\nrefused' npx ws a
	gate --write "$W/p" -- npx ws
	exit_is "$who: which the program may change" 0
	gate --write "$W/p/node_modules" -- npx ws
	exit_is "$who: a link in a folder that it may write leads nowhere else" 126
	err_like "$who: and it is said" 'name .*/packages/ws/w.js itself'
}

# npx itself, as far as the policy lets it.
by_npx() {
	if ! command -v npx >/dev/null; then
		skip "$who: npx itself" "npx is not installed"
		return
	fi
	gate --explain --preset none -- npx say
	out_like "$who: preset none leaves npx as it is" '^program +/.*npx'
	out_unlike "$who: and says nothing of node" '^launcher'
	gate --explain --exec sh --net 127.0.0.1:9 -- npx not-there
	exit_is "$who: what npx may fetch is left to it" 0
	no "with nothing to start it could not" 127 'not-there is not installed' \
		npx not-there
}

missing() {
	no "not installed: exec" 127 \
		'^matins: mcp-server-x is not installed: npm install mcp-server-x \(in /' \
		npx -y mcp-server-x
	no "not installed: uvx" 127 'not-there is not installed: uv tool install not-there' \
		uvx not-there
	no "not installed: pipx" 127 'not-there is not installed: pipx install not-there' \
		pipx run not-there
}

# A server by its name, as everybody writes it.
servers() {
	local modules=$TOP/build/npm/node_modules

	if [[ ! -d $modules/@modelcontextprotocol ]]; then
		skip "$who: a server by npx" "the servers are not installed: make check"
		return
	fi
	rm -rf "$W/p"
	mkdir -p "$W/p"
	cp -R "$modules" "$W/p/"
	cd "$W/p" || return
	cat >"$W/p/r.toml" <<-'END'
		[[routines.r.steps]]
		name = "there"
		type = "mcp-client"
		command = "npx"
		args = ["-y", "@modelcontextprotocol/server-everything"]
		tool = "echo"
		params = { message = "hi" }
		[[routines.r.steps]]
		name = "missing"
		type = "mcp-client"
		command = "npx"
		args = ["-y", "mcp-server-x@latest"]
		tool = "echo"
		[[routines.r.steps]]
		name = "script"
		type = "script"
		command = "npx"
		args = ["mcp-server-x"]
	END
	[[ $who == root ]] || as_user true
	local run=(run_matins)
	[[ $who == root || $(id -u) -ne 0 ]] || run=(as_user run_matins)
	"${run[@]}" call echo message=hi -- npx -y @modelcontextprotocol/server-everything
	out_is "$who: call of a server by npx" 'Echo: hi'
	"${run[@]}" call echo -- npx -y mcp-server-x
	exit_is "$who: call of one that is missing" 1
	err_like "$who: call of one that is missing: why" \
		'mcp-server-x is not installed: npm install mcp-server-x'
	"${run[@]}" run -c r.toml r --json -v
	json_is "$who: steps" step_results[0].state ok \
		step_results[1].state skipped step_results[1].reason no_command \
		step_results[2].state skipped step_results[2].reason no_command
	out_like "$who: the report says what ran" \
		'"runs":"npx @modelcontextprotocol/server-everything: runs node /'
	"${run[@]}" check -v -c r.toml
	out_like "$who: check -v says what a step starts" \
		'^  r/there  npx @modelcontextprotocol/server-everything: runs node /.*/index.js \(@modelcontextprotocol/server-everything '
	out_like "$who: and what it cannot" '^  r/script  mcp-server-x is not installed'
	"${run[@]}" check -c r.toml
	out_unlike "$who: check alone says neither" 'npx'
	"${run[@]}" doctor -c r.toml r
	out_like "$who: doctor has no other advice than to install it" \
		'^ +-> run that command$'
	out_like "$who: so does doctor" 'npx @modelcontextprotocol/server-everything: runs node'
}

all() {
	project
	words
	versions
	globals
	rules
	least
	linked
	python_tools
	by_npx
	missing
	hostile
	servers
	cd "$T" || return
	rm -rf "$W"
}

# The rows of the unit test are npm's own opinion: ask it, where npm is.
oracle() {
	local npm semver

	npm=$(readlink -f "$(type -P npm)" || true)
	semver=${npm%/bin/*}/node_modules/semver
	if [[ ! -d $semver ]]; then
		skip "ranges are those of npm" "npm has no semver module"
		return
	fi
	cat >"$T/ask.js" <<-'END'
		const semver = require(process.argv[2]);
		const rows = require("fs").readFileSync(process.argv[3], "utf8").split("\n");
		let n = 0;
		rows.forEach((row, i) => {
			const [, what, rest] = /^(kind|fits) (.*)$/.exec(row) || [];
			if (!what)
				return;
			const [a, b] = rest.split(" | ").map((s) => s === "''" ? "" : s);
			const said = what === "fits" ? (semver.satisfies(a, b) ? "yes" : "no")
			    : semver.valid(a, true) ? "version"
			    : semver.validRange(a, true) !== null ? "range"
			    : a && encodeURIComponent(a) === a ? "tag" : "none";
			n++;
			if (rows[i + 1] !== "= " + said)
				console.log(row, rows[i + 1], said);
		});
		console.log(n > 100 ? "asked" : "too few rows");
	END
	run_program /dev/null "$NODE" "$T/ask.js" "$semver" \
		"$TOP/tests/unit/gate/values/packages.transcript"
	out_is "ranges are those of npm" asked
}

oracle
both_users all
done_testing
