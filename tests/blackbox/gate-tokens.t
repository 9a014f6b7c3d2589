#!/usr/bin/env bash
# Kept tokens and their key are not for programs under the gate, whatever is
# granted around them.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

own() {
	export MATINS_STATE=$W/home/state/matins
	tokens=$MATINS_STATE/tokens
	mkdir -p "$tokens" "$W/home/deep"
	echo x | tee "$tokens/key" "$MATINS_STATE/near" "$W/home/file" \
		"$W/home/deep/file" >/dev/null
	chmod 700 "$MATINS_STATE" "$tokens"
	chmod 600 "$tokens/key"
	[[ $who == root ]] || as_user true
}

# told TEXT NAME: the last run was refused before it started, and says so
told() {
	if [[ $status == 126 ]] && grep -q "$1" "$err"; then
		_pass "$who: $2"
	else
		_fail "$who: $2"
		_show_run
	fi
}

around() { # OPTION...: what holds with and without a view
	local more=${*:+, $*}

	expect ok "a file of the folder above$more" --read "$W/home" "$@" -- \
		read @"$W/home/file"
	expect ok "and deeper$more" --read "$W/home" "$@" -- \
		read @"$W/home/deep/file"
	expect blocked "the key is not read$more" --read "$W/home" "$@" -- \
		read @"$tokens/key"
	expect blocked "nor where the folder is writable$more" \
		--write "$W/home" "$@" -- read @"$tokens/key"
	expect blocked "nor written$more" --write "$W/home" "$@" -- \
		write @"$tokens/key"
	expect blocked "nor renamed$more" --write "$W/home" "$@" -- \
		rename @"$tokens" @"$W/home/moved"
	expect ok "files are made beside it$more" --write "$W/home" "$@" -- \
		write @"$W/home/deep/new"
	expect blocked "nor does a grant of the state show it$more" \
		--read "$MATINS_STATE" "$@" -- read @"$tokens/key"
	expect blocked "as an argument it is none$more" "$@" -- \
		read "$tokens/key"
	gate --read "$tokens" "$@" -- true
	told "which no program may see" "a grant to read the tokens is refused$more"
	gate --write "$tokens/key" "$@" -- true
	told "is never writable\|which no program may see" \
		"a grant to write the tokens is refused$more"
}

links() {
	ln -sfn "$W/home/state" "$W/way"
	MATINS_STATE=$W/way/matins
	expect blocked "the state is reached by a link" --read "$W/home" -- \
		read @"$tokens/key"
	MATINS_STATE=$W/home/state/matins
	ln -sf "$tokens/key" "$W/home/link"
	expect blocked "a link in the grant leads to it" --read "$W/home" -- \
		read @"$W/home/link"
}

later() { # a folder that is not there yet would be seen when it is
	rm -rf "$tokens"
	gate --read "$W/home" -- true
	ok "$who: its place is taken beforehand" test -d "$tokens"
	is "$who: for nobody else" "$(stat -c %a "$tokens")" 700
	echo x >"$tokens/key"
	chmod 600 "$tokens/key"
	[[ $who == root ]] || as_user true
}

explained() {
	gate --explain --json --read "$W/home" -- true
	is "$who: explain names what is hidden" \
		"$("$PYTHON" -c 'import json, sys
print(*json.load(open(sys.argv[1]))["hidden"])' "$out")" \
		"$tokens ${tokens%tokens}allowed"
	gate --explain --json -- true
	is "$who: and nothing where nothing is granted" \
		"$("$PYTHON" -c 'import json, sys
print(*json.load(open(sys.argv[1]))["hidden"])' "$out")" ""
}

tokens_are_hidden() {
	own
	around
	with_view "in a view" around --isolate require
	around --isolate off
	links
	with_view "made later" later
	explained
}

both_users tokens_are_hidden
done_testing
