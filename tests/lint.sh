#!/usr/bin/env bash
# Checks of the sources that take minutes; speaks TAP.
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

# shellcheck source=tests/checks.sh
. tests/checks.sh

check "clang-tidy" make -s -j"$(nproc)" -k tidy
checks_end
