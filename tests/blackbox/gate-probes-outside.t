#!/usr/bin/env bash
# The rows of tests/escape/probes.tsv without the gate: nearly all of them work,
# or that they are blocked inside would prove nothing.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"
. "$TOP/tests/blackbox/escape.sh"
escape_open

# A user without a sandbox can do nearly all that a user can do.
can_fail() {
	local id verdict whose detail tried=0 worked=0

	while IFS=$'\t' read -r id verdict whose _ _ detail; do
		[[ $whose == any || $whose == "$who" ]] || continue
		tried=$((tried + 1))
		if [[ $verdict == escaped ]]; then
			worked=$((worked + 1))
		else
			diag "$who: outside: $id: $verdict: $detail"
		fi
	done <"$rows"
	diag "$who: outside: $worked of $tried work"
	ok "$who: without the gate the probes work" \
		test "$((worked * 100))" -ge "$((tried * 85))"
	ok "$who: all of them were tried" test "$tried" -ge 180
}

outside() {
	escape probes --under none
	can_fail
}

both_users outside
done_testing
