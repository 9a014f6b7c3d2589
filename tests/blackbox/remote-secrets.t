#!/usr/bin/env bash
# What a remote server was told in confidence: tokens, codes, verifiers,
# secrets of clients, ids of sessions, keys, headers. None of it is in what we
# say or keep, whatever the server does with it.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

start_peer plain plain@127.0.0.2
base=http://127.0.0.1:${port[0]}
# all secrets of this test have a common end, those of the peer as well
export API_KEY=mark-key-9f3b1c HEADER=mark-header-9f3b1c
printf 'mark-client-9f3b1c' >secret
chmod 600 secret
cat >browser <<'END'
#!/bin/sh
exec curl -sL -o /dev/null "$1"
END
chmod 755 browser

# nothing_told NAME: neither in the output of the last run nor in any file of
# ours is the mark, in clear, hex or base64, or a verifier or state of a login
nothing_told() {
	"$PYTHON" - "$requests" "$out" "$err" "$T/state" "$T/home" >"$T/.found" <<'END'
import base64, json, os, sys, urllib.parse
marks = {b"9f3b1c"}
for n in range(3):
    # the characters that the mark alone determines
    text = base64.b64encode(b"x" * n + b"9f3b1c" + b"x" * 9)
    marks.add(text[-(-8 * n // 6):8 * (n + 6) // 6])
marks.add(b"9f3b1c".hex().encode())
for line in open(sys.argv[1]):
    request = json.loads(line)
    for text in (request["text"], request["path"].partition("?")[2]):
        form = dict(urllib.parse.parse_qsl(text))
        for name in ("code_verifier", "state", "refresh_token", "code"):
            if form.get(name):
                marks.add(form[name].encode())
def files(path):
    if os.path.isfile(path):
        yield path
    for folder, _, names in os.walk(path):
        for name in names:
            yield os.path.join(folder, name)
for top in sys.argv[2:]:
    for path in files(top):
        text = open(path, "rb").read()
        for mark in marks:
            if mark in text:
                at = text.index(mark)
                print(path, mark, text[max(0, at - 99):at + 99])
END
	if [[ -s $T/.found ]]; then
		_fail "$1: no secret is told or kept"
		show_file "$T/.found" "what was found"
	else
		_pass "$1: no secret is told or kept"
	fi
}

# ---- logged in ----

url=$base/oauth/mcp
run_matins -v -v auth login --url "$url" --browser "$T/browser"
exit_is "a login ends with status 0" 0
nothing_told "TO-4: a login prints no secret"
run_matins -v -v call echo n=1 --url "$url"
exit_is "a call with its token: 0" 0
out_is "a call with a token prints its answer" "called 1"
nothing_told "a call prints no secret"
run_matins -v -v call echo n=1 --url "$url" --json
nothing_told "a call as JSON"
run_matins -v -v auth status --url "$url" --json
exit_is "auth status ends with status 0" 0
nothing_told "auth status prints no secret"
run_matins -v -v tools --url "$url" --json
nothing_told "tools prints no secret"
run_matins doctor --json
nothing_told "doctor prints no secret"
is "tokens are in files that nobody else can read" \
	"$(find state/matins/tokens -type f ! -perm 600)" ""
is "in a folder of that kind" "$(stat -c %a state/matins/tokens)" 700

for grant in "client_credentials --oauth-client-secret-file $T/secret" \
	"jwt-bearer --oauth-client-secret-file $T/secret \
	--oauth-assertion-file $T/secret"; do
	read -ra options <<<"$grant"
	run_matins -v -v call echo n=1 --url "$base/oauth-grant/mcp" \
		--oauth-client-id me --oauth-grant "${options[@]}" \
		--token-store "$T/state/other-${options[0]}"
	exit_is "a login by ${options[0]} works" 0
	nothing_told "a login by ${options[0]} prints no secret"
done

# ---- refused, with all that was sent in the sentence ----

run_matins -v -v auth login --url "$base/oauth-echo/mcp" \
	--browser "$T/browser"
exit_is "a token endpoint that gives back what it got: 1" 1
err_like "its sentence is there" 'invalid_grant.*code=\*\*\*'
nothing_told "TO-4: a refused login prints no secret"
run_matins -v -v call echo --url "$base/oauth-echo/mcp" --oauth-grant \
	client_credentials --oauth-client-id me \
	--oauth-client-secret-file secret --json
exit_is "a client with a wrong secret is refused" 1
json_is "the refusal is of kind auth in JSON" error.kind auth
nothing_told "a refused client prints no secret"
run_matins -v -v auth logout --url "$url"
exit_is "a logout ends with status 0" 0
nothing_told "a logout prints no secret"
run_matins -v -v call echo --url "$url" --json
exit_is "a call that needs a login: 1" 1
nothing_told "a call that needs a login"

# ---- a server that says all that it was told ----

echo mark-more-9f3b1c >"more"
chmod 600 more
{
	n=0
	for what in mirror mirrorerror mirror500 mirror400 mirrorlog \
		mirrorredirect cut hang noise; do
		key='api_key = { env = "API_KEY" }'
		((n++ % 2)) || key="token = { file = \"$T/secret\" }"
		cat <<-END
			[servers.$what]
			url = "$base/old_call-$what/mcp"
			headers = { X-Given = "\${HEADER}", X-More = { file = "$T/more" } }
			$key
			[[routines.r.steps]]
			name = "$what"
			type = "mcp-client"
			server = "$what"
			tool = "echo"
			timeout = 2
			parallel = true
		END
	done
} >c.toml
run_matins -v -v run -c c.toml r --json
exit_is "servers that repeat all they hear: 2" 2
nothing_told "SEC-10: the report as JSON"
json_is "what was taken out is marked" \
	step_results[0].output '~"authorization": "Bearer [*]{3}"' \
	step_results[0].run.scrubbed present
for key in mark-client mark-key mark-header mark-more; do
	isnt "the server had got $key" "$(grep -c $key "$requests")" 0
done
for view in "" --md --html --data; do
	# shellcheck disable=SC2086
	run_matins -v -v show last $view
	nothing_told "show $view prints no secret"
done
for what in mirror mirrorerror mirror500 mirror400 mirrorlog mirrorredirect; do
	run_matins -v -v call echo --server "$what" -c c.toml
	nothing_told "a call of $what prints no secret"
	run_matins -v -v call echo --server "$what" -c c.toml --json
	nothing_told "a call of $what with --json prints no secret"
	run_matins -v -v call echo --url "$base/call-$what/mcp" \
		--header "Authorization: Bearer $HEADER" \
		--header "X-Api-Key: $API_KEY"
	nothing_told "a call of $what with --header prints no secret"
done
run_matins -v -v call echo --url "$base/call-mirror500/mcp?key=$API_KEY"
exit_is "a key in the query of a URL: 1" 1
nothing_told "a key in the query of a URL"
run_matins history --json
nothing_told "history prints no secret"
run_matins golden record -c c.toml r --only mirror --dir golden
file_unlike "no secret is recorded" <(cat "$out" "$err"; cat golden/* 2>/dev/null
	echo) 9f3b1c

# ---- what a server chose is taken out of what is shown of that server ----

word=measured.and.found.good
cat >word.toml <<-END
	[servers.session]
	url = "$base/old_call-mirror_session-$word/mcp"
	[servers.token]
	url = "$base/oauth-is~${word}_call-mirror/mcp"
	[servers.token.auth]
	grant = "client_credentials"
	client_id = "me"
	client_secret = { file = "$T/secret" }
	[servers.other]
	url = "$base/ok/mcp"
	[[routines.r.steps]]
	name = "session"
	type = "mcp-client"
	server = "session"
	tool = "echo"
	[[routines.r.steps]]
	name = "token"
	type = "mcp-client"
	server = "token"
	tool = "echo"
	[[routines.r.steps]]
	name = "script"
	type = "script"
	command = "printf"
	args = ["%s", "$word"]
	[[routines.r.steps]]
	name = "other"
	type = "mcp-client"
	server = "other"
	tool = "echo"
	params = { n = "$word" }
	[[routines.r.steps]]
	name = "key"
	type = "script"
	command = "printf"
	args = ["%s", "mark-client-9f3b1c"]
END
run_matins run -c word.toml r --json
exit_is "servers that choose a word of others: 0" 0
json_is "a session's id is a word of another step, which keeps it" \
	step_results[2].output "$word" \
	step_results[3].output "called $word"
json_is "a word that a server sent is scrubbed from its answers" \
	step_results[0].output '~"mcp-session-id": "[*]{3}"' \
	step_results[1].output '~"authorization": "Bearer [*]{3}"'
json_is "a secret of the user's is taken out of every step" \
	step_results[4].output "***"
for view in "" --md --html --data; do
	# shellcheck disable=SC2086
	run_matins show last $view
	out_like "show $view: the word stays" "$word"
done
long=$(printf '%01024d' 0)
run_matins call echo n=1 --url "$base/old_session-$long/mcp"
exit_is "the id of a session has 1024 bytes: 0" 0
run_matins call echo n=1 --url "$base/old_session-0$long/mcp"
exit_is "a session id of one byte more is refused" 1
err_like "the message names the bound of a session id" 'a session id .* of more than 1024 bytes'
for bytes in 16384 16385; do
	run_matins call echo n=1 --url "$base/oauth-long~$bytes/mcp" \
		--oauth-client-id me --oauth-grant client_credentials \
		--oauth-client-secret-file "$T/secret"
	exit_is "a token of $bytes bytes: $((bytes > 16384))" \
		"$((bytes > 16384))"
done
err_like "the message names the bound of an access token" 'access_token of more than 16384 bytes'

# ---- redirects do not take them along ----

there=http%3A%2F%2F127.0.0.2%3A${port[1]}%2Fok%2Fmcp
for status in 301 302 303 307 308; do
	for phase in first list call; do
		run_matins call echo --header "Authorization: Bearer $HEADER" \
			--header "X-Api-Key: $API_KEY" \
			--url "$base/$phase-to~$status~$there/mcp"
		is "HT-7: $phase redirected by $status: nobody was asked there" \
			"$(grep -c '"at": "127.0.0.2:' "$requests")" 0
	done
done

# ---- what the leash says of hosts ----

leash() {
	printf '{"fs_read":"all","fs_write":"all","exec":"all","net":{"only":[%s]},"max_calls":"unlimited","valid_for_generation":"all"}' "$1"
}
as_there=http%3A%2F%2F127.0.0.2%3A${port[1]}%2Fas%2Foauth
client=(--oauth-grant client_credentials --oauth-client-id me
	--oauth-client-secret-file secret)
for what in prm as token; do
	case $what in
	prm) to=http%3A%2F%2F127.0.0.2%3A${port[1]}%2Fprm%2Foauth ;;
	as) to=$as_there ;;
	token) to=$as_there%2Ftoken ;;
	esac
	MATINS_CAVEATS=$(leash "\"127.0.0.1:${port[0]}\"") run_matins call \
		echo --url "$base/oauth-$what~$to/mcp" "${client[@]}" --json
	exit_is "the leash caps $what, too: 1" 1
	json_is "$what: as a matter of the leash" error.message '~127\.0\.0\.2'
	is "$what: nobody was asked there" \
		"$(grep -c '"at": "127.0.0.2:' "$requests")" 0
done
MATINS_CAVEATS=$(leash "\"127.0.0.1:1\"") run_matins call echo \
	--url "$base/ok/mcp-leash"
exit_is "the leash caps the server itself: 1" 1
is "a server that the leash leaves out is not asked" "$(grep -c mcp-leash "$requests")" 0
MATINS_CAVEATS=$(leash "\"127.0.0.1:${port[0]}\",\"127.0.0.2:${port[1]}\"") \
	run_matins call echo --url "$base/oauth-as~$as_there/mcp" \
	"${client[@]}" --oauth-issuer "http://127.0.0.2:${port[1]}/as/oauth" \
	--json
exit_is "a call works with both hosts in the leash" 0

# ---- two that refresh at once ----

url=$base/oauth-short/mcp
run_matins auth login --url "$url" --browser "$T/browser"
exit_is "a login whose token ends at once: 0" 0
pids=()
for n in 1 2 3; do
	"$BIN" call echo n=$n --url "$url" >"answer-$n" 2>&1 </dev/null &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	ok "a call of several at once" wait "$pid"
done
is "each has its answer" "$(cat answer-1 answer-2 answer-3)" \
	"$(printf 'called %s\n' 1 2 3)"
is "TO-5: the token was refreshed once" \
	"$(grep -c '"text": "[^"]*grant_type=refresh_token' "$requests")" 1

# ---- tokens that cannot be kept, or opened any more ----

url=$base/oauth-kept/mcp
store=(--token-store "$T/state/kept" --store-key file)
login() {
	run_matins auth login --url "$url" --browser "$T/browser" "$@"
}

login "${store[@]}"
exit_is "a login, its key in a file: 0" 0
for lost in tokens key; do
	for file in state/kept/*.sealed; do
		[[ $lost == tokens ]] && truncate -s 60 "$file"
	done
	[[ $lost == tokens ]] ||
		find state/kept -type f ! -name '*.sealed' -delete
	run_matins call echo --url "$url" "${store[@]}"
	exit_is "$lost that are lost: 1" 1
	err_like "$lost: what to do" 'auth login'
	login "${store[@]}"
	exit_is "$lost: a login puts it right: 0" 0
	err_like "$lost: what is given up is said" 'given up'
	run_matins call echo n=1 --url "$url" "${store[@]}"
	exit_is "$lost: and a call goes: 0" 0
	nothing_told "$lost that were lost"
done
for n in 1 2; do
	run_matins call echo n=1 --url "$base/oauth-machine/mcp" \
		"${client[@]}" "${store[@]}"
	exit_is "a client that needs nobody, $n: 0" 0
	for file in state/kept/*.sealed; do
		truncate -s 60 "$file"
	done
done
is "gets a new token where the old one is damaged" \
	"$(grep -c 'POST.*"/as/oauth-machine/token".*client_credentials' \
		"$requests")" 2
: >file
login --token-store "$T/file"
exit_is "a login that would be lost: 1" 1
err_like "the message says that tokens are not kept" 'tokens are not kept'
err_unlike "nobody is sent to a page for it" 'login page'

# ---- memory ----

"$BIN" call echo --url "$base/call-hang/mcp-core" \
	--header "Authorization: Bearer $HEADER" >"$out" 2>"$err" </dev/null &
pid=$!
wait_for 10 grep -q mcp-core "$requests"
like "no core is written" "$(grep 'core file size' /proc/$pid/limits)" \
	'size +0 +0 '
kill -TERM $pid
wait $pid
if [[ $(id -u) -eq 0 ]]; then
	as_user "$BIN" call echo --url "$base/call-hang/mcp-dump" \
		>"$out" 2>"$err" </dev/null &
else
	"$BIN" call echo --url "$base/call-hang/mcp-dump" \
		>"$out" 2>"$err" </dev/null &
fi
pid=$!
wait_for 10 grep -q mcp-dump "$requests"
is "nobody may look into the process" "$(stat -c %u \
	"/proc/$(pgrep -P $pid -f mcp-dump || echo $pid)/environ")" 0
kill -TERM $(pgrep -P $pid -f mcp-dump) $pid 2>/dev/null
wait $pid

done_testing
