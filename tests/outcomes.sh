#!/usr/bin/env bash
# Every state, event and failure of a session, every event of a client, every
# reason and state of a step is reached by a test that says so: the words come
# from the tables of the program, the tests from outcomes.def. A test counts
# when it exists, is run, and holds the word or the name of the constant. The
# published schema of reports knows each reason.
#
#	outcomes.sh            check
#	outcomes.sh --list     print the words that must be there
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

# shellcheck source=tests/tests_of.sh
. tests/tests_of.sh

# list_of KIND FILE MACRO: "KIND WORD CONSTANT", of the rows of an X-macro
list_of() {
	sed -n "/^#define $3(X)/,/^$/p" "$2" |
		grep -oE 'X\([A-Z_]+, "[a-z_]+"\)' |
		sed -E "s/X\(([A-Z_]+), \"([a-z_]+)\"\)/$1 \2 \1/"
}

# rows_of KIND FILE MACRO: the same, of the rows of a table
rows_of() {
	sed -nE "s/^$3\(([A-Z_]+), *\"([a-z_]+)\".*/$1 \2 \1/p" "$2"
}

words() {
	list_of session-state core/mcp/session/session.h SESSION_STATES
	list_of session-event core/mcp/session/session.h SESSION_EVENTS
	list_of session-failure core/mcp/session/session.h SESSION_FAILURES
	list_of client-event core/client/client.h CLIENT_EVENTS
	rows_of reason core/report/reasons.def REASON
	rows_of step-state core/report/states.def STATE
}

# text_of FILE NAME: the test. A unit test's is its function; a black-box
# test's is the command that its name stands in.
text_of() {
	case $1 in
	*.c | *.transcript) tests_of "$1" "$2" ;;
	*)
		awk -v name="\"$2\"" '
			index($0, name) { inside = 1 }
			inside { print }
			inside && !/\\$/ { exit }' "$1" 2>/dev/null
		;;
	esac
}

# A word by itself, or the constant behind whatever prefix; session_log.h
# writes `gone` for ask_gone.
asserts() {
	local word=$1

	[[ $word == ask_gone ]] && word='(ask_)?gone'
	grep -qE "(^|[^a-z_]|\\\\n)$word([^a-z_]|$)|[A-Z]_$2([^A-Z_]|$)"
}

check() {
	local kind word constant file name text all rc=0
	local schema=golden/schema/matins-report-1.json

	all=$(words)
	while read -r kind word constant; do
		if [[ $kind == reason ]] && ! grep -q "\"$word\"" "$schema"; then
			echo "$kind $word: $schema does not know it"
			rc=1
		fi
		grep -q "^$kind $word " tests/outcomes.def && continue
		echo "$kind $word ($constant): no line in tests/outcomes.def"
		rc=1
	done <<<"$all"
	while read -r kind word file name; do
		[[ -z $kind || $kind == '#'* ]] && continue
		constant=$(awk -v k="$kind" -v w="$word" \
			'$1 == k && $2 == w { print $3 }' <<<"$all")
		text=$(text_of "$file" "$name")
		if [[ -z $constant ]]; then
			echo "$kind $word: there is no such word"
		elif [[ -z $text ]]; then
			echo "$kind $word: $file has no test $name"
		elif ! asserts "$word" "$constant" <<<"$text"; then
			echo "$kind $word: $name in $file does not say it"
		else
			continue
		fi
		rc=1
	done <tests/outcomes.def
	return $rc
}

case ${1-} in
--list) words ;;
'') check ;;
*)
	echo "usage: outcomes.sh [--list]" >&2
	exit 64
	;;
esac
