#!/usr/bin/env bash
# Recipes: `preset` as a key and as an option, and what each recipe grants.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# as_who COMMAND...: as the user under test
as_who() {
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		"$@"
	else
		as_user "$@"
	fi
}

# Give what was just made to the user under test.
hand_over() {
	[[ $who == root ]] || as_user true
}

# project NAME: a folder $W/NAME with a package, which becomes the current one
project() {
	mkdir -p "$W/$1"
	echo '{"name":"p","version":"1.0.0","private":true}' \
		>"$W/$1/package.json"
	echo mine >"$W/$1/data"
	cd "$W/$1" || exit
	hand_over
}

# ---- the key ----

# config_with PLACE VALUE: `preset` in [sandbox], of a server or of a step;
# programs read a file of the project that no argument names
config_with() {
	local -A in=([top]='' [server]='' [step]='')

	in[$1]="preset = $2"
	cat >recipes.toml <<-END
		[sandbox]
		${in[top]}
		[servers.peer]
		command = "sh"
		args = ["-c", "read -r x <data && echo got \$x >&2"]
		sandbox = { ${in[server]} }
		[routines.r]
		[[routines.r.steps]]
		name = "s"
		type = "script"
		command = "sh"
		args = ["-c", "read -r x <data && echo got \$x"]
		sandbox = { ${in[step]} }
	END
	hand_over
}

the_key() {
	local value place

	project p
	for value in '"node"' '["python", "node"]' '"none"'; do
		for place in top step; do
			config_with $place "$value"
			as_who run_matins run -c recipes.toml r
			if [[ $value == *none* ]]; then
				out_unlike "$who: $place: none grants nothing" 'got mine'
			else
				out_like "$who: $place: preset = $value" 'got mine'
			fi
		done
	done
	config_with server '"node"'
	as_who run_matins tools -c recipes.toml -s peer
	err_like "$who: of a server" 'got mine'
	config_with step '"node"'
	as_who run_matins tools -c recipes.toml -s peer
	err_unlike "$who: that of a step is not a server's" 'got mine'
	as_who run_matins tools -c recipes.toml -s peer --preset node
	err_like "$who: as an option" 'got mine'
	cd "$T" || exit
}

wrong_names() {
	project p
	config_with step '["nod"]'
	run_matins check recipes.toml
	exit_is "a recipe that is none" 1
	err_like "it is named with the nearest" \
		'recipes.toml:13:[0-9]+: .*"nod" is not known; did you mean "node"'
	config_with step '"zzzzzz"'
	run_matins check recipes.toml
	err_like "or all of them" 'use one of node, python, .*, none'
	config_with step 7
	run_matins check recipes.toml
	err_like "a value of another type" 'a word or a list of words'
	run_matins exec --preset nod -- true
	exit_is "likewise as an option" 64
	err_like "with the nearest" 'did you mean "node"'
	config_with step '["none", "git"]'
	run_matins check recipes.toml
	exit_is "none beside a name" 0
	cd "$T" || exit
}

# ---- git ----

# A repository $W/repo with one commit, and secrets beside it.
repository() {
	as_who rm -rf "$W/repo"
	mkdir -p "$W/repo/sub"
	echo theirs >"$W/beside"
	hand_over
	cd "$W/repo" || exit
	as_who env git init -q -b main . >"$T/.git-init" 2>&1
	as_who env git config user.email n@example.com
	as_who env git config user.name n
	as_who env git commit -q --allow-empty -m first
}

git_by_itself() {
	repository
	gate -- git log --oneline
	out_like "$who: git log in a repository" ' first$'
	gate -- git status --short
	exit_is "$who: git status" 0
	gate -- git commit -q --allow-empty -m second
	isnt "$who: git commit may not write" "$status" 0
	gate --write . -- git commit -q --allow-empty -m second
	exit_is "$who: with --write . it commits" 0
	gate --preset none -- git log --oneline
	isnt "$who: not with none" "$status" 0
	gate -- git hash-object "$W/beside/../beside"
	gate -- git grep -n --no-index -e theirs -- "$W"
	out_unlike "$who: what lies beside the repository is not read" theirs
	cd sub || exit
	gate -- git log --oneline
	out_like "$who: from a folder in it" ' second$'
	cd "$W" || exit
	gate -- git -C repo log --oneline
	out_like "$who: git -C" ' second$'
	gate -- git -C repo/sub log --oneline
	out_like "$who: git -C, a folder in it" ' second$'
	gate --explain -- git -C repo log
	out_like "$who: --explain names the recipe" \
		"^recipe +git: reads $W/repo, for its .git\$"
	gate --report r.json -- git -C repo log
	json_file_is "$who: the report does" r.json \
		recipes[0] "git: reads $W/repo, for its .git"
	cd "$T" || exit
}

# Links that an earlier run left where it could write lead to no other project.
planted_links() {
	local how

	repository
	as_who env git init -q "$W/other" >"$T/.git-init" 2>&1
	as_who env git -C "$W/other" -c user.email=n -c user.name=n \
		commit -q --allow-empty -m theirs
	printf 'all:\n\t@echo theirs\n' >"$W/other/Makefile"
	printf '{"scripts":{"t":"echo theirs"}}\n' >"$W/other/package.json"
	mkdir -p inner/real
	cp "$W/other/Makefile" "$W/other/package.json" inner/real
	as_who env git init -q inner/real >"$T/.git-init" 2>&1
	ln -s ../other out
	ln -s real inner/in
	hand_over
	for how in "git -C" "make -C" "npm --prefix"; do
		if ! command -v "${how%% *}" >"$T/.found"; then
			skip "$who: $how" "it is not installed"
			continue
		fi
		gate --write . --explain -- $how out log
		out_unlike "$who: $how, a link out of the folder" "reads $W/other"
		out_like "$who: which is said" "out leads to $W/other by the link"
		gate --write . --explain -- $how inner/in log
		out_like "$who: $how, a link in it" "reads $W/repo/inner/real"
	done
	gate --write . -- git -C out log
	out_unlike "$who: git does not read the other repository" theirs
	gate --write . -- make -C out
	out_unlike "$who: make does not run its Makefile" theirs
	gate --write . --preset git -- git -C out log
	out_unlike "$who: nor where the recipe is named" theirs
	gate --write . --read "$W/other" -- git -C out log
	out_like "$who: what is granted is read" theirs
	gate --write . -- git -C "$W/other" log
	out_like "$who: and what is named itself" theirs
	gate --read . -- git -C out log
	out_like "$who: or by a link where nothing may be written" theirs
	cd "$T" || exit
}

# after_writer FOLDER <KEYS: a step with these keys, after one that may write there
after_writer() {
	{
		cat <<-END
			[routines.r]
			[[routines.r.steps]]
			name = "writer"
			type = "script"
			command = "true"
			sandbox = { write = ["$1"] }
			[[routines.r.steps]]
			name = "s"
			type = "script"
		END
		cat
	} >recipes.toml
	hand_over
	as_who run_matins run -c recipes.toml r --json
}

# A step's folder that a step before it may have replaced by a link.
planted_folder() {
	repository
	as_who env git init -q "$W/other" >"$T/.git-init" 2>&1
	mkdir -p "$W/out"
	ln -sfn ../other "$W/out/sub"
	after_writer "$W/out" <<-END
		command = "git"
		args = ["-C", "$W/out/sub", "log"]
	END
	json_is "$who: a link that another step may write" \
		step_results[1].run.recipes absent
	cd "$T" || exit
}

# A link in HOME in place of a folder that a recipe reads.
planted_home() {
	project p
	printf 'all:\n\t@cat %s\n' "$HOME/priv/registry/x" >Makefile
	mkdir -p "$HOME/priv/registry"
	echo private >"$HOME/priv/registry/x"
	ln -sfn priv "$HOME/.cargo"
	hand_over
	gate -- make
	out_unlike "$who: make does not read where a link of HOME leads" private
	gate --explain -- make
	out_like "$who: which is said, with the line" \
		"by the link $HOME/.cargo: .*sandbox.read = \[\"$HOME/priv/registry\"\]"
	gate --read "$HOME/priv/registry" -- make
	out_like "$who: it does where that is granted" private
	rm "$HOME/.cargo" && mv "$HOME/priv" "$HOME/.cargo"
	sed -i 's,/priv/,/.cargo/,' Makefile
	gate -- make
	out_like "$who: and the folder itself" private
	rm -rf "$HOME/.cargo"
	cd "$T" || exit
}

# Not even the folder that one stands in, where it is another user's.
others_repository() {
	repository
	chown nobody "$W/repo"
	gate --explain -- git log
	out_unlike "$who: a repository of another user's is not read" '^recipe'
	chown root "$W/repo"
	cd "$T" || exit
}

# ---- shell scripts ----

scripts() {
	project p
	printf '#!/bin/sh\ncat data | tr a-z A-Z\nb="$(basename /x/name)"\necho "$b"\n' >s.sh
	chmod 755 s.sh
	hand_over
	gate --read . -- sh s.sh
	out_is "$who: a script, by sh" $'MINE\nname'
	gate --read . -- ./s.sh
	out_is "$who: a script itself" $'MINE\nname'
	gate -- sh -c 'echo "year: $(date +%Y)"'
	out_like "$who: a command line" '^year: 2'
	gate -- bash -ec 'printf "%s\n" b a | sort'
	out_is "$who: of bash" $'a\nb'
	gate --explain -- sh -c 'date; no-such-program; cd /; /usr/bin/id'
	out_like "$who: --explain lists what it may start" \
		'^recipe +sh: starts date, /usr/bin/id$'
	gate -- sh -c 'd=date; $d'
	exit_is "$who: a name that is made when it runs is refused" 126
	gate --read . -- sh -c ./s.sh
	exit_is "$who: a program outside the system's folders is refused" 126
	gate --preset none --read . -- sh s.sh
	err_like "$who: with none it starts nothing" 'cat: .*denied'
	gate -- sh -c 'su -c id; mount'
	err_unlike "$who: no program that changes users" '^recipe'
	gate --explain -- sh -c 'su -c id; date'
	out_like "$who: such are left out" '^recipe +sh: starts date$'
	cd "$T" || exit
}

# tool PATH FILE: a script that make runs, and that reads a file
tool() {
	mkdir -p "${1%/*}"
	printf '#!/usr/bin/make -f\nall:\n\t@cat %s\n' "$2" >"$1"
	chmod 755 "$1"
}

# The first line of a tool is not what the caller named.
first_lines() {
	if ! command -v make >"$T/.found"; then
		skip "$who: first lines" "make is not installed"
		return
	fi
	project p
	echo all: >Makefile
	tool "$W/tools/make-like" "$W/p/data"
	tool "$W/p/rules" data
	tool "$W/p/node_modules/foo/make" "$W/p/data"
	echo '{"name":"foo","version":"1.0.0","bin":"make"}' \
		>node_modules/foo/package.json
	mkdir -p node_modules/.bin
	ln -sf ../foo/make node_modules/.bin/foo
	hand_over
	gate -- "$W/tools/make-like"
	out_unlike "$who: a tool from elsewhere reads no project by its first line" mine
	gate --explain -- "$W/tools/make-like"
	out_unlike "$who: and starts no tools" '^recipe'
	gate -- npx foo
	out_unlike "$who: which npx starts, whatever its name is" mine
	gate --explain -- npx foo
	out_unlike "$who: nor does that start tools" 'build: '
	mkdir w
	tool "$W/p/w/rules" "$W/p/data"
	hand_over
	gate --write w -- w/rules
	out_unlike "$who: nor one that lies where a program may write" mine
	gate -- ./rules
	out_is "$who: the project's own does" mine
	gate -- make -f rules
	out_is "$who: as make itself does" mine
	gate --preset build -- "$W/tools/make-like"
	out_is "$who: and the tool where the recipe is named" mine
	cd "$T" || exit
}

starters() {
	project p
	gate -- timeout 60 date +%Y
	exit_is "$who: timeout starts what it is told to" 0
	gate -- env A=b nice -n 3 date +%Y
	exit_is "$who: env, nice" 0
	gate --read . -- find . -name data -exec wc -c '{}' +
	out_like "$who: find -exec" '^5 '
	gate -- timeout 60 sh -c date
	exit_is "$who: a shell is started, and not what that starts" 126
	gate --read . -- timeout 60 ./s.sh
	exit_is "$who: no program outside the system's folders" 126
	gate --preset none -- timeout 60 date
	exit_is "$who: with none it starts nothing" 126
	gate --explain -- env "it's" 'x; date' sort
	out_unlike "$who: an argument is one word" 'starts.*date'
	printf '#!/usr/bin/env sh\ntrue\n' >e.sh
	chmod 755 e.sh
	hand_over
	gate --explain -- ./e.sh date
	out_unlike "$who: env of a first line names no argument" 'starts.*date'
	cd "$T" || exit
}

# Scripts that somebody else could have written.
others_scripts() {
	project p
	mkdir -p node_modules/m out
	for f in s.sh node_modules/m/s.sh out/s.sh; do
		rm -f "$f"
		printf 'date\n' >"$f"
	done
	hand_over
	gate --read . -- sh s.sh
	exit_is "$who: the script of the user starts date" 0
	gate --read . -- sh node_modules/m/s.sh
	exit_is "$who: one that came with a package does not" 126
	gate --read . --write out -- sh out/s.sh
	exit_is "$who: one that the program may write does not" 126
	gate --read . --write . -- sh s.sh
	exit_is "$who: where all may be written none does" 126
	gate --read . --write . --preset sh -- sh s.sh
	exit_is "$who: not when it is named, either" 126
	chmod 666 s.sh
	gate --read . -- sh s.sh
	exit_is "$who: one that others may write does not" 126
	chmod 644 s.sh
	config_with none ''
	after_writer "$W/p/out" <<-END
		command = "sh"
		args = ["$W/p/out/s.sh"]
	END
	json_is "$who: one that another step may write does not" \
		step_results[1].run.recipes absent
	cd "$T" || exit
}

# ---- the leash ----

# with_leash EXEC FS_READ: run what follows under such a leash
with_leash() {
	local exec=$1 read=$2

	shift 2
	MATINS_CAVEATS='{"fs_read":'$read',"fs_write":"all","exec":{"only":['$exec']},
		"net":"all","max_calls":"unlimited","valid_for_generation":"all"}' \
		"$@"
}

leashed() {
	with_leash '"sh"' '"all"' gate -- sh -c 'date'
	exit_is "$who: the leash lists no date" 126
	err_like "$who: which is said" \
		'recipe "sh": not started, because the leash does not allow it: date'
	with_leash '"sh", "date"' '"all"' gate -- sh -c 'date; uname'
	exit_is "$who: it lists date alone: the last is refused" 126
	out_like "$who: and the first is not" '[0-9]'
	repository
	with_leash '"git", "sh", "/bin/sh"' '{"only":["/usr"]}' gate -- git log
	isnt "$who: the leash reads no repository" "$status" 0
	with_leash '"git", "sh", "/bin/sh"' "{\"only\":[\"$W/repo\"]}" gate -- git log
	exit_is "$who: it reads this one" 0
	cd "$T" || exit
}

# ---- compilers, tar ----

builds() {
	if ! command -v cc make tar gzip >"$T/.found"; then
		skip "$who: builds" "no compiler, make, tar or gzip"
		return
	fi
	project b
	printf 'int main(void) { return 7; }\n' >x.c
	printf 'x: x.c\n\tcc -o x x.c\n\t@echo built | tr a-z A-Z\n' >Makefile
	hand_over
	gate --write . -- make
	out_like "$who: make, cc and common tools" '^BUILT$'
	ok "$who: it is built" test -x x
	rm x
	gate --write . -- cc -o x x.c
	exit_is "$who: cc alone" 0
	gate -- make -n x
	out_unlike "$who: nothing to do" 'cc'
	gate -- make -B
	isnt "$who: make writes only what was granted" "$status" 0
	gate --explain -- make
	out_unlike "$who: scripts among the tools open no folder of programs" \
		'^may read +/usr/bin/'
	gate --read . --exec which -- sh -c 'which which'
	out_like "$who: such a script runs" which
	gate --write . --preset none -- make -B
	isnt "$who: with none it starts no compiler" "$status" 0
	gate --preset none --explain -- cc x.c
	out_unlike "$who: with none cc reads no headers" '/usr/include'
	gate --write . -- tar czf o.tgz x.c
	exit_is "$who: tar czf" 0
	ok "$who: the archive is whole" gzip -t o.tgz
	gate --write . --preset none -- tar czf p.tgz x.c
	isnt "$who: not with none" "$status" 0
	for script in 'tar czf s.tgz x.c' 'tar -z -c -f s.tgz x.c' \
		'cd . && tar --xz -cf s.txz x.c'; do
		gate --write . -- sh -c "$script"
		exit_is "$who: sh: $script" 0
	done
	gate --write . -- timeout 20 tar czf s.tgz x.c
	exit_is "$who: timeout: tar czf" 0
	gate --write . --preset none --exec tar -- sh -c 'tar czf s.tgz x.c'
	isnt "$who: a script with none starts no gzip" "$status" 0
	gate --explain -- sh -c 'echo tar czf s.tgz x.c'
	out_unlike "$who: a word that is no program brings none" gzip
	cd "$T" || exit
}

# ---- python ----

# packages that were installed with `pip install -e`: a file .pth of the
# virtual environment names the folder of their sources
editable() {
	local real site

	real=$(readlink -f "$PYTHON")
	site=$W/home/env/lib/${real##*/}/site-packages
	mkdir -p "$site" "$W/home/env/bin" "$W/home/tasks/src/tasks" \
		"$W/home/notes" "$W/home/.ssh/src"
	ln -s "$real" "$W/home/env/bin/python"
	printf 'home = /usr/bin\nversion = 3\n' >"$W/home/env/pyvenv.cfg"
	echo 'print("from the sources")' >"$W/home/tasks/src/tasks/__init__.py"
	cp -r "$W/home/tasks/src/tasks" "$W/home/notes/"
	cp -r "$W/home/tasks/src/tasks" "$W/home/.ssh/src/"
	touch "$W/home/tasks/pyproject.toml" "$W/home/.ssh/pyproject.toml"
	printf '# of pip\nimport sys\n%s\n' "$W/home/tasks/src" >"$site/t.pth"
	hand_over
	cd "$W" || exit
	HOME=$W/home gate -- home/env/bin/python -c 'import tasks'
	out_is "$who: python finds a package that was installed with -e" \
		'from the sources'
	rm -rf "$W/home/.local"
	mkdir -p "$W/home/.local/lib/${real##*/}/site-packages"
	cp "$site/t.pth" "$W/home/.local/lib/${real##*/}/site-packages/"
	hand_over
	HOME=$W/home gate -- "$PYTHON" -c 'import tasks'
	out_is "$who: also one of the user's packages" 'from the sources'
	rm -r "$W/home/.local"
	HOME=$W/home gate --write home/tasks/src -- home/env/bin/python \
		-c 'import tasks'
	out_is "$who: also where it may write" 'from the sources'
	HOME=$W/home gate -- home/env/bin/python -c \
		"open('$W/home/tasks/src/new', 'w')"
	isnt "$who: it is never writable" "$status" 0
	HOME=$W/home gate -- home/env/bin/python -c \
		"open('$W/home/tasks/pyproject.toml')"
	isnt "$who: and nothing beside it can be read" "$status" 0
	HOME=$W/home gate --preset none -- home/env/bin/python -c 'import tasks'
	isnt "$who: not with none" "$status" 0
	HOME=$W/home gate --write home/env -- home/env/bin/python -c 'import tasks'
	isnt "$who: a .pth that the program may write names nothing" "$status" 0
	for folder in "$W/home/notes" "$W/home" "$W/home/.ssh/src" / ..; do
		echo "$folder" >"$site/t.pth"
		[[ $who == root ]] || as_user true
		HOME=$W/home gate -- home/env/bin/python -c 'import tasks'
		isnt "$who: no project of a package: ${folder#"$W"}" "$status" 0
	done
	mkdir -p "$W/home/other"
	touch "$W/home/other/setup.py"
	echo x.pth-secret >"$W/home/other/.env"
	cp "$W/home/other/.env" "$W/home/other/server.pem"
	cp -r "$W/home/tasks/src/tasks" "$W/home/other/"
	chmod 600 "$W/home/other/server.pem"
	for folder in .env server.pem setup.py ''; do
		echo "$W/home/other/$folder" >"$site/t.pth"
		hand_over
		HOME=$W/home gate -- home/env/bin/python -c \
			"print(open('$W/home/other/${folder:-.env}').read(), 'read')"
		out_unlike "$who: no file of a project: other/$folder" read
	done
	err_like "$who: nor a folder with keys, which is said" \
		"$W/home/other\" of a file .pth: not readable, it holds .*/(.env|server.pem); if"
	mv "$W/home/other/.env" "$W/home/other/server.pem" "$W/home/"
	echo mine >"$W/home/other/own"
	chmod 600 "$W/home/other/own"
	hand_over
	HOME=$W/home gate -- home/env/bin/python -c 'import tasks'
	isnt "$who: nor one with a file that only its user may read" "$status" 0
	rm "$W/home/other/own"
	HOME=$W/home gate -- home/env/bin/python -c 'import tasks'
	out_is "$who: it is one without these" 'from the sources'
	for n in {1..70}; do
		mkdir -p "$W/home/many/$n"
		touch "$W/home/many/$n/setup.py"
		echo "$W/home/many/$n" >"$site/$n.pth"
	done
	hand_over
	HOME=$W/home gate -- home/env/bin/python -c "import os
print(sum(os.path.exists(f'$W/home/many/{n}/setup.py') for n in range(71)))"
	ok "$who: their number is bounded" test "$(<"$out")" -ge 60 -a \
		"$(<"$out")" -le 64
	rm "$site"/[0-9]*.pth
	ln -s "$W/home/.ssh" "$W/home/tasks/keys"
	echo "$W/home/tasks/keys/src" >"$site/t.pth"
	[[ $who == root ]] || as_user true
	HOME=$W/home gate -- home/env/bin/python -c 'import tasks'
	isnt "$who: keys by a link are none" "$status" 0
	cd "$T" || exit
}

user_site() {
	local real site

	real=$(readlink -f "$PYTHON")
	site=$W/home/.local/lib/${real##*/}/site-packages
	mkdir -p "$site" "$W/home/.local/share" "$W/home/.ssh"
	echo 'print("from the user site")' >"$site/mine.py"
	echo key >"$W/home/.ssh/id_rsa"
	hand_over
	cd "$W" || exit
	HOME=$W/home gate -- "$PYTHON" -c 'import mine'
	out_is "$who: python finds packages of the user" 'from the user site'
	HOME=$W/home gate -- "$PYTHON" -m mine
	out_is "$who: and runs one" 'from the user site'
	HOME=$W/home gate --preset none -- "$PYTHON" -c 'import mine'
	isnt "$who: not with none" "$status" 0
	HOME=$W/home gate -- "$PYTHON" -c \
		"print(open('$W/home/.ssh/id_rsa').read())"
	out_unlike "$who: and nothing else of HOME" key
	rm -r "$site"
	ln -s "$W/home/.ssh" "$site"
	[[ $who == root ]] || as_user true
	HOME=$W/home gate -- "$PYTHON" -c \
		"print(open('$site/id_rsa').read())"
	out_unlike "$who: nor what a link in its place leads to" key
	cd "$T" || exit
}

# ---- npm ----

npm_install() {
	if [[ -z $NODE ]] || ! command -v npm >"$T/.found"; then
		skip "$who: npm install" "no node or npm"
		return
	fi
	mkdir -p "$W/npm/dep" "$W/npm/app"
	cat >"$W/npm/dep/package.json" <<-'END'
		{"name":"dep","version":"1.0.0","bin":"hello.js",
		 "scripts":{"install":"touch installed"}}
	END
	echo 'console.log("hello")' >"$W/npm/dep/hello.js"
	hand_over
	cd "$W/npm/dep" || exit
	as_who env npm_config_update_notifier=false HOME="$W/npm" \
		npm pack --silent --pack-destination "$W/npm/app" >"$T/.pack" 2>&1
	cd "$W/npm/app" || exit
	LIMIT_S=120 gate --write . -- npm install --no-audit ./dep-1.0.0.tgz
	exit_is "$who: npm install in an empty folder" 0
	ok "$who: it is installed" test -e node_modules/dep/hello.js
	err_like "$who: scripts do not run, and that is said" \
		'install scripts of packages do not run; exec --allow-scripts, or a step'
	not_ok "$who: and did not" test -e node_modules/dep/installed
	LIMIT_S=120 gate -- npm ls
	out_like "$who: npm ls by itself" 'dep@1.0.0'
	rm -r node_modules
	LIMIT_S=120 gate --write . --allow-scripts -- \
		npm install --no-audit ./dep-1.0.0.tgz
	exit_is "$who: with --allow-scripts" 0
	ok "$who: they run" test -e node_modules/dep/installed
	err_unlike "$who: and nothing is said" 'do not run'
	rm -r node_modules
	LIMIT_S=120 gate -- npm install --no-audit ./dep-1.0.0.tgz
	isnt "$who: nothing is written without --write" "$status" 0
	not_ok "$who: and no folder made" test -e node_modules
	gate --write . --explain -- npm install
	not_ok "$who: nor by --explain" test -e node_modules
	cd "$T" || exit
}

# ---- browsers ----

# Rows for people only: nothing starts, and no browser has to be there.
browsers() {
	local arg

	project browsers
	echo 'import sys' >server.py
	for arg in /usr/bin/chromium --executable-path=/usr/bin/chromium \
		--browser=/opt/google/chrome/google-chrome; do
		gate --explain -- "$PYTHON" server.py "$arg"
		out_like "$who: $arg asks for a browser" '^recipe +browser: starts .*sh'
	done
	for arg in /tmp/chromium /usr/bin/chromium-x chromium x/usr/bin/chromium \
		--executable-path=chromium; do
		gate --explain -- "$PYTHON" server.py "$arg"
		out_unlike "$who: $arg does not" '^recipe +browser'
	done
	gate --preset none --explain -- "$PYTHON" server.py /usr/bin/chromium
	out_unlike "$who: preset none leaves the browser out" '^recipe +browser'
	cd "$T" || exit
}

both_users browsers
both_users the_key
both_users git_by_itself
both_users planted_links
both_users planted_folder
both_users planted_home
both_users scripts
both_users first_lines
both_users starters
both_users others_scripts
both_users leashed
both_users builds
both_users user_site
both_users editable
both_users npm_install
who=root
[[ $(id -u) -eq 0 ]] || who=user
fresh_folder
wrong_names
if [[ $who == root ]]; then
	others_repository
else
	skip "a repository of another user's" "needs root to make it"
fi

done_testing
