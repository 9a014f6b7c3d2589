# shellcheck shell=bash
# The tests of a C file or of transcripts, by name; sourced by rows.sh and outcomes.sh.

# tests_of FILE [NAME]: the names of its tests, as subject__condition__result;
# or the text of the one with that name
tests_of() {
	awk -v want="${2-}" '
	/^TEST(_IN)?\(/ {
		name = $0
		while (name !~ /\)/ && getline > 0) name = name $0
		sub(/^TEST_IN\([^,]*,|^TEST\(/, "", name)
		sub(/\).*/, "", name)
		gsub(/[ \t]/, "", name)
		gsub(/,/, "__", name)
		inside = name == want
		if (want == "") print name
	}
	/^== / {
		inside = $2 == want
		if (want == "") print $2
	}
	inside
	/^}/ { inside = 0 }' "$1" 2>/dev/null
}
