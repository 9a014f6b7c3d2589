#!/usr/bin/env bash
# Print the share of lines that ran, per source file.
#
#   tests/cover.sh DIR     DIR holds the objects of a `--coverage` build
set -eu
dir=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
top=$PWD
find "$dir/core" "$dir/gate" -name '*.gcno' | sort | while read -r f; do
	(cd "$tmp" && gcov -n -s "$top" "$top/$f" 2>/dev/null) || true
done | awk '
	/^File / { file = $2; gsub(/\x27/, "", file) }
	/^Lines executed:/ {
		split($0, p, /[:% ]+/)
		share = p[3]; lines = p[5]
		if (file !~ /^(core|gate)\/.*\.c(pp)?$/ || seen[file]++) next
		printf "%6.1f %% of %5d  %s\n", share, lines, file
		all += lines; ran += lines * share / 100
	}
	END {
		if (all) printf "%6.1f %% of %5d  all\n", ran * 100 / all, all
	}'
