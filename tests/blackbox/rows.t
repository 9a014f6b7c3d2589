#!/usr/bin/env bash
# How servers begin and end, one row for each way to do it badly: the client
# neither hangs nor loses an answer, says what happened, and leaves nothing.
# shellcheck disable=SC2016
. "${BASH_SOURCE%/*}/lib.sh"

# A program of the same name and arguments is remembered to be of an era.
forget() {
	rm -rf "${XDG_STATE_HOME:?}"/*
}

# served NAME ERE [OPTIONS...] <SCRIPT: a call whose output matches
served() {
	local name=$1 ere=$2

	shift 2
	script t
	forget
	run_matins call t --no-list "$@" -- "$PEER" "$T/t.peer"
	exit_is "$name: exit status 0" 0
	out_like "$name: the tool's answer is printed" "$ere"
	nothing_left "$name: nothing is left" "$T/"
}

# broken NAME ERE [OPTIONS...] <SCRIPT: a call that fails with that sentence
broken() {
	local name=$1 ere=$2

	shift 2
	script t
	forget
	run_matins call t --no-list "$@" -- "$PEER" "$T/t.peer"
	isnt "$name: the call does not succeed" "$status" 0
	out_is "$name: no answer is printed" ""
	err_like "$name: the message explains the failure" "$ere"
	nothing_left "$name: nothing is left" "$T/"
}

older=(--protocol 2025-11-25)
newer=(--protocol 2026-07-28)

# ---- start ----

broken "RW-21: exits at once with a reason on stderr" \
	'API_KEY is not set' "${older[@]}" -v <<-'END'
	stderr API_KEY is not set
	exit 7
END
err_like "RW-21: the message has the status of the server" 'status 7'
script t <<-'END'
	raw Error: no database\n
	exit 1
END
peer_step one t 'tool = "t"' >r.toml
run_matins run -c r.toml r --json
json_is "RW-21: exits at once with a reason on stdout" \
	step_results[0].reason server_exit \
	step_results[0].run.mcp.noise '~^Error: no database'

# Any message before initialize ends such a server.
served "RW-22: exits on server/discover" '^second life$' <<-'END'
	handshake
	call second life
END
for code in -32601 -32602 -32600 -32000; do
	served "RW-24: $code to server/discover" '^older$' <<-END
		expect server/discover
		fail $code what is that
		handshake
		call older
	END
done
served "RW-24: {} to server/discover" '^older$' <<-'END'
	expect server/discover
	reply {}
	handshake
	call older
END
mkdir -m 777 logs
served "RW-22: exits on server/discover, logged" '^logged$' \
	--write "$T/logs" <<-END
	log $T/logs/lines
	handshake
	call logged
END
is "RW-22: server/discover comes first, initialize second" \
	"$(grep -o '"method":"[^"]*"' logs/lines | tr '\n' ' ')" \
	'"method":"server/discover" "method":"initialize" "method":"notifications/initialized" "method":"tools/call" '
rm logs/lines
run_matins call t --no-list --write "$T/logs" -- "$PEER" "$T/t.peer"
out_is "RW-22: the second call is answered, too" logged
is "RW-22: the second call begins with initialize" \
	"$(grep -o '"method":"[^"]*"' logs/lines | head -n 1)" '"method":"initialize"'
served "PRB-2: speaks the newer era" '^newer$' <<-'END'
	discover
	call newer
END
served "PRB-8: names older dates alone" '^2025-06-18$' <<-'END'
	discover ["2025-06-18","2024-11-05"]
	handshake
	call $version
END
served "RW-25: kilobytes on stderr for the probe" '^older$' <<-'END'
	expect server/discover
	flood-stderr 1000000
	fail -32601 what is that
	handshake
	call older
END
served "RW-26: 1 MiB on stderr before each answer" '^all the same$' <<-'END'
	flood-stderr 1048576
	discover
	flood-stderr 1048576
	call all the same
END
served "RW-27: answers both, the probe late" '^first come$' <<-'END'
	expect server/discover
	fail -32601 no
	handshake
	send {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}
	call first come
END
broken "RW-38: goes to the background" 'ended|exit|status 0' "${older[@]}" <<-'END'
	background
	hang
END
served "RW-40: asks on the terminal" '^no terminal$' "${older[@]}" -v <<-'END'
	tty
	handshake
	call no terminal
END
err_like "RW-40: the server has no terminal" 'tty: (No such|Permission)'

# ---- end, in both eras ----

ends() {
	local era=$1 hello=$2

	shift 2
	broken "RW-28: $era: closes stdout and lives on" 'ended its output' "$@" \
		<<-END
		$hello
		expect tools/call
		close stdout
		hang
	END
	served "RW-29: $era: answers and exits 1" '^the answer$' "$@" <<-END
		$hello
		call the answer
		exit 1
	END
	served "RW-29: $era: answers and is killed" '^the answer$' "$@" <<-END
		$hello
		call the answer
		kill SEGV
	END
	served "RW-30: $era: no newline behind the answer" '^unended$' "$@" <<-END
		$hello
		expect tools/call
		raw {"jsonrpc":"2.0","id":\$id,"result":{"content":[{"type":"text","text":"unended"}]}}
		exit 0
	END
	broken "RW-31: $era: dies within its answer" \
		'in the middle of a message|SIGKILL' "$@" -v <<-END
		$hello
		expect tools/call
		stderr last words
		raw {"jsonrpc":"2.0","id":\$id,"result":{"content":[{"type":
		kill KILL
	END
	err_like "RW-31: $era: the end of stderr" 'last words'
	served "STD-43: $era: ends first, nothing pending" '^the answer$' "$@" \
		<<-END
		$hello
		call the answer
		close stdout
		exit 5
	END
}

ends 2025-11-25 handshake "${older[@]}"
ends 2026-07-28 discover "${newer[@]}"

# ---- what does not end by itself ----

served "RW-33: ignores the end of stdin" '^the answer$' "${older[@]}" <<-END
	handshake
	call the answer
	hang
END
served "RW-34: a wrapper whose child stays" '^the answer$' "${older[@]}" \
<<-END
	wrap
	ignore-term
	handshake
	call the answer
	hang
END
served "RW-35: a grandchild holds the pipes" '^the answer$' "${older[@]}" \
<<-END
	hold-pipes 600000
	handshake
	call the answer
	exit 0
END
served "RW-36: traps SIGTERM" '^the answer$' "${older[@]}" <<-END
	ignore-term
	handshake
	call the answer
	sleep 600000
END
served "RW-37: spins" '^the answer$' "${older[@]}" <<-END
	ignore-term
	handshake
	call the answer
	spin
END

broken "RW-32: exits behind its answer to initialize" \
	'ended its output|status 4' "${older[@]}" <<-'END'
	expect initialize
	reply {"protocolVersion":"2025-11-25","capabilities":{}}
	exit 4
END
err_unlike "RW-32: no error of writing" 'EPIPE|Broken pipe'

# ---- pipes ----

# It writes 8 MiB before it reads a request of 1 MiB.
head -c 1000000 /dev/zero | tr '\0' x >big
{
	printf '{"big":"'
	cat big
	printf '"}'
} >big.json
served "RW-39: writes much before it reads" '^both got through$' \
	"${older[@]}" --args @big.json <<-'END'
	handshake
	lines 100000 a line that is no message, but there are many of them
	call both got through
	lines 100000 and again
END

# ---- tools and results of odd shapes ----

tools='{"tools":[{"name":"missing"},{"name":"null","inputSchema":null},{"name":"true","inputSchema":true},{"name":"untyped","inputSchema":{"properties":{"a":{"type":"string"}}}},{"name":"ref","inputSchema":{"$ref":"#/$defs/x","$defs":{"x":{"type":"object"}}}},{"name":"empty","inputSchema":{"type":"object","properties":[]}}]}'
script t <<-END
	handshake
	expect tools/list
	reply $tools
	call called
END
for tool in missing null true untyped ref empty; do
	run_matins call "$tool" a=x "${older[@]}" -- "$PEER" "$T/t.peer"
	out_is "RW-73: inputSchema $tool: the tool can be called" called
done

script t <<-'END'
	handshake
	expect tools/list
	reply {"tools":[{"name":"t","outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}
	expect tools/call
	reply $env:RESULT
END
# result RESULT [OPTIONS...]: what a tool with that outputSchema gives
result() {
	export RESULT=$1

	shift
	run_matins call t --env RESULT "${older[@]}" "$@" \
		-- "$PEER" "$T/t.peer"
}
text='"content":[{"type":"text","text":"the text"}]'
result "{$text}"
out_is "RW-74: no structuredContent: the text" "the text"
exit_is "RW-74: no structuredContent: is no failure" 0
err_like "RW-74: no structuredContent: a warning" 'structuredContent'
result "{$text,\"structuredContent\":{\"n\":\"x\"}}"
out_is "RW-74: another structuredContent: the text" "the text"
err_like "RW-74: the warning points to the wrong member" '/n\b.*integer'
result "{$text,\"structuredContent\":{\"n\":\"x\"}}" --strict
out_is "RW-74: strict: the text all the same" "the text"
isnt "RW-74: a result that breaks the schema fails with --strict" "$status" 0
result "{$text,\"structuredContent\":{\"error\":1},\"isError\":true}"
out_is "RW-74: of a tool that failed: its text" "the text"
err_unlike "RW-74: of a tool that failed: no complaint" structuredContent
result '"bare"'
out_is "RW-75: a bare string is the text of a result" bare
result '{"content":"bare"}'
out_is "RW-75: content that is a string" bare
result "{$text,\"isError\":\"true\"}"
isnt "RW-76: isError as a string" "$status" 0
mkdir saved
result '{"content":[{"type":"vendor/new","x":1},{"type":"image","data":"data:image/gif;base64,R0lGODlh"},{"type":"image","data":"iVBO\nRw0KGgo"},{"type":"image","data":"%%"},{"type":"text","text":"end"}]}' \
	--save saved
out_like "RW-77: an unknown type is told" 'vendor/new'
out_like "RW-77: what comes behind is read" '^end$'
is "RW-77: lines are decoded, and sniffed" \
	"$(head -c 4 saved/*.png | od -An -tx1)" ' 89 50 4e 47'
is "RW-77: a data URI is decoded, and sniffed" "$(head -c 4 saved/*.gif)" GIF8

# ---- both eras by a peer that serves ----

script t <<<'serve'
run_matins call echo a=1 --no-list "${older[@]}" -- "$PEER" "$T/t.peer"
out_is "a peer of the older era" '{"a":"1"}'
script t <<<'serve modern'
forget
run_matins call echo a=1 --no-list -v -- "$PEER" "$T/t.peer"
out_is "a peer of the newer era" '{"a":"1"}'
err_like "a peer of the newer era is found" 'MCP 2026-07-28'

done_testing
