# shellcheck shell=bash
# Checks that read the sources, as TAP; sourced by static.sh and lint.sh.
n=0 failed=0

# check NAME COMMAND...
check() {
	local name=$1 output

	shift
	n=$((n + 1))
	if output=$("$@" 2>&1); then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		printf '%s\n' "$output" | head -n 100 | sed 's/^/# /'
		failed=1
	fi
}

# The plan, and the exit status.
checks_end() {
	echo "1..$n"
	exit $failed
}
