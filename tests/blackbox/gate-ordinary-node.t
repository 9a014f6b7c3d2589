#!/usr/bin/env bash
# Ordinary programs under the gate print what they print without it: node, npm and npx.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"
. "$TOP/tests/blackbox/escape.sh"
escape_open

programs() {
	escape ordinary --under matins --groups node
	rows_are same
}

both_users programs
done_testing
