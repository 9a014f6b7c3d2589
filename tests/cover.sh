#!/usr/bin/env bash
# Print the share of lines that ran: per source file, per room, and of all;
# then the lines of the protocol that no test has reached, and whether each
# state and outcome has its test.
#
#   tests/cover.sh DIR     DIR holds the objects of a `--coverage` build
#
# The end is 1 when an outcome has no test.
set -eu
dir=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
top=$PWD

find "$dir/core" "$dir/gate" -name '*.gcno' | sort | while read -r f; do
	(cd "$tmp" && gcov -n -s "$top" "$top/$f" 2>/dev/null) || true
done | awk '
	function line(share, lines, name) {
		printf "%6.1f %% of %5d  %s\n", share, lines, name
	}
	/^File / { file = $2; gsub(/\x27/, "", file) }
	/^Lines executed:/ {
		split($0, p, /[:% ]+/)
		share = p[3]; lines = p[5]
		if (file !~ /^(core|gate)\/.*\.c(pp)?$/ || seen[file]++) next
		line(share, lines, file)
		room = file
		sub(/\/[^\/]*$/, "", room)
		if (!(room in all)) order[++n] = room
		all[room] += lines; ran[room] += lines * share / 100
		total += lines; total_ran += lines * share / 100
	}
	END {
		if (!total) exit
		print "rooms:"
		for (i = 1; i <= n; i++) {
			room = order[i]
			if (all[room])
				line(ran[room] * 100 / all[room], all[room],
				     room)
		}
		line(total_ran * 100 / total, total, "all")
	}'

echo "lines of core/mcp that no test reaches:"
for f in "$dir"/core/mcp/*/*.gcno; do
	gcov -t "$f" 2>/dev/null | awk '
		/^ *-: *0:Source:/ { name = $0; sub(/.*Source:/, "", name) }
		name ~ /^core\/mcp\/.*\.c$/ && sub(/^ *#####: */, "") {
			print "  " name ":" $0
		}'
done

echo "states and outcomes without a test:"
tests/outcomes.sh && echo "  none"
