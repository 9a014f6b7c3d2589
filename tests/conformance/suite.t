#!/usr/bin/env bash
# The public conformance suite for clients: every scenario of both revisions,
# each run on its own, scored or not. A scenario passes when the suite exits
# with 0 and warns of nothing.
#
#	BIN=matins MODULES=node_modules T='SCENARIO | SCENARIO@DATE …' suite.t
#
# MODULES holds the suite and the Node that it needs.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
MATINS=$(realpath "${BIN:-build/matins}")
modules=$(realpath "${MODULES:-build/conformance/node_modules}")
node=$(echo "$modules"/node-linux-*/bin/node)
suite=$modules/@modelcontextprotocol/conformance
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export MATINS
export PATH=${node%/*}:$PATH
# the suite is large, and each scenario reads it anew
export NODE_COMPILE_CACHE=$work/compiled

# "DATE SCENARIO" of each row of a requirement set: the required ones below
# `client:`, and of `not_scored` those whose leg is the client.
scenarios()
{
	local date

	for date in 2025-11-25 2026-07-28; do
		awk -v date="$date" '
			/^[a-z_]+:/ { part = $1; next }
			part == "client:" && $1 == "-" { print date, $2 }
			part == "not_scored:" && $2 == "scenario:" { name = $3 }
			part == "not_scored:" && $1 == "leg:" &&
				$2 == "client" { print date, name }
		' "$suite/requirements/$date.yaml"
	done
	# of the oldest revision with authorization; in no set
	echo 2025-03-26 auth/2025-03-26-oauth-metadata-backcompat
	echo 2025-03-26 auth/2025-03-26-oauth-endpoint-fallback
}

# One scenario; its lines of TAP on stdout.
one()
{
	local date=$1 name=$2 out=$work/$1-${2//\//-} status said='' checks

	mkdir "$out"
	"$node" "$suite/dist/index.js" client --scenario "$name" \
		--spec-version "$date" --force --timeout 60000 -o "$out" \
		--command "$node $here/client.mjs" >"$out/log" 2>&1 </dev/null
	status=$?
	checks=$(find "$out" -name checks.json | head -n 1)
	if [ -n "$checks" ] && grep -qE '"(FAILURE|WARNING)"' "$checks"; then
		said=$("$node" "$here/problems.mjs" "$checks")
	fi
	if [ "$status" = 0 ] && [ -n "$checks" ] && [ -z "$said" ]; then
		echo "ok - $date: $name"
		return
	fi
	echo "not ok - $date: $name"
	echo "# the suite exited with $status"
	echo "$said"
	sed 's/^/#   /' "$out/log" | tail -n 40
}

is_picked()
{
	[ -z "${T-}" ] || [[ " $T " == *" $2 "* ]] || [[ " $T " == *" $2@$1 "* ]]
}

n=0
while read -r date name; do
	is_picked "$date" "$name" || continue
	n=$((n + 1))
	one "$date" "$name" >"$work/$n.tap" &
	[ "$(jobs -pr | wc -l)" -lt "${J:-$(nproc)}" ] || wait -n
done < <(scenarios)
wait
for i in $(seq "$n"); do
	cat "$work/$i.tap"
done
echo "1..$n"
! grep -q '^not ok' "$work"/*.tap
