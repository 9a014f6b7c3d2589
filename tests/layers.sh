#!/usr/bin/env bash
# Check the include rules and symbol rules of layers.txt; speaks TAP.
#
#   OBJDIR=DIR where the objects are (default build/release)
#
# Include rules read the sources, symbol rules read `nm -u` of the objects, so
# build first.
set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
OBJDIR=${OBJDIR:-build/release}
rules=tests/layers.txt
n=0 failed=0

# verdict NAME COMPLAINTS
verdict() {
	n=$((n + 1))
	if [[ -z $2 ]]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
		failed=1
	fi
}

sources=$(find core gate -type f \
	\( -name '*.[ch]' -o -name '*.cpp' -o -name '*.def' \) | sort)
# "file line kind header" of every include, kind being " or <
# shellcheck disable=SC2016
includes=$(printf '%s\n' "$sources" | xargs awk '
	match($0, /^[ \t]*#[ \t]*include[ \t]*["<][^">]+/) {
		s = substr($0, RSTART, RLENGTH)
		kind = index(s, "<") ? "<" : "\""
		sub(/^[^"<]*["<]/, "", s)
		print FILENAME, FNR, kind, s
	}')
# undefined SOURCE OBJECT: "source symbol" of each undefined symbol
undefined() {
	nm -u "$2" | awk -v f="$1" '{ sub(/@.*/, "", $2); print f, $2 }'
}

# Those of the whole program.
symbols=$(while read -r f; do
	o=$OBJDIR/${f%.*}.o
	[[ $f == *.c || $f == *.cpp ]] || continue
	if [[ ! -f $o ]]; then
		echo "$f MISSING-OBJECT"
		continue
	fi
	undefined "$f" "$o"
done <<<"$sources")

# Numbers of system calls that no symbol shows.
check_assembly() {
	verdict "assembly is written in gate/child/sys.h only" "$(
		printf '%s\n' "$sources" | grep -vxF gate/child/sys.h |
			xargs grep -nE '\b(__)?asm(__)?\b[ (]'
	)"
}

# The rule finds each of the symbols that it forbids: in an object that uses
# all of them, as if core/ had it.
check_found() {
	local name=$1 folders=$2 call dir

	shift 2
	dir=$(mktemp -d) || exit 1
	printf 'extern int %s();\n' "$@" >"$dir/all.c"
	printf 'int (*const all[])() = {%s};\n' "$(printf '%s, ' "$@")" \
		>>"$dir/all.c"
	${CC:-cc} -w -fno-builtin -c -o "$dir/all.o" "$dir/all.c"
	verdict "$name: a use elsewhere is found" "$(
		symbols=$(undefined core/all.c "$dir/all.o")
		found=$(check_only "$name" "$folders" "$*")
		for call in "$@"; do
			grep -qxF "# core/all.c: uses $call" <<<"$found" ||
				echo "not found: $call"
		done
	)"
	rm -r "$dir"
}

check_missing() {
	verdict "every source has an object in $OBJDIR" \
		"$(grep ' MISSING-OBJECT$' <<<"$symbols")"
}

check_top() {
	verdict "paths of own headers begin at the top" "$(awk '
		$3 == "\"" && $4 !~ /^(core|gate|tests|gen)\// {
			print $1 ":" $2 ": " $4
		}' <<<"$includes" | grep -v ^tests/)"
}

check_folders() {
	local known folder
	known=$(sed -n 's/^layer \([^:]*\):.*/\1/p' $rules)
	verdict "every folder has a layer" "$(
		while read -r f; do
			folder=${f%/*}
			grep -qxF "$folder" <<<"$known" || echo "$folder ($f)"
		done <<<"$sources"
	)"
}

# check_layer FOLDER ALLOWED...
check_layer() {
	local folder=$1
	shift
	verdict "$folder includes only: ${*:-nothing of ours}" "$(awk \
		-v folder="$folder" -v allowed="$*" '
		function dir(p) { sub(/\/[^\/]*$/, "", p); return p }
		BEGIN { k = split(allowed, ok, " ") }
		dir($1) == folder && $3 == "\"" && $4 ~ /^(core|gate)\// {
			d = dir($4)
			if (d == folder) next
			for (i = 1; i <= k; i++)
				if (ok[i] == d || ok[i] == $4) next
			print $1 ":" $2 ": includes " $4
		}' <<<"$includes")"
}

# check_door HEADER FILES...
check_door() {
	local header=$1
	shift
	verdict "<$header> is included by $* only" "$(awk \
		-v header="$header" -v allowed="$*" '
		BEGIN { k = split(allowed, ok, " ") }
		index($4, header) == 1 {
			for (i = 1; i <= k; i++)
				if (index($1, ok[i]) == 1) next
			print $1 ":" $2 ": includes <" $4 ">"
		}' <<<"$includes")"
}

# check_only NAME FOLDERS SYMBOLS
check_only() {
	verdict "$1: ${2:-nowhere}" "$(awk \
		-v folders="$2" -v list="$3" '
		BEGIN {
			k = split(folders, ok, " ")
			m = split(list, s, " ")
			for (i = 1; i <= m; i++) banned[s[i]] = 1
		}
		$2 in banned {
			for (i = 1; i <= k; i++)
				if (index($1, ok[i]) == 1) next
			print $1 ": uses " $2
		}' <<<"$symbols")"
}

# check_pure FILES... [except FILES...]
check_pure() {
	verdict "pure: $*" "$(awk -v files="$*" -v list="$impure" '
		BEGIN {
			sub(/ ?except /, " | ", files)
			k = split(files, f, " ")
			m = split(list, s, " ")
			for (i = 1; i <= m; i++) banned[s[i]] = 1
		}
		$2 in banned {
			hit = except = 0
			for (i = 1; i <= k; i++) {
				if (f[i] == "|") except = 1
				else if (index($1, f[i]) == 1) hit = !except
			}
			if (hit) print $1 ": uses " $2
		}' <<<"$symbols")"
}

impure=$(sed -n 's/^impure //p' $rules | tr '\n' ' ')

check_missing
check_top
check_folders
check_assembly
while read -r word rest; do
	case $word in
	layer)
		# shellcheck disable=SC2086
		check_layer "${rest%%:*}" ${rest#*:}
		;;
	door)
		# shellcheck disable=SC2086
		check_door $rest
		;;
	only)
		name=${rest%%:*} rest=${rest#*: }
		folders=${rest%%--*}
		check_only "$name" "${folders% }" "${rest#*--}"
		# shellcheck disable=SC2086
		check_found "$name" "${folders% }" ${rest#*--}
		;;
	pure)
		# shellcheck disable=SC2086
		check_pure $rest
		;;
	esac
done <$rules
echo "1..$n"
exit $failed
