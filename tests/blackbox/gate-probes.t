#!/usr/bin/env bash
# Every row of tests/escape/probes.tsv is blocked. gate-probes-outside.t shows
# that they can work.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"
. "$TOP/tests/blackbox/escape.sh"
escape_open

# What libc falls back from must look as if the kernel did not have it.
falls_back() {
	local id detail

	for id in call-clone3 call-uring-setup call-uring-enter \
		call-uring-register call-unknown call-unknown-high; do
		detail=$(awk -F'\t' -v id="$id" '$1 == id { print $6 }' "$rows")
		like "$who: $id looks unknown" "$detail" \
			'Function not implemented'
	done
}

# Root of a namespace in which nobody else exists, as in a rootless container:
# the child stays root, without capabilities.
rootless() {
	local wrap="unshare --user --map-root-user"

	# shellcheck disable=SC2086
	if [[ $who == user ]] && ! as_user $wrap true ||
		[[ $who == root ]] && ! $wrap true; then
		skip "$who: root of a namespace" "no user namespaces"
		return
	fi
	escape probes --under matins --wrap "$wrap" --layer identity,view
	sed -i '/^root\t/d' "$rows"
	rows_are blocked " as root of a namespace"
}

probes() {
	escape probes --under matins
	rows_are blocked
	falls_back
	rootless
}

both_users probes
if [[ $(id -u) -eq 0 ]] && unshare --user --map-root-user true; then
	run_program /dev/null unshare --user --map-root-user "$BIN" exec \
		--user daemon -- true
	exit_is "a user who does not exist in this namespace" 126
	err_like "the message names the user who does not exist" '"daemon" .* does not exist in this user namespace'
fi
done_testing
