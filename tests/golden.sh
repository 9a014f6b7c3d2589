#!/usr/bin/env bash
# Golden cases: run golden/CASE/routine.toml and compare what comes out.
#
#   tests/golden.sh                compare every case, or CASE=name; speaks TAP
#   tests/golden.sh --accept CASE  rewrite what the case expects
#
# A case is a folder with
#   routine.toml    one routine with the name of the folder; its programs are
#                   "./peer" and what else tests/helpers builds
#   *.script        transcripts for the peer
#   args            optional: more arguments for `run`, one a line
#   expect.json     the report, --view golden --pretty
#   expect.md       the same as Markdown
#   expect.err      standard error
#   expect.status   exit status of `run`
set -u
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE[0]%/*}/blackbox/lib.sh"


# Keep only what does not depend on the machine.
plain() {
	sed -e "s|$T|@T@|g" "$1"
}

# run_case CASE: leaves got.json, got.md, got.err and got.status in $T/CASE
run_case() {
	local case=$1 extra=()

	cp -r "$TOP/golden/$case" "$T/$case"
	find "$HELPERS" -maxdepth 1 -type f -perm -u+x \
		-exec cp {} "$T/$case/" \;
	[[ ! -f $T/$case/args ]] || mapfile -t extra <"$T/$case/args"
	cd "$T/$case" || exit 1
	run_matins run -c routine.toml "$case" --json --pretty --view golden \
		${extra[@]+"${extra[@]}"}
	plain "$out" >got.json
	plain "$err" >got.err
	echo "$status" >got.status
	run_matins run -c routine.toml "$case" --md --view golden \
		${extra[@]+"${extra[@]}"}
	plain "$out" >got.md
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
	for part in json md err status; do
		cp "$T/$2/got.$part" "$TOP/golden/$2/expect.$part"
	done
	echo "golden/$2 rewritten; look at the diff before you commit it"
	exit 0
fi

while read -r case; do
	run_case "$case"
	for part in json md err status; do
		file_is "$case: $part (make golden-accept CASE=$case)" \
			"$T/$case/got.$part" "$TOP/golden/$case/expect.$part"
	done
done < <(cases | grep -x -e "${CASE:-.*}")
done_testing
