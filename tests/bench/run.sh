#!/usr/bin/env bash
# Measure one stdio step against the bare runner, in pairs on the same disk.
#
#   PAIRS=N   pairs of runs for each row (default 150, at least 100)
#   WORK=DIR  where both keep their state (default build/bench)
#
# The numbers are compared, not judged: the status is 0 when all runs worked.
set -eu
cd "${BASH_SOURCE[0]%/*}/../.."
BIN=$(realpath "${BIN:-build/matins}")
tools=$(realpath build/release/tests/bench)
PAIRS=${PAIRS:-150}
WORK=${WORK:-build/bench}

rm -rf "$WORK"
mkdir -p "$WORK/state" "$WORK/bare" "$WORK/home"
chmod 755 "$WORK"
WORK=$(realpath "$WORK")
export HOME=$WORK/home XDG_STATE_HOME=$WORK/state LC_ALL=C.UTF-8

# routine NAME ISOLATE
routine() {
	cat >"$WORK/$1.toml" <<-END
		[sandbox]
		isolate = "$2"

		[routines.bench]
		[[routines.bench.steps]]
		name = "one"
		type = "mcp-client"
		command = "$tools/stub_server"
		tool = "echo"
	END
}

# step LABEL FILE
step() {
	"$tools/pairs" "$PAIRS" "$1" \
		-- "$BIN" run -q -c "$WORK/$2.toml" bench --json \
		-- "$tools/bare_runner" "$WORK/$2.toml" "$WORK/bare"
}

echo "One stdio step, whole process; bare is tests/bench/bare_runner.c"
routine off off
routine auto auto
step "isolate = off" off
step "isolate = auto" auto
echo
echo "Checking a one-step file; bare is a program that does nothing"
"$tools/pairs" "$PAIRS" "check" \
	-- "$BIN" check -q -c "$WORK/off.toml" -- /bin/true
