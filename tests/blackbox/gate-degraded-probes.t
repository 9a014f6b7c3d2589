#!/usr/bin/env bash
# The rows of tests/escape/probes.tsv that hang on a layer, where the kernel
# has not got it: what then works must be in a guarantee that the report does
# not call enforced. `make check-escape` walks all rows at all levels.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"
. "$TOP/tests/blackbox/escape.sh"
escape_open

# The guarantee that a row would break; "-" of what none promises there (the
# README says so: priorities and processors of others, sessions that exist,
# a signal to the owner of one's own tree).
guarantee_of() {
	case $1 in
	read-*) echo fs-read ;;
	write-* | git-* | sys-* | own-*) echo fs-write ;;
	exec-*) echo exec-listed ;;
	tty-*) echo no-tty ;;
	proc-*) echo proc-hidden ;;
	net-* | udp* | tcp*) echo net-off ;;
	priority | affinity | scheduler | session-other | kill-parent) echo - ;;
	kill-* | shm* | ipc-* | unix-* | abstract*) echo ipc ;;
	*) echo unknown ;;
	esac
}

# level FEATURES LAYERS
level() {
	local id verdict known guarantee held n=0

	escape probes --under matins --quick --layer "$2" \
		--wrap "$HELPERS/hide $1 --"
	at_level "$1"
	gate --report "$W/report" -- true
	at_level
	while IFS=$'\t' read -r id verdict _ known _; do
		[[ $verdict == escaped && $known != known ]] || continue
		n=$((n + 1))
		guarantee=$(guarantee_of "$id")
		[[ $guarantee == - ]] && continue
		held=$(sed -n "/\"guarantee\": *\"$guarantee\"/ {
			n
			s/.*\"level\": *\"\\([a-z]*\\)\".*/\\1/p
		}" "$W/report")
		like "$who, without $1: $id escapes, $guarantee is $held" \
			"$held" '^(partial|absent)$'
	done <"$rows"
	isnt "$who, without $1: some rows hang on it" "$n" 0
}

levels() {
	if ! has_view; then
		skip "$who: the levels hold without namespaces" "$(head -n1 "$err")"
		return
	fi
	level landlock landlock
	level namespaces view,pidns
}

both_users levels
done_testing
