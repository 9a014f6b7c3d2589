# Other programs for the same work, as multiples of the time of matins.
#
#   PEERS_DIR=DIR  where npm has installed some (`npm install --prefix DIR …`);
#                  else they are found by PATH
#
# Clients perform one call of the stub server, as `matins call` does. Sandboxes
# start that server and hand it the messages of the call, as `matins exec` does.
# shellcheck shell=bash
: "${tools:?run.sh sets it}" "${PAIRS:?}"

# beside_peer LABEL PROGRAM INSTALL ARG... [:: ARG...]: the first words are
# those of the peer, the others those of matins
beside_peer() {
	local label=$1 install=$3 path peer=() n

	path=$(PATH=${PEERS_DIR:+$(realpath "$PEERS_DIR")/node_modules/.bin:}$PATH \
		command -v "$2" || true)
	shift 3
	while [[ $1 != :: ]]; do
		peer+=("$1")
		shift
	done
	n=$(at_least $((PAIRS / 10)))
	if [[ -z $path ]]; then
		echo "$label: not installed; to have it here: $install"
	elif ! "$path" "${peer[@]}" <"$WORK/requests" 2>"$WORK/err" |
		grep -q "$(printf '%064d' 0 | tr 0 x)"; then
		echo "$label: left out, it does not work here:" \
			"$(head -n1 "$WORK/err")"
	else
		shift
		INPUT=$WORK/requests "$tools/pairs" "$n" "$label" \
			:: "$path" "${peer[@]}" :: "$BIN" "$@"
	fi
}

client() {
	beside_peer "$@" :: call -q echo -- "$tools/stub_server" 64
}

sandbox() {
	beside_peer "$@" :: exec -q -- "$tools/stub_server" 64
}

peers() {
	local stub=$tools/stub_server

	requests >"$WORK/requests"
	echo '{"mcpServers":{"stub":{"command":"'"$stub"'","args":["64"]}}}' \
		>"$WORK/servers.json"
	echo '{"network":{"allowedDomains":[],"deniedDomains":[]},' \
		'"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}' \
		>"$WORK/srt.json"
	heading "One call, against matins call"
	client mcptools mcptools \
		"build f/mcptools of GitHub with go" \
		call echo --params '{}' "$stub" 64
	client mcporter mcporter "npm install mcporter" \
		call --stdio "$stub 64" echo
	client "Inspector --cli" mcp-inspector \
		"npm install @modelcontextprotocol/inspector" \
		--cli "$stub" 64 --method tools/call --tool-name echo
	client "@wong2/mcp-cli" mcp-cli "npm install @wong2/mcp-cli" \
		--config "$WORK/servers.json" call-tool stub:echo --args '{}'
	heading "The server and its messages in a sandbox, against matins exec"
	sandbox bubblewrap bwrap "apt-get install bubblewrap" \
		--ro-bind / / --unshare-all "$stub" 64
	sandbox firejail firejail "apt-get install firejail" \
		--quiet --noprofile "$stub" 64
	sandbox sandbox-runtime srt \
		"npm install @anthropic-ai/sandbox-runtime; apt-get install bubblewrap socat ripgrep" \
		--settings "$WORK/srt.json" -c "$stub 64"
}
