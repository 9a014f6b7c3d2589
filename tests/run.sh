#!/usr/bin/env bash
# Run test programs that speak TAP and say what came of them.
#
#   tests/run.sh FILE... [--then FILE...]
#                            run each file, one line per file; a failing one
#                            is shown whole. Ends in "N passed, N failed,
#                            N skipped" and exits 1 when something failed.
#                            Files behind --then wait for those before it.
#   tests/run.sh --total     print that line for all runs that shared COUNTS
#
#   COUNTS=FILE   add the counts to FILE instead of printing the last line,
#                 so that several groups end in one line
#   SLOWEST=N     print the N files that took longest, before the last line
#   J=N           files at once (default: twice the number of processors, for
#                 many tests wait)
#   LIMIT=N       seconds one file may take (default 600)
#   TAPDIR=DIR    where the output of each file is kept (default build/tap)
#
# Files of slowest.txt are started first, in its order. A line "# NOTE text" of
# a file is shown under its own line; "# TIME SECONDS NAME" is the time of a
# part of it.
#
# A file that crashes, exits non-zero without a failing test, runs out of
# time, prints no plan or another number of tests than planned has failed.
set -u

# Count one TAP output. Prints "passed failed skipped note", then one line
# "SKIP name: reason" for each skip.
tap_count() {
	awk '
	/^1\.\.[0-9]+/ {
		split($1, p, "\\.\\."); plan += p[2]; plans++
		if (p[2] == 0) {
			why = $0; sub(/^1\.\.0[ #]*([Ss][Kk][Ii][Pp])?[ :]*/, "", why)
			skip++; list = list "SKIP whole file: " why "\n"
		}
		next
	}
	/^(not )?ok[ \t]/ || /^(not )?ok$/ {
		seen++
		if (match($0, /#[ ]*[Ss][Kk][Ii][Pp]/)) {
			skip++
			name = substr($0, 1, RSTART - 1)
			sub(/^(not )?ok[ ]*[0-9]*[ -]*/, "", name)
			sub(/[ ]+$/, "", name)
			why = substr($0, RSTART + RLENGTH)
			sub(/^[ :]*/, "", why)
			# cmocka: the name stands behind SKIP, the reason
			# in a comment before
			if (name == "") {
				name = why
				why = said ? said : "no reason given"
			}
			said = ""
			list = list "SKIP " name ": " why "\n"
		} else if ($0 ~ /^not/) fail++
		else pass++
		next
	}
	/^# SKIP / { said = substr($0, 8) }
	/^Bail out!/ { bail = 1 }
	END {
		note = "-"
		if (bail) note = "bailed-out"
		else if (!plans) note = "no-plan"
		else if (seen != plan) note = "planned-" plan "-ran-" seen + 0
		printf "%d %d %d %s\n%s", pass, fail, skip, note, list
	}' "$1"
}

run_one() {
	local file=$1 name tap rc=0 head list start end seconds line why=
	name=${file#"$PWD"/}
	name=${name#build/*/}
	tap=$TAPDIR/${name//\//_}.tap
	[[ $file == */* ]] || file=./$file
	start=$(date +%s%N)
	timeout -k 10 "$LIMIT" "$file" >"$tap" 2>&1 </dev/null || rc=$?
	end=$(date +%s%N)

	list=$(tap_count "$tap")
	head=${list%%$'\n'*}
	local pass fail skip note
	read -r pass fail skip note <<<"$head"
	if ((rc == 124 || rc == 137)) && ((end - start >= LIMIT * 1000000000)); then
		why="did not end within $LIMIT s"
	elif ((rc > 128)); then
		why="ended by signal $((rc - 128))"
	elif [[ $note != - ]]; then
		why=${note//-/ }
	elif ((rc != 0 && fail == 0)); then
		why="exit status $rc"
	fi
	[[ -z $why ]] || fail=$((fail + 1))

	line=$(printf '%-44s %4d ok' "$name" "$pass")
	((fail == 0)) || line+=", $fail not ok"
	((skip == 0)) || line+=", $skip skipped"
	[[ -z $why ]] || line+=" ($why)"
	seconds=$(printf '%d.%01d' $(((end - start) / 1000000000)) \
		$(((end - start) / 100000000 % 10)))
	line+="  $seconds s"
	{
		flock 9
		if ((fail)); then
			printf 'FAIL  %s\n' "$line"
			# the failures with their words; of a file cut short its end
			{
				awk '/^not ok/ { on = 1 } /^ok/ { on = 0 } on' "$tap"
				[[ -z $why ]] || tail -n 20 "$tap"
			} | sed 's/^/      | /' | cut -c1-2000
		else
			printf 'ok    %s\n' "$line"
		fi
		sed -n 's/^SKIP /      skipped: /p' <<<"$list"
		sed -n 's/^# NOTE /      /p' "$tap"
		printf '%d %d %d %s %s\n' "$pass" "$fail" "$skip" \
			"$seconds" "$name" >>"$COUNTS"
		sed -n 's/^# TIME /0 0 0 /p' "$tap" >>"$COUNTS"
	} 9>>"$COUNTS.lock"
	return 0
}

total() {
	local p=0 f=0 s=0 a b c _
	if [[ -f $COUNTS ]]; then
		[[ -z ${SLOWEST-} ]] ||
			sort -k4,4 -rn "$COUNTS" | head -n "$SLOWEST" |
			awk 'NR == 1 { print "slowest:" }
				{ printf "  %6.1f s  %s\n", $4, $5 }'
		while read -r a b c _; do
			p=$((p + a)) f=$((f + b)) s=$((s + c))
		done <"$COUNTS"
	fi
	printf '%d passed, %d failed, %d skipped\n' "$p" "$f" "$s"
	((f == 0 && p > 0))
}

LIMIT=${LIMIT:-600}
TAPDIR=${TAPDIR:-build/tap}
export LIMIT TAPDIR
mkdir -p "$TAPDIR"

case ${1-} in
--one)
	run_one "$2"
	exit 0
	;;
--total)
	: "${COUNTS:?names the file with the counts}"
	total
	exit
	;;
esac

own=
if [[ -z ${COUNTS-} ]]; then
	COUNTS=$(mktemp)
	own=1
	trap 'rm -f "$COUNTS" "$COUNTS.lock"' EXIT
fi
export COUNTS
before=$(awk '{ n += $2 } END { print n + 0 }' "$COUNTS" 2>/dev/null || echo 0)
started=0
# The files as they are to be started: those of slowest.txt in its order.
slowest_first() {
	printf '%s\n' "$@" | awk -v list="${BASH_SOURCE[0]%/*}/slowest.txt" '
		BEGIN {
			while ((getline name <list) > 0)
				if (name !~ /^#/) rank[name] = ++n
		}
		{
			name = $0
			sub(/^build\/[^\/]*\//, "", name)
			print (name in rank ? rank[name] : n + 1) "\t" $0
		}' | sort -s -n -k1,1 | cut -f2-
}

run_all() {
	slowest_first "$@" | tr '\n' '\0' |
		xargs -0 -n 1 -P "${J:-$(($(nproc) * 2))}" "$BASH" "$0" --one ||
		started=1
}

files=()
for word; do
	if [[ $word == --then ]]; then
		run_all "${files[@]}"
		files=()
	else
		files+=("$word")
	fi
done
if ((${#files[@]})); then
	run_all "${files[@]}"
else
	echo "no test file given" >&2
	started=1
fi
if [[ -n $own ]]; then
	total && ((started == 0))
	exit
fi
after=$(awk '{ n += $2 } END { print n + 0 }' "$COUNTS" 2>/dev/null || echo 0)
((after == before && started == 0))
