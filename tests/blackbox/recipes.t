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

both_users the_key
who=root
[[ $(id -u) -eq 0 ]] || who=user
fresh_folder
wrong_names

done_testing
