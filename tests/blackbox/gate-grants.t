#!/usr/bin/env bash
# Where a grant leads: links that an earlier program may have left, folders
# that come with a program, and homes that the environment does not name.
# Beside each thing refused stands the honest use of it.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# world: a HOME with a key, and a project in it
world() {
	rm -rf "$W"
	mkdir -p "$W/home/.ssh" "$W/home/p/store/m" "$W/data"
	echo key | tee "$W/home/.ssh/id_rsa" "$W/home/file" >/dev/null
	echo data >"$W/data/file"
	echo '{}' >"$W/home/p/package.json"
	echo mine >"$W/home/p/store/m/file"
	export HOME=$W/home
	cd "$W/home/p" || exit
	[[ $who == root ]] || as_user true
}

# refused NAME PATTERN: the last run was denied before it started
refused() {
	exit_is "$who: $1 is refused with status 126" 126
	err_like "$who: $1: with what to do" "$2"
}

# For each way to name node_modules: a link to HOME, and honest ones.
exec_folders() {
	local way key

	for way in "--preset npm" "--exec ./node_modules" \
		"--exec ./node_modules --isolate off"; do
		key="exec"
		[[ $way != --preset* ]] || key="read"
		world
		gate --preset npm --write . -- \
			sh -c "ln -s $W/home node_modules" 2>/dev/null
		ln -sfn "$W/home" node_modules
		[[ $who == root ]] || as_user true
		# shellcheck disable=SC2086
		gate $way -- sh -c "read -r x <$W/home/.ssh/id_rsa; echo \$x"
		out_unlike "$who: HOME is not read by a link ($way)" key
		refused "$way: a link to HOME" "name $W/home itself"
		ln -sfn "$W/data" node_modules
		[[ $who == root ]] || as_user true
		# shellcheck disable=SC2086
		gate $way -- sh -c "read -r x <$W/data/file; echo \$x"
		refused "$way: a link out of the project" \
			"leads out of its folder.*name $W/data itself: sandbox.$key = "
		ln -sfn store node_modules
		[[ $who == root ]] || as_user true
		# shellcheck disable=SC2086
		gate $way -- sh -c "read -r x <$W/home/p/store/m/file; echo \$x"
		out_is "$who: $way: a link inside of it" mine
		rm node_modules
		cp -R store node_modules
		[[ $who == root ]] || as_user true
		# shellcheck disable=SC2086
		gate $way -- \
			sh -c "read -r x <$W/home/p/node_modules/m/file; echo \$x"
		out_is "$who: $way: a real folder" mine
	done
	gate --exec ./node_modules --read "$W/data" -- true
	exit_is "$who: what is granted by another name" 0
	ln -sfn "$W/data" node_modules
	gate --exec ./node_modules --read "$W/data" -- true
	exit_is "$who: may be led to" 0
	gate --exec /bin -- /bin/sh -c 'basename /x/ran'
	out_is "$who: the system's own links are followed" ran
	cd "$T" || exit
}

# A program chooses the name of the folder that its link leads to: such a name
# is no line to paste, and its control characters end none.
hostile_targets() {
	local name

	world
	for name in $'z"]\nsandbox.net = "all"\nsandbox.q = ["' 'a"b' 'a\b' \
		"\${X}" $'a\eb' $'a\xe2\x80\xaeb'; do
		mkdir -p "$W/$name"
		ln -sfn "$W/$name" bin3
		[[ $who == root ]] || as_user true
		gate --exec ./bin3 -- true
		refused "a link to ${name@Q}" 'leads out of its folder'
		err_unlike "$who: it is no line to paste" 'sandbox\.exec'
		err_unlike "$who: nor ends one" '^sandbox|\| sandbox|'$'\e|\xe2\x80\xae'
	done
	cat >matins.toml <<-'END'
		[[routines.r.steps]]
		name = "s"
		type = "script"
		command = "true"
		sandbox = { exec = ["./bin3"] }
	END
	ln -sfn "$W"/z* bin3
	[[ $who == root ]] || as_user true
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		run_matins run -c matins.toml r
	else
		as_user run_matins run -c matins.toml r
	fi
	out_like "$who: the report shows the bytes of the name" \
		'z"\]\\x0asandbox\.net = "all"\\x0a'
	out_unlike "$who: none of its lines is another program's" '^ *sandbox'
	cd "$T" || exit
}

# The leash names a path; where that leads is judged as well.
leashed() {
	local rest='"net":"all","max_calls":"unlimited"'

	world
	rest+=',"valid_for_generation":"all"'
	ln -sfn "$W/data" node_modules
	ln -sfn "$W/data" "$W/home/mine"
	[[ $who == root ]] || as_user true
	export MATINS_CAVEATS="{\"fs_read\":{\"only\":[\"$W/home/p\"]},
		\"fs_write\":\"all\",\"exec\":\"all\",$rest}"
	gate --exec ./node_modules -- sh -c "read -r x <$W/data/file; echo \$x"
	out_unlike "$who: a folder of exec is met with fs_read" data
	err_like "$who: by where it leads" "leash does not allow $W/data"
	gate --exec ./store -- \
		sh -c "read -r x <$W/home/p/store/m/file; echo \$x"
	out_is "$who: one that it covers" mine
	MATINS_CAVEATS="{\"fs_read\":{\"only\":[\"$W/home/mine\"]},
		\"fs_write\":\"all\",\"exec\":\"all\",$rest}"
	gate --read "$W/home/mine" -- sh -c "read -r x <$W/data/file; echo \$x"
	out_is "$who: a row of the leash that is a link of the user's" data
	ln -sfn "$W/home" "$W/home/mine"
	[[ $who == root ]] || as_user true
	gate --read "$W/home/mine" -- true
	refused "a row that is a link to HOME covers nothing" 'leash'
	MATINS_CAVEATS="{\"fs_write\":{\"only\":[\"$W/home/p\"]},
		\"fs_read\":{\"only\":[\"$W/home/p\"]},\"exec\":\"all\",$rest}"
	ln -sfn "$W/data" link
	[[ $who == root ]] || as_user true
	gate --write "$W/home/p/link" -- true
	refused "write by a link out of the leash" 'leads to'
	unset MATINS_CAVEATS
	cd "$T" || exit
}

named_links() {
	world
	ln -s "$W/data" "$W/home/data"
	ln -s "$W/home/.ssh/id_rsa" notes
	ln -s "$W/home/.ssh" keys
	ln -s "$W/data/file" plain
	ln -s ../home/.ssh "$W/data/ssh"
	[[ $who == root ]] || as_user true
	gate --read "$W/home/data" -- sh -c "read -r x <~/data/file; echo \$x"
	out_is "$who: a user's own link to data" data
	gate -- sh -c 'read -r x <"$1"; echo $x' x "$PWD/plain"
	out_is "$who: an argument that is a link" data
	gate -- sh -c 'read -r x <"$1"; echo $x' x ./notes
	refused "an argument that leads to a key" 'name .*id_rsa itself'
	gate --read ./keys -- true
	refused "read of a link to keys" 'name .*.ssh itself'
	rm -rf "$W/home/x"
	ln -s ../.ssh "$W/home/p/up"
	mkdir "$W/home/.ssh/sub" "$W/data/sub"
	ln -s "$W/data/sub" "$W/home/p/down"
	[[ $who == root ]] || as_user true
	for way in "$W/home/p/up/.." up/.. up/sub/../.. down/../../home; do
		gate --read "$way" -- sh -c "read -r x <$W/home/file; echo \$x"
		refused "$way: what is above a link leads to HOME" \
			"name $W/home itself"
	done
	gate --read down/.. -- sh -c "read -r x <$W/data/file; echo \$x"
	out_is "$who: what is above a link elsewhere" data
	gate --read "$W/home/p/../file" --read ../p/store/../store -- \
		sh -c "read -r x <$W/home/file; echo \$x"
	out_is "$who: upwards without a link" key
	gate --read "$W/home/.ssh" -- true
	exit_is "$who: which can be named" 0
	mkdir -p "$W/home/.config/gh"
	ln -s "$W/home/.config" settings
	[[ $who == root ]] || as_user true
	gate --read ./settings -- true
	refused "a link to a folder with keys in it" 'name .*.config itself'
	gate --read "$W/home" -- true
	exit_is "$who: HOME by its name" 0
	ln -s "$W/home" "$W/alias"
	[[ $who == root ]] || as_user true
	HOME=$W/alias gate --read "$W/alias" -- true
	exit_is "$who: also where that is a link" 0
	ln -s "$W/data/ssh/id_rsa" long
	[[ $who == root ]] || as_user true
	gate --read ./long -- true
	refused "a link that leads to a link" 'id_rsa itself'
	cd "$T" || exit
}

others_links() {
	local other

	if [[ $(id -u) -ne 0 ]]; then
		skip "$who: a link of another user's" "needs root to make one"
		return
	fi
	world
	other=$(mktemp -d)
	chmod 755 "$other"
	ln -s "$W/data" "$other/link"
	chown -h nobody "$other/link"
	gate --read "$other/link" -- true
	refused "a link of another user's" 'belongs to another user'
	err_unlike "$who: no line grants what that user chose" 'sandbox\.read'
	chown -h root "$other/link"
	gate --read "$other/link" -- sh -c "read -r x <$other/link/file; echo \$x"
	out_is "$who: one of root's" data
	rm -r "$other"
	cd "$T" || exit
}

# What comes with a program is found by names, too.
installations() {
	world
	mkdir -p tool/bin tool/lib/deep
	cp "$PROBE" tool/bin/probe
	echo x >tool/lib/deep/file
	ln -s lib tool/lib64
	[[ $who == root ]] || as_user true
	PROBE=$W/home/p/tool/bin/probe expect ok "libraries of a program" -- \
		read @"$W/home/p/tool/lib/deep/file"
	ln -s "$W/home" tool/share
	[[ $who == root ]] || as_user true
	gate -- ./tool/bin/probe read @"$W/home/.ssh/id_rsa"
	refused "its share as a link to HOME" "name $W/home itself"
	cd "$T" || exit
}

pins() {
	world
	mkdir -p real
	printf '#!/bin/sh\necho pinned\n' >real/tool
	chmod +x real/tool
	ln -s real alias
	printf '[programs."%s"]\nsha256 = "%s"\n' "$W/home/p/real/tool" \
		"$(sha256sum real/tool | cut -d' ' -f1)" >"$W/pin.toml"
	[[ $who == root ]] || as_user true
	gate --policy "$W/pin.toml" --exec ./alias -- sh -c alias/tool
	out_is "$who: a pinned program of a folder that is a link" pinned
	echo '# more' >>real/tool
	[[ $who == root ]] || as_user true
	gate --policy "$W/pin.toml" --exec ./alias -- sh -c alias/tool
	refused "one that is not what was pinned" 'not the file'
	cd "$T" || exit
}

# One step leaves a link where it may write, another one is to read it.
steps() {
	world
	mkdir out
	ln -s "$W/data" out/link
	mkdir out/own
	echo own >out/own/file
	ln -s own out/near
	cat >matins.toml <<-END
		[[routines.r.steps]]
		name = "writes"
		type = "script"
		command = "true"
		sandbox = { write = ["./out"] }
		[[routines.r.steps]]
		name = "reads"
		type = "script"
		command = "cat"
		args = ["$W/data/file"]
		sandbox = { read = ["./out/link"] }
		[[routines.r.steps]]
		name = "reads its own"
		type = "script"
		command = "sh"
		args = ["-c", "read -r x <$W/home/p/out/near/file; echo \$x"]
		sandbox = { read = ["./out/near"] }
	END
	[[ $who == root ]] || as_user true
	if [[ $who == root || $(id -u) -ne 0 ]]; then
		run_matins run -c matins.toml r --json
	else
		as_user run_matins run -c matins.toml r --json
	fi
	json_is "$who: a link left by another step is refused" \
		step_results[1].state denied step_results[1].reason policy \
		step_results[1].error '~another one of the configuration'
	json_is "$who: and one that stays there is not" \
		step_results[2].state ok step_results[2].output own
	cd "$T" || exit
}

# with_home FOLDER COMMAND...: the passwd entry of the user says FOLDER
with_home() {
	local home=$1

	shift
	sed -E "s|^(root\|daemon):(.*):[^:]*:([^:]*)$|\1:\2:$home:\3|" \
		/etc/passwd >"$W/passwd"
	# shellcheck disable=SC2016
	WRAP=(unshare -m bash -c 'mount --bind "$0" /etc/passwd && exec "$@"'
		"$W/passwd")
	"$@"
	WRAP=()
}

# A script in the home folder, which $HOME does not name.
homes() {
	local home

	if [[ $(id -u) -ne 0 ]] || ! unshare -m true 2>/dev/null; then
		skip "$who: a home of the passwd entry" "needs a mount of its own"
		return
	fi
	world
	mkdir -p "$W/home/.local/state/matins/tokens" "$W/home/work"
	echo token >"$W/home/.local/state/matins/tokens/t"
	# shellcheck disable=SC2016
	echo 'for f; do read -r x <"${0%/*}/$f" && echo "ok: $x"; done' |
		tee s.sh "$W/home/s.sh" "$W/home/work/s.sh" >/dev/null
	echo beside >"$W/home/work/file"
	cd "$T" || exit
	for home in unset / "$W/none"; do
		export HOME=$home
		[[ $home != unset ]] || unset HOME
		with_home "$W/home" gate -- sh "$W/home/s.sh" file
		out_unlike "$who: a script there is alone (HOME $home)" '^ok'
		with_home "$W/home" gate --read "$W/home" -- \
			sh "$W/home/s.sh" file .local/state/matins/tokens/t
		out_is "$who: kept tokens are hidden (HOME $home)" "ok: key"
		err_like "$who: and keys are warned of (HOME $home)" '~/.ssh'
		with_home "$W/home" gate -- sh "$W/home/work/s.sh" file
		out_is "$who: one in a folder there comes with that" \
			"ok: beside"
		XDG_STATE_HOME=$W/elsewhere with_home "$W/home" gate \
			--read "$W/home" -- \
			sh "$W/home/s.sh" .local/state/matins/tokens/t
		out_unlike "$who: also with another XDG_STATE_HOME" '^ok'
	done
	with_home "$W/none" gate -- sh "$W/home/s.sh" file
	out_unlike "$who: a home that nothing names is known by its files" '^ok'
	cd "$T" || exit
}

# The project of a preset: found above, but not because a marker is gone.
projects() {
	local read_above

	world
	mkdir -p sub/deep
	echo above >data
	read_above="read -r x <$W/home/p/data && echo \$x"
	[[ $who == root ]] || as_user true
	cd sub || exit
	gate --preset npm -- sh -c "$read_above"
	out_is "$who: the project is found above" above
	gate --preset npm --explain -- sh
	out_like "$who: --explain names the project" "^project +$W/home/p, for its package.json"
	gate --preset npm --explain --json -- sh
	json_is "$who: also as JSON" projects[0] "~$W/home/p"
	gate --preset npm --write . -- sh -c "$read_above"
	out_unlike "$who: not where the current folder may be written" above
	gate --preset npm --write . --explain -- sh
	out_like "$who: then it is that one" \
		"^project +$W/home/p/sub, the starting folder"
	gate --preset npm --write / --explain -- sh
	out_like "$who: so it is where all may be written" \
		"^project +$W/home/p/sub, the starting folder"
	out_like "$who: which is shown as such" '^may write +/… \(write\)'
	printf 'write = ["."]\n' >write.toml
	[[ $who == root ]] || as_user true
	gate --preset npm --policy write.toml -- sh -c "$read_above"
	out_unlike "$who: nor by a policy" above
	cd deep || exit
	gate --preset npm --write ../../store -- sh -c "$read_above"
	out_is "$who: with another folder to write it is" above
	cd "$T" || exit
}

# The package of a script, in the same way.
packages() {
	world
	mkdir -p sub
	echo above >data
	echo "read -r x <$W/home/p/data && echo \"\$x\"" >sub/s.sh
	[[ $who == root ]] || as_user true
	cd sub || exit
	gate -- sh ./s.sh
	out_is "$who: the package of a script is found above" above
	gate --write . -- sh ./s.sh
	out_unlike "$who: not above what may be written" above
	err_like "$who: and that is said" 'found above .*/sub, which'
	gate --write .. -- sh ./s.sh
	out_is "$who: in it it is" above
	cd "$T" || exit
}

others_projects() {
	local other

	if [[ $(id -u) -ne 0 ]]; then
		skip "$who: a project of another user's" "needs root to make it"
		return
	fi
	other=$(mktemp -d)
	mkdir -p "$other/p/sub"
	echo above >"$other/p/data"
	echo '{}' >"$other/p/package.json"
	chmod 755 "$other"
	chown -R nobody "$other/p"
	cd "$other/p/sub" || exit
	gate --preset npm -- sh -c "read -r x <$other/p/data && echo \$x"
	out_unlike "$who: a project above of another user's" above
	chown root "$other/p"
	gate --preset npm -- sh -c "read -r x <$other/p/data && echo \$x"
	out_unlike "$who: nor one by a marker of theirs" above
	chown root "$other/p/package.json"
	gate --preset npm -- sh -c "read -r x <$other/p/data && echo \$x"
	out_is "$who: one of root's" above
	cd "$T" || exit
	rm -r "$other"
}

# As root the files of a grant are the child's by an id map, where that is
# needed for them to be used.
mapped_files() {
	[[ $who == root ]] || return 0
	mkdir -p "$W/files"
	echo shut >"$W/files/shut"
	echo open >"$W/files/open"
	chmod 600 "$W/files/shut"
	gate --require idmap --read "$W/files/shut" -- cat "$W/files/shut"
	if [[ $status == 125 ]]; then
		skip "$who: files by an id map" "$(head -n1 "$err")"
		return
	fi
	out_is "$who: a file of root's alone can be read" shut
	gate --read "$W/files/open" -- stat -c '%u %a' "$W/files/open"
	out_is "$who: one that everybody may read stays root's" "0 644"
	gate --require idmap --read "$W/files/open" -- true
	exit_is "$who: and needs no id map" 125
	gate --read "$W/files" -- cat "$W/files/shut"
	out_is "$who: files of a folder can be read, too" shut
	gate --write "$W/files/open" -- sh -c "echo more >>$W/files/open"
	exit_is "$who: a file to write can be written" 0
}

both_users mapped_files
both_users projects
both_users packages
both_users others_projects
both_users exec_folders
both_users hostile_targets
both_users leashed
both_users named_links
both_users others_links
both_users installations
both_users pins
both_users steps
both_users homes

done_testing
