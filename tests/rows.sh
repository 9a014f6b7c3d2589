#!/usr/bin/env bash
# Every row of requirements has the tests that rows.def names for it: they
# exist, are run, and no row that must be there is without one. Each id has
# its sentence in requirements.def.
#
#	rows.sh            check
#	rows.sh --list     print the lines for all tests that carry an id
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

# shellcheck source=tests/tests_of.sh
. tests/tests_of.sh

# What servers get wrong: over stdio output, start and end; messages; HTTP.
must_have() {
	printf 'RW-%d\n' {1..17} {20..40} {50..82} {90..112} {120..136}
}

list() {
	local file

	for file in tests/unit/*/test_*.c tests/unit/*/{transcripts,values}/*; do
		[[ -e $file ]] || continue
		tests_of "$file" |
			sed -nE "s|^([A-Z]+)_([0-9]+)__.*|\1-\2 $file &|p"
	done
	for file in tests/blackbox/*.t; do
		grep -oE '"[A-Z]+-[0-9]+(: | )[^"]*' "$file" |
			sed -E "s|^\"([A-Z]+-[0-9]+)(.*)|\1 $file \1\2|" | sort -u
	done
}

# A unit test is defined, which makes it run; a black-box one stands in its
# file.
has_test() {
	case $1 in
	*.c | *.transcript) tests_of "$1" | grep -qx -- "$2" ;;
	*) grep -qF -- "\"$2" "$1" 2>/dev/null ;;
	esac
}

check() {
	local id file name rc=0

	while read -r id file name; do
		[[ -z $id || $id == '#'* ]] && continue
		has_test "$file" "$name" || {
			echo "$id: $file has no test $name"
			rc=1
		}
		grep -q "^$id " tests/requirements.def || {
			echo "$id: no sentence in tests/requirements.def"
			rc=1
		}
	done <tests/rows.def
	while read -r id; do
		grep -q "^$id " tests/rows.def || {
			echo "$id: no line in tests/rows.def"
			rc=1
		}
	done < <(must_have)
	return $rc
}

case ${1-} in
--list) list | sort -t' ' -k1,1V -k2 ;;
'') check ;;
*)
	echo "usage: rows.sh [--list]" >&2
	exit 64
	;;
esac
