# For the tests that run tables of probes or of ordinary programs; source it
# after lib.sh and gate.sh.
#
#	escape_open			before anything else
#	escape probes --under matins	as the user under test; lines in $rows
#	rows_are VERDICT		one assertion for each of them
#
# All programs are copied to $S, which lies outside the places that are private
# in a sandbox, so that these are not what hides the files of the test.
#
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154

# A folder that everybody may pass and that is not in /tmp or HOME, if any.
_escape_folder() {
	local parent

	for parent in "$TOP/build" /srv /opt; do
		[[ -d $parent && -w $parent ]] && _reachable "$parent/x" &&
			mktemp -d "$parent/escape.XXXXXX" && return
	done
	mktemp -d "$T/escape.XXXXXX"
}

_escape_close() {
	if [[ -n ${S-} ]]; then
		chmod -R u+rwX "$S" 2>/dev/null
		rm -rf "$S"
	fi
	_finish
}

escape_open() {
	trap _escape_close EXIT
	S=$(_escape_folder)
	rows=$T/.rows
	chmod 755 "$S"
	mkdir "$S/helpers" "$S/root" "$S/user"
	cp -R "$TOP/tests/escape" "$S/code"
	cp "$TOP/build/ordinary/"ordinary-* "$S/helpers/" 2>/dev/null
	find "$HELPERS" -maxdepth 1 -type f -perm -u+x -exec cp {} "$S/helpers/" \;
	cp "$BIN" "$S/matins"
	[[ -e $S/helpers/escape ]] && cp "$S/helpers/escape" "$S/suid"
	chmod -R a+rX "$S"
	[[ $(id -u) -ne 0 ]] || chmod 4755 "$S/suid"
	[[ $(id -u) -ne 0 ]] || chown daemon "$S/user"
}

# As the user under test, $who; bounding set and all, as in a login.
escape() {
	local table=$S/code/$1.tsv what=$1 prefix=() user

	shift
	user=$(id -un)
	if [[ $who == user && $(id -u) -eq 0 ]]; then
		prefix=(setpriv --reuid=daemon --regid=daemon --clear-groups)
		user=daemon
	fi
	timeout -k 5 "${LIMIT_S:-250}" "${prefix[@]}" "$PYTHON" \
		"$S/code/escape.py" "$what" --table "$table" \
		--helpers "$S/helpers" --code "$S/code/ordinary" \
		--bin "$S/matins" --suid "$S/suid" --scratch "$S/$who" \
		--user "$user" --node "${NODE:-node}" --python "$PYTHON" \
		"$@" >"$rows" 2>"$err" </dev/null
	status=$?
	is "$who: $what: the table is walked to its end" "$status" 0
	((status == 0)) || show_file "$err"
}

# rows_are VERDICT [NOTE]: each row of the last walk; what is known to be
# open is shown only
rows_are() {
	local id verdict known detail

	while IFS=$'\t' read -r id verdict _ known _ detail; do
		if [[ $known == known ]]; then
			diag "$who: $id: $verdict, and not promised: $detail"
		elif [[ $verdict == "$1" ]]; then
			_pass "$who: $id${2-}"
		elif [[ $verdict == na ]]; then
			skip "$who: $id${2-}" "$detail"
		else
			_fail "$who: $id${2-}" "$verdict: $detail"
		fi
	done <"$rows"
}
