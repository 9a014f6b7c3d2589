#!/usr/bin/env bash
# A connection that is lost within a call ends that call at once, on each
# transport, at the first contact with a server and at a later one: the outcome
# is said to be unknown, nothing is sent twice, and what follows goes on.
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

LIMIT_S=30
LOSSY=$TOP/tests/blackbox/lossy_peer.py
: >empty.toml
export MATINS_CONFIG=$T/empty.toml
printf '%s\n' '{"tool":"fine","arguments":{"n":"before"}}' '{"tool":"lost"}' \
	'{"tool":"fine","arguments":{"n":"after"}}' >lines.batch

peer=
end_peer() {
	[[ -z $peer ]] || kill "$peer" 2>/dev/null
	[[ -z $peer ]] || wait "$peer" 2>/dev/null
	peer=
}
trap 'end_peer; _finish' EXIT

has_port() {
	[[ -s port ]]
}

# lossy TRANSPORT HOW: a fresh server; ${target[@]} names it, `keys` in TOML
lossy() {
	: >calls
	if [[ $1 == stdio ]]; then
		target=(-- "$PYTHON" "$LOSSY" stdio "$2")
		keys="command = \"$PYTHON\"
args = [\"$LOSSY\", \"stdio\", \"$2\"]"
		return
	fi
	end_peer
	rm -f port
	"$PYTHON" -B "$LOSSY" "$1" "$2" calls >port 2>peer.log &
	peer=$!
	wait_for 20 has_port || show_file peer.log "the peer"
	local url kind=auto

	url=http://127.0.0.1:$(<port)/mcp
	[[ $1 != sse ]] || kind=sse
	[[ $1 != websocket ]] || url=ws${url#http}
	target=(--url "$url" --transport "$kind")
	[[ $1 != websocket ]] || target=(--url "$url")
	keys="url = \"$url\""
	[[ $1 == websocket ]] || keys+="
transport = \"$kind\""
}

# meets CONTACT: with a memory of nothing, or of this very server
meets() {
	local before

	export MATINS_STATE=$T/state/$((_n + 1))
	[[ $1 == later ]] || return 0
	run_matins call fine n=known "${target[@]}"
	before=$(<"$out")
	[[ $before == known ]] || _fail "a call works before the one that is lost" "$(<"$err")"
}

# Is it so that the server is there for a next session, or a next request?
stays() {
	[[ $1 == stdio || $2 != dies ]]
}

unknown='outcome is unknown, and it was not repeated'

by_call() {
	run_matins call lost "${target[@]}"
	exit_is "$1: the call fails" 1
	err_like "$1: and says that its outcome is unknown" "$unknown"
	err_unlike "$1: it speaks of nothing else" \
		'discover|initialize|ended its output'
}

by_batch() {
	run_matins call --batch lines.batch "${target[@]}"
	exit_is "$1: the batch ends with 1" 1
	mapfile -t line <"$out"
	is "$1: each line has its answer" "${#line[@]}" 3
	like "$1: the line before" "${line[0]-}" '"before"'
	like "$1: the line itself has an unknown outcome" "${line[1]-}" \
		"$unknown.*\"line\":2"
	if stays "$2" "$3"; then
		like "$1: the line after goes on" "${line[2]-}" '"after"'
	else
		like "$1: the line after fails as well" "${line[2]-}" \
			'error.*(not sent|no answer).*"line":3'
	fi
}

by_step() {
	printf '[servers.s]\n%s\n' "$keys" >steps.toml
	cat >>steps.toml <<-'END'
		[[routines.r.steps]]
		name = "lost"
		type = "mcp-client"
		server = "s"
		tool = "lost"
		[[routines.r.steps]]
		name = "after"
		type = "mcp-client"
		server = "s"
		tool = "fine"
	END
	run_matins run -c steps.toml r --json
	exit_is "$1: the run ends with 2" 2
	json_is "$1: the step fails, and its outcome is unknown" \
		step_results[0].state failed step_results[0].error "~$unknown"
	if stays "$2" "$3"; then
		json_is "$1: the step after goes on" step_results[1].state ok
	else
		json_is "$1: the step after fails for itself" \
			step_results[1].state failed \
			step_results[1].error \
			'~connected to|ended without an answer'
	fi
}

while read -r transport hows; do
	for how in $hows; do
		for contact in first later; do
			for way in call batch step; do
				lossy "$transport" "$how"
				meets "$contact"
				"by_$way" "$transport, $how, $contact contact, $way" \
					"$transport" "$how"
				[[ $transport == stdio ]] ||
					is "... it was sent once" \
						"$(grep -c lost calls)" 1
			done
		done
	done
done <<'END'
stdio dies closes
modern dies resets closes
legacy dies resets closes
sse dies resets closes
websocket dies resets closes
END
end_peer
nothing_left "no server is left" "$LOSSY"

done_testing
