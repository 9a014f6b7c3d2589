#!/usr/bin/env bash
# Golden cases: run golden/CASE/routine.toml and compare what comes out.
#
#   tests/golden.sh                compare every case, or CASE=name; speaks TAP
#   tests/golden.sh --accept CASE  rewrite what the case expects
#
# A case is a folder with
#   routine.toml    one routine with the name of the folder; its programs are
#                   "./peer" and others of tests/helpers
#   *.script        transcripts for the peer, where they are not in its args
#   args            optional: more arguments for `run`, one a line
#   expect.json     the report, --view golden --pretty
#   expect.md, expect.html, expect.txt
#                   the report by the other renderers
#   expect.err      standard error
#   expect.status   exit status of `run`
#
# The JSON report that a run keeps is loaded and rendered again by every
# renderer: the text must be that of the run itself.
set -u
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE[0]%/*}/blackbox/lib.sh"

parts=(json md html txt err status)
renderers=(json md html txt data)

# Keep only what does not depend on the machine; the style of a page, which is
# that of all pages, is left out.
plain() {
	sed -e "s|$T|@T@|g" -e '/^<style>/,/^<\/style>$/d' \
		-e "s|'sha256-[^']*'|'sha256-…'|" "$1"
}

# options_of RENDERER: the options that choose it, one a line
options_of() {
	case $1 in
	json) printf '%s\n' --json --pretty ;;
	txt) ;;
	*) printf '%s\n' "--$1" ;;
	esac
}

# run_case CASE: leaves got.* of the runs, again.* of the kept report in
# $T/CASE
run_case() {
	local case=$1 extra=() options renderer

	cp -r "$TOP/golden/$case" "$T/$case"
	find "$HELPERS" -maxdepth 1 -type f -perm -u+x \
		-exec ln -s {} "$T/$case/" \;
	cp --remove-destination "$HELPERS/peer" "$T/$case/"
	[[ ! -f $T/$case/args ]] || mapfile -t extra <"$T/$case/args"
	cd "$T/$case" || exit 1
	for renderer in "${renderers[@]}"; do
		mapfile -t options < <(options_of "$renderer")
		run_matins run -c routine.toml "$case" --view golden \
			${options[@]+"${options[@]}"} ${extra[@]+"${extra[@]}"}
		plain "$out" >"got.$renderer"
		[[ $renderer == json ]] || continue
		plain "$err" >got.err
		echo "$status" >got.status
	done
	# a dry run, and a run that could not begin, keep no report
	if [[ -s got.txt && " ${extra[*]-} " != *" --dry-run "* ]]; then
		for renderer in "${renderers[@]}"; do
			mapfile -t options < <(options_of "$renderer")
			run_matins show -c routine.toml last "$case" \
				--view golden ${options[@]+"${options[@]}"}
			plain "$out" >"again.$renderer"
		done
	fi
	cd "$T" || exit 1
}

cases() {
	local file

	for file in "$TOP"/golden/*/routine.toml; do
		[[ -f $file ]] || continue
		file=${file%/routine.toml}
		echo "${file##*/}"
	done
}

if [[ ${1-} == --accept ]]; then
	_done=1
	[[ -n ${2-} && -f $TOP/golden/$2/routine.toml ]] || {
		echo "which case? make golden-accept CASE=name, one of:" >&2
		cases >&2
		exit 1
	}
	run_case "$2"
	for part in "${parts[@]}"; do
		cp "$T/$2/got.$part" "$TOP/golden/$2/expect.$part"
	done
	echo "golden/$2 rewritten; look at the diff before you commit it"
	exit 0
fi

while read -r case; do
	run_case "$case"
	for part in "${parts[@]}"; do
		file_is "$case: $part is as accepted (make golden-accept CASE=$case)" \
			"$T/$case/got.$part" "$TOP/golden/$case/expect.$part"
	done
	for renderer in "${renderers[@]}"; do
		[[ -f $T/$case/again.$renderer ]] || continue
		file_is "$case: the kept report gives the same $renderer" \
			"$T/$case/again.$renderer" "$T/$case/got.$renderer"
	done
done < <(cases | grep -x -e "${CASE:-.*}")
done_testing
