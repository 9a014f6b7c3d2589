#!/usr/bin/env bash
# Checks of the sources that take minutes, beside those of static.sh; speaks TAP.
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

# shellcheck source=tests/checks.sh
. tests/checks.sh

# Files under version control, or all when this is no checkout.
listed() {
	git ls-files -- "$@" 2>/dev/null | grep . ||
		find "$@" -type f 2>/dev/null
}

shell_scripts() {
	local files

	mapfile -t files < <(listed tests .ci |
		grep -E '\.(sh|t)$|^\.ci/run$' | sort -u)
	shellcheck -x -S warning -e SC2088 -P SCRIPTDIR "${files[@]}"
}

check "each header compiles alone" make -s check-headers
check "shellcheck" shell_scripts
check "a new key of a policy is one row" tests/new_key.sh
check "clang-tidy" make -s -j"$(nproc)" -k tidy
checks_end
