#!/usr/bin/env bash
# Every guarantee that a report names, for policies of all kinds, as root and
# as an ordinary user, on whole and on lesser kernels: as gate-guarantees.txt
# says. What becomes weaker fails; what becomes stronger is put there.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

# The levels of the last report in its order, a letter each: e, p or a.
letters() {
	sed -n 's/^.*"level": *"\(.\).*/\1/p' "$W/report" 2>/dev/null |
		tr -d '\n'
}

# The guarantees that the last report names, in its order.
names() {
	sed -n 's/^.*"guarantee": *"\([^"]*\)".*/\1/p' "$W/report" | tr '\n' ' '
}

# needs_view HIDDEN OPTIONS: the levels are those of a machine that has one
needs_view() {
	[[ $2 != *"--isolate off"* &&
		$1 != *@(namespaces|mounts|proc-mount|userns)* ]]
}

# row HIDDEN WANTED OPTIONS: W stands for the folder of this user
row() {
	local wanted=$2 name="$who, options $3, without $1" options

	if [[ $viewless ]] && needs_view "$1" "$3"; then
		skip "$name" "$viewless"
		return
	fi
	[[ $1 == - ]] || at_level "$1"
	read -ra options <<<"${3//W\//$W/}"
	[[ $3 != - ]] || options=()
	rm -f "$W/report"
	gate "${options[@]}" --report "$W/report" -- true
	at_level
	is "$name" "$(letters)" "${wanted//g/$by_group}"
}

rows() {
	local whom hidden wanted options by_group=p viewless=

	mkdir -p "$W/out"
	"$PYTHON" -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$W/socket"
	[[ $who == root ]] || as_user true
	has_view || viewless=$(head -n1 "$err")
	gate --require cgroup -- true
	[[ $status != 0 ]] || by_group=e
	gate --report "$W/report" -- true
	is "$who: the guarantees that the table has, in its order" \
		"$(names)" "$(sed -n 's/^# names: //p' "$table") "
	while read -r whom hidden wanted options; do
		[[ $whom == "$who" || $whom == both ]] || continue
		row "$hidden" "$wanted" "$options"
	done < <(grep -v '^#' "$table")
}

table=$TOP/tests/blackbox/gate-guarantees.txt
"$HELPERS/hide" none -- true || skip_all "features cannot be hidden here"
both_users rows
done_testing
