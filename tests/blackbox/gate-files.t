#!/usr/bin/env bash
# What a program may read, write and see; each allowed thing beside one denied.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

own() { # files that the user under test owns
	mkdir -p "$W/in/deep" "$W/out" "$W/not"
	echo x >"$W/in/file"
	echo x >"$W/in/deep/file"
	echo x >"$W/not/file"
	echo x >"$W/out/file"
	ln -sf "$W/not/file" "$W/in/link-out"
	ln -sfn "$W/in" "$W/link"
	[[ $who == root ]] || as_user true
}

files() {
	own
	expect blocked "nothing of the user's is readable" -- read @"$W/in/file"
	expect ok "a granted folder is" --read "$W/in" -- read @"$W/in/file"
	expect ok "deep inside, too" --read "$W/in" -- read @"$W/in/deep/file"
	expect ok "and can be listed" --read "$W/in" -- list @"$W/in"
	expect blocked "its neighbour is not" --read "$W/in" -- \
		read @"$W/not/file"
	expect blocked "nor by a link in it" --read "$W/in" -- \
		read @"$W/in/link-out"
	expect ok "a grant that is a link works by its name" \
		--read "$W/link" -- read @"$W/link/file"
	expect blocked "read does not write" --read "$W/in" -- \
		write @"$W/in/file"
	expect ok "write does" --write "$W/out" -- write @"$W/out/file"
	ok "$who: on the real disk" grep -q x "$W/out/file"
	expect ok "and makes files" --write "$W/out" -- write @"$W/out/new"
	ok "$who: on the real disk as well" test -s "$W/out/new"
	expect ok "and folders" --write "$W/out" -- mkdir @"$W/out/dir"
	expect ok "and renames" --write "$W/out" -- \
		rename @"$W/out/new" @"$W/out/dir/new"
	expect ok "and removes" --write "$W/out" -- unlink @"$W/out/dir/new"
	expect ok "and reads" --write "$W/out" -- read @"$W/out/file"
	expect blocked "not beside it" --write "$W/out" -- \
		write @"$W/not/file"
	expect blocked "not by a hard link from outside" --write "$W/out" -- \
		link @"$W/not/file" @"$W/out/linked"
	expect ok "write inside a read grant" --read "$W" --write "$W/out" -- \
		write @"$W/out/file"
	expect blocked "and only there" --read "$W" --write "$W/out" -- \
		write @"$W/in/file"
	expect ok "read inside a write grant stays writable" --write "$W" \
		--read "$W/in" -- write @"$W/in/file"
	expect blocked "truncate outside" -- truncate @"$W/not/file"
	expect ok "truncate inside" --write "$W/out" -- truncate @"$W/out/file"
	on fs-write expect blocked "chmod outside" -- chmod @"$W/not/file" 777
	expect ok "chmod inside" --write "$W/out" -- chmod @"$W/out/file" 600
	on fs-write expect blocked "times outside" -- utimes @"$W/not/file"
	expect ok "times inside" --write "$W/out" -- utimes @"$W/out/file"
	on fs-write expect blocked "attributes outside" -- xattr @"$W/not/file"
	with_view "watching outside" \
		expect blocked "watching outside" -- inotify @"$W/not"
}

private_places() {
	expect ok "the private /tmp is writable" -- write @/tmp/x
	is "$who: and not the real one" "$(ls /tmp/x 2>&1)" \
		"ls: cannot access '/tmp/x': No such file or directory"
	expect ok "HOME is writable" --env PROBE=1 -- write @"$HOME/x"
	not_ok "$who: and not the real one" test -e "$HOME/x"
	expect ok "/dev/shm is there" -- semaphore
	not_ok "$who: the private /dev/shm is not the real one" test -e /dev/shm/probe
	gate -- "$PROBE" list /tmp
	out_like "$who: /tmp shows nothing of others" '^ok: list: [012] '
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		echo x >"/tmp/shared-$$"
		chmod 666 "/tmp/shared-$$"
		expect ok "tmp = shared is the host's" --tmp shared -- \
			read @"/tmp/shared-$$"
		expect blocked "private is not" -- read @"/tmp/shared-$$"
		rm -f "/tmp/shared-$$"
	fi
}

system_files() {
	local path

	for path in /etc/shadow /etc/ssh/sshd_config /etc/sudoers /root/.bashrc \
		/var/log/dpkg.log /var/lib/dpkg/status /boot /srv \
		/proc/1/environ /proc/kcore /dev/mem /dev/vda /dev/kmsg \
		/usr/bin/id /usr/sbin/chroot; do
		[[ -e $path ]] || continue
		expect blocked "$path is not readable" -- read @"$path"
	done
	for path in /etc/passwd /etc/hosts /etc/ld.so.cache /dev/urandom \
		/dev/zero /proc/self/status /proc/meminfo; do
		[[ -e $path ]] || continue
		expect ok "$path is readable" -- read @"$path"
	done
	for path in /etc/passwd /usr/lib/x /proc/sys/kernel/core_pattern \
		/proc/sys/vm/swappiness /proc/self/oom_score_adj /sys/x /x \
		/var/x /run/x /usr/bin/x /dev/x; do
		expect blocked "$path is not writable" -- write @"$path"
	done
	expect ok "/dev/null is" -- write @/dev/null
}

protected() {
	local git=$W/tree

	mkdir -p "$git/.git/hooks" "$git/src"
	echo x >"$git/.git/config"
	echo x >"$git/.git/hooks/pre-commit"
	echo x >"$git/.git/index"
	[[ $who == root ]] || as_user true
	expect blocked "git hooks stay as they are" --write "$git" -- \
		write @"$git/.git/hooks/pre-commit"
	expect blocked "no new ones" --write "$git" -- \
		write @"$git/.git/hooks/post-checkout"
	expect blocked "the configuration as well" --write "$git" -- \
		write @"$git/.git/config"
	expect blocked "reading it as well takes nothing away" --write "$git" \
		--read "$git/.git/config" -- write @"$git/.git/config"
	expect blocked "nor does reading its folder" --write "$git" \
		--read "$git/.git" -- write @"$git/.git/config"
	expect blocked "nor an argument that names it" --write "$git" -- \
		write @"$git/.git/config" "$git/.git/config"
	expect blocked "not by moving it away" --write "$git" -- \
		rename @"$git/.git/config" @"$git/.git/old"
	expect blocked "nor the folder above" --write "$git" -- \
		rename @"$git/.git" @"$git/git"
	expect ok "the configuration can be read" --write "$git" -- \
		read @"$git/.git/config"
	expect ok "the index is writable" --write "$git" -- \
		write @"$git/.git/index"
	expect ok "sources, too" --write "$git" -- write @"$git/src/x"
	mkdir -p "$W/linked/.git" "$W/linked/other"
	ln -sfn ../../linked/other "$W/linked/.git/hooks"
	ln -sfn /nonexistent "$W/linked/.git/free"
	[[ $who == root ]] || as_user true
	expect blocked "a link to the hooks stays" --write "$W/linked" -- \
		unlink @"$W/linked/.git/hooks"
	expect blocked "and is not moved" --write "$W/linked" -- \
		rename @"$W/linked/.git/hooks" @"$W/linked/hooks"
	expect blocked "where it leads is not writable" \
		--write "$W/linked" -- write @"$W/linked/other/pre-commit"
	expect ok "other links may go" --write "$W/linked" -- \
		unlink @"$W/linked/.git/free"
	# our own state, although a grant includes it
	gate -- true
	mkdir -p "$XDG_STATE_HOME/matins/sub"
	echo x >"$XDG_STATE_HOME/matins/ledger.probe"
	[[ $who == root ]] || as_user true
	expect blocked "our own state is never writable" --write "$T" -- \
		write @"$XDG_STATE_HOME/matins/ledger.probe"
	expect blocked "nor can it be moved" --write "$T" -- \
		rename @"$XDG_STATE_HOME/matins" @"$XDG_STATE_HOME/gone"
	expect blocked "nor the folder above it" --write "$T" -- \
		rename @"$XDG_STATE_HOME" @"$T/gone"
	expect ok "what lies beside it is" --write "$T" -- \
		write @"$XDG_STATE_HOME/other"
	mkdir -p "$W/state/matins" "$W/state/free"
	ln -sfn state "$W/alias"
	[[ $who == root ]] || as_user true
	for isolate in auto off; do
		XDG_STATE_HOME=$W/alias expect blocked \
			"our state by another name ($isolate)" \
			--isolate "$isolate" --write "$W/state" -- \
			write @"$W/state/matins/x"
		XDG_STATE_HOME=$W/alias expect ok \
			"what lies beside it ($isolate)" \
			--isolate "$isolate" --write "$W/state" -- \
			write @"$W/state/free/x"
	done
	gate --write "$XDG_STATE_HOME/matins" -- true
	exit_is "$who: granting it is refused" 126
	err_like "$who: the message says that the folder is never writable" 'never writable'
}

# A program in a private place, whose neighbours lie there as well.
prefixes() {
	local PROBE=$PROBE prefix=$W/prefix

	mkdir -p "$prefix/bin" "$prefix/lib" "$prefix/secret"
	cp "$PROBE" "$prefix/bin/probe"
	cp /bin/true "$prefix/bin/other"
	echo x >"$prefix/secret/file"
	echo x >"$prefix/lib/file"
	[[ $who == root ]] || as_user true
	PROBE=$prefix/bin/probe
	for isolate in auto off; do
		expect ok "libraries beside a program ($isolate)" \
			--isolate "$isolate" -- read @"$prefix/lib/file"
		expect blocked "nothing else of its prefix ($isolate)" \
			--isolate "$isolate" -- read @"$prefix/secret/file"
		expect blocked "no other program ($isolate)" \
			--isolate "$isolate" -- read @"$prefix/bin/other"
		expect blocked "not by the loader either ($isolate)" \
			--isolate "$isolate" -- loader @"$prefix/bin/other"
		expect ok "unless it is granted ($isolate)" \
			--isolate "$isolate" --read "$prefix" -- \
			read @"$prefix/secret/file"
	done
}

inline_programs() {
	local sh='read -r x <"$1" && echo "ok: $x"'

	mkdir -p "$W/inline"
	echo one >"$W/inline/one"
	echo two >"$W/inline/two"
	# shellcheck disable=SC2016
	echo 'read -r x <"${0%/*}/two" && echo "ok: $x"' >"$W/inline/script"
	[[ $who == root ]] || as_user true
	gate -- sh -c "$sh" x "$W/inline/one"
	out_is "$who: a file behind -c is readable" "ok: one"
	gate -- sh -c "read -r x <$W/inline/two && echo \"ok: \$x\"" x \
		"$W/inline/one"
	out_unlike "$who: and no script with a folder" '^ok'
	gate -- bash --rcfile "$W/inline/one" -c \
		"read -r x <$W/inline/two && echo \"ok: \$x\""
	out_unlike "$who: nor is the value of an option one" '^ok'
	gate -- sh "$W/inline/script"
	out_is "$who: a script is" "ok: two"
	gate -- bash --rcfile "$W/inline/one" -o pipefail "$W/inline/script"
	out_is "$who: also behind options with values" "ok: two"
	if type -P node >/dev/null; then
		gate -- node --title "$W/inline/one" -e \
			'console.log("ok", fs.readFileSync(process.argv[1]))' \
			"$W/inline/two"
		out_like "$who: node's title and argument are readable" '^ok'
		mv "$W/inline/two" "$W/inline/three"
		gate -- node --title "$W/inline/one" -e \
			"console.log('ok', fs.readFileSync('$W/inline/three'))"
		out_unlike "$who: what lies beside its title is not" '^ok'
	fi
}

arguments() {
	mkdir -p "$W/args"
	echo x >"$W/args/one"
	echo x >"$W/args/two"
	[[ $who == root ]] || as_user true
	expect ok "a file that is an argument is readable" -- \
		read "$W/args/one"
	expect blocked "its neighbour is not" -- \
		read @"$W/args/two" "$W/args/one"
	expect blocked "nor is it writable" -- write "$W/args/one"
	gate --write "$W/missing" -- true
	exit_is "$who: write of what is not there is refused" 126
	err_like "$who: with what to type" 'mkdir -p'
	gate --read "$W/missing" -- true
	exit_is "$who: read of it is a warning" 0
	err_like "$who: that names it" 'missing does not exist'
}

if [[ $(id -u) -eq 0 ]]; then
	who=root
	PROBE=$HELPERS/probe
	W=$T/w-deep
	mkdir -p "$W/locked/in/deep"
	echo secret >"$W/locked/in/deep/file"
	chmod 600 "$W/locked/in/deep/file"
	chmod 700 "$W/locked" "$W/locked/in" "$W/locked/in/deep"
	expect ok "root's own 0600 file in a grant is readable" \
		--read "$W/locked/in" -- read @"$W/locked/in/deep/file"
	expect ok "and writable" --write "$W/locked/in" -- \
		write @"$W/locked/in/deep/file"
	expect ok "new files are root's on the disk" --write "$W/locked/in" -- \
		write @"$W/locked/in/new"
	is "the owner of a new file is root" "$(stat -c %u "$W/locked/in/new")" 0
	chown -R daemon: "$W/locked/in"
	# below /tmp, which is private else and so no wall
	mkdir -p "$W/locked/home"
	private_home() {
		HOME=$W/locked/home gate --tmp shared -- \
			sh -c 'cd && echo kept >f && read -r a <f && echo "$a"'
		out_is "a private HOME below a folder that the user may not pass" kept
		HOME=$W/locked/home expect blocked "what lies beside it" \
			--tmp shared -- read @"$W/locked/in/deep/file"
	}
	with_view "a HOME behind a wall" private_home
	# a program finds itself by its name, which is a link in pyenv and venv
	mkdir "$W/locked/bin"
	cp "$(type -P test)" "$W/locked/bin/test-1"
	ln -s test-1 "$W/locked/bin/test"
	linked_name() {
		gate --tmp shared -- "$W/locked/bin/test" -L "$W/locked/bin/test"
		exit_is "a program behind a wall has its name, a link" 0
		gate --tmp shared -- "$W/locked/bin/test" -e "$W/locked/in"
		exit_is "and not what lies beside it" 1
	}
	with_view "a name behind a wall" linked_name
	with_view "a grant of another user's" \
		expect ok "a grant of another user's works as well" \
		--write "$W/locked/in" -- write @"$W/locked/in/deep/file"
fi
both_users files
both_users with_view "private places" private_places
both_users system_files
both_users with_view "protected paths" protected
# A link that one run leaves behind for the next.
left_links() {
	mkdir -p "$W/left/work"
	echo secret >"$W/left/outside"
	echo data >"$W/left/work/data"
	ln -sfn ../outside "$W/left/work/state"
	ln -sfn data "$W/left/work/inner"
	ln -sfn outside "$W/left/mine"
	[[ $who == root ]] || as_user true
	for isolate in auto off; do
		gate --isolate "$isolate" --write "$W/left/work" -- \
			"$PROBE" read "$W/left/work/state"
		exit_is "$who: an argument by a planted link ($isolate)" 126
		err_like "$who: is named ($isolate)" 'by a link in a folder'
		gate --isolate "$isolate" --write "$W/left/work" \
			--write "$W/left/work/state" -- true
		exit_is "$who: a grant by a planted link ($isolate)" 126
		expect ok "a link that stays inside ($isolate)" \
			--isolate "$isolate" --write "$W/left/work" -- \
			read "$W/left/work/inner"
		expect ok "one that lies elsewhere ($isolate)" \
			--isolate "$isolate" --write "$W/left/work" -- \
			read "$W/left/mine"
	done
}

# Print every path of the table of protected files.
table_rows() {
	tr -d '\n' <"$TOP/gate/prepare/protected.def" |
		grep -o 'PROTECTED("[^)]*)' | sed 's/PROTECTED("[^"]*"//' |
		grep -o '"[^"]*"' | tr -d '"' | sed 's/\*/sub/g'
}

protected_table() {
	local tree=$W/rows row
	# shellcheck disable=SC2016
	local try='while read -r f; do
		{ echo y >>"$f"; } 2>/dev/null && echo "$f"
	done'

	mkdir -p "$tree"
	table_rows | while read -r row; do
		mkdir -p "$tree/${row%/*}" "$tree/$row-x" 2>/dev/null
		[[ $row == */* ]] || mkdir -p "$tree"
		# every second one as a folder
		if ((${#row} % 2)); then
			mkdir -p "$tree/$row" && echo x >"$tree/$row/x"
			echo "$tree/$row/x" >>"$W/shut"
		else
			rm -rf "${tree:?}/$row"
			echo x >"$tree/$row"
			echo "$tree/$row" >>"$W/shut"
		fi
		echo "$tree/$row-x/x" >>"$W/open"
	done
	[[ $who == root ]] || as_user true
	is "$who: the table was read" "$(wc -l <"$W/shut")" \
		"$(table_rows | wc -l)"
	gate --write "$tree" --read "$W/shut" -- \
		bash -c "$try <\"\$1\"" x "$W/shut"
	out_is "$who: no row of the table can be written" ""
	gate --write "$tree" --read "$W/open" -- \
		bash -c "$try <\"\$1\"" x "$W/open"
	is "$who: names that are longer can" "$(cat "$out")" "$(cat "$W/open")"
	row=$tree/.vscode
	expect blocked "nor be moved away" --write "$tree" -- \
		rename @"$row" @"$tree/gone"
	expect blocked "a link in its place cannot be made" --write "$tree" -- \
		unlink @"$tree/.npmrc"
	expect ok "it can be read" --write "$tree" -- list @"$row"
	expect ok "what is not there yet can be made" --write "$W" -- \
		write @"$W/.envrc"
	expect ok "and one that is named itself is writable" \
		--write "$tree" --write "$tree/.claude" -- \
		mkdir @"$tree/.claude/new"
	tree=$W/many/.git/modules
	mkdir -p "$tree/sub/hooks" "$tree"/s{1..30}/{hooks,objects}
	[[ $who == root ]] || as_user true
	expect ok "beside the hooks of 31 submodules is written" \
		--write "$W/many" -- write @"$tree/sub/index"
	expect blocked "into them it is not" --write "$W/many" -- \
		write @"$tree/sub/hooks/x"
	gate --write "$W/many" --exec mkdir -- \
		bash -c 'mkdir -p "$1"/!{1..300}/hooks' x "$tree"
	exit_is "$who: a program makes more than are looked at" 0
	expect blocked "nor are they left out then" --write "$W/many" -- \
		write @"$tree/sub/hooks/x"
	expect ok "and the rest is as it was" --write "$W/many" -- \
		write @"$W/many/.git/index"
}

# A linked tree, whose .git is a file, and what git goes on doing.
protected_git() {
	local tree=$W/linked-tree

	mkdir -p "$tree" "$W/work"
	echo "gitdir: $W/elsewhere" >"$tree/.git"
	mkdir -p "$W/work/.vscode"
	echo '{}' >"$W/work/.vscode/settings.json"
	echo 'fund=false' >"$W/work/.npmrc"
	[[ $who == root ]] || as_user true
	expect blocked "a .git that is a file stays" --write "$tree" -- \
		write @"$tree/.git"
	expect blocked "and is not moved" --write "$tree" -- \
		rename @"$tree/.git" @"$tree/git"
	gate --write "$W/work" --exec git -- bash -ec "
		cd '$W/work'
		git init -q .
		git -c user.name=a -c user.email=a@b add -A
		git -c user.name=a -c user.email=a@b commit -qm one
		echo new >file
		git -c user.name=a -c user.email=a@b add file
		git -c user.name=a -c user.email=a@b commit -qm two
		git rev-list --count HEAD"
	out_is "$who: git init, add and commit go on" 2
	gate --write "$W/work" --exec git -- bash -c "
		cd '$W/work'
		git config core.hooksPath /tmp && echo changed
		echo new >file2
		git add file2
		git -c user.name=a -c user.email=a@b commit -qm three &&
			echo committed"
	out_is "$who: then its configuration stays, commits go on" committed
}

# A branch in which a protected file is another one cannot be had in here.
protected_checkout() {
	local as=()

	[[ $who == root || $(id -u) -ne 0 ]] || as=("${_setpriv[@]}")
	mkdir -p "$W/two/.vscode"
	cd "$W/two" || return
	[[ $who == root ]] || as_user true
	"${as[@]}" bash -ec '
		git init -q -b main .
		git config user.name a
		git config user.email a@example.com
		echo 1 >.vscode/settings.json
		echo 1 >file
		git add -A
		git commit -qm one
		git checkout -qb other
		echo 2 >file
		git commit -qam two
		git checkout -qb third
		echo 3 >.vscode/settings.json
		git commit -qam three
		git checkout -q main'
	gate --write . --exec git -- git checkout -q other
	exit_is "$who: git checkout of a branch" 0
	gate --write . --exec git -- git checkout -q third
	# git goes there all the same, with status 0
	err_like "$who: git names the protected file that it cannot change" \
		'unable to unlink .*settings.json'
	is "$who: and it stays" "$(<.vscode/settings.json)" 1
	gate --write . --write .vscode --exec git -- git checkout -q -f third
	exit_is "$who: but where it is named" 0
	is "$who: it is that branch" "$(<.vscode/settings.json)" 3
	cd "$T" || return
}

# npm goes on installing into a tree with protected files; with no network.
protected_npm() {
	local app=$W/npm/app as=()

	if [[ -z $NODE ]] || ! command -v npm >/dev/null; then
		skip "$who: npm install works in a project" "no node or no npm here"
		return
	fi
	[[ $who == root || $(id -u) -ne 0 ]] || as=("${_setpriv[@]}")
	mkdir -p "$W/npm/dep" "$app/.vscode"
	echo '{"name":"dep","version":"1.0.0","bin":"hello.js"}' \
		>"$W/npm/dep/package.json"
	printf '#!/usr/bin/env node\nconsole.log("hello");\n' \
		>"$W/npm/dep/hello.js"
	echo '{"name":"app","version":"1.0.0","private":true}' \
		>"$app/package.json"
	echo 'fund=false' >"$app/.npmrc"
	echo '{}' >"$app/.vscode/settings.json"
	[[ $who == root ]] || as_user true
	cd "$W/npm/dep" || return
	ok "$who: a package is made by npm pack" "${as[@]}" env npm_config_update_notifier=false \
		npm pack --silent --pack-destination "$app"
	cd "$app" || return
	LIMIT_S=120 gate --preset npm --write . \
		--env npm_config_update_notifier=false \
		-- npm install --offline --no-audit ./dep-1.0.0.tgz
	exit_is "$who: npm install in a protected tree" 0
	ok "$who: it is installed" test -x node_modules/.bin/dep
	file_like "$who: and in package.json" package.json '"dep"'
	is "$who: .npmrc is what it was" "$(<.npmrc)" fund=false
	cd "$T" || return
}

# A granted name such as ../b/file leads on from where the child starts, and the
# folder of the start is no more granted than before.
beside() {
	mkdir -p "$W/beside/a" "$W/beside/b/c"
	echo mine >"$W/beside/a/mine"
	echo one | tee "$W/beside/b/one" >"$W/beside/b/two"
	git -C "$W/beside/b" init -q
	git -C "$W/beside/b" -c user.name=A -c user.email=a@example.org \
		commit -q --allow-empty -m first
	[[ $who == root ]] || as_user true
	cd "$W/beside/a" || return
	gate -- cat ../b/one
	out_is "$who: a file beside the start is read" one
	gate -- sh -c 'cat "$1" ../b/two; ls; cat mine; echo x >new' sh ../b/one
	out_is "$who: and nothing else there, nor in the start" one
	not_ok "$who: nor is anything written" test -e new
	gate -- git -C ../b log --format=%s
	out_is "$who: git works in a repository beside the start" first
	gate -- git -C ../b/c log --format=%s
	out_is "$who: and in a folder of it" first
	gate -- git -C ../c log
	isnt "$who: and in none that is not there" "$status" 0
	cd "$T" || return
}

both_users with_view "the table of protected paths" protected_table
both_users with_view "git in a protected tree" protected_git
both_users with_view "git checkout in one" protected_checkout
both_users with_view "npm in one" protected_npm
both_users left_links
both_users prefixes
both_users inline_programs
both_users arguments
both_users with_view "names that lead out of the start" beside
done_testing
