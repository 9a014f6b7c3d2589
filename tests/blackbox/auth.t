#!/usr/bin/env bash
# `matins auth`: a login by a browser, by a person who pastes, by a client of
# its own; what is kept of it and shown; and how it fails.
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

export MATINS_STATE=$T/st MATINS_CONFIG=$T/empty.toml
: >empty.toml

coproc AUTHORITY {
	exec "$PYTHON" "$TOP/tests/helpers/authority.py" 2>"$T/authority.err"
}
authority=$AUTHORITY_PID said=${AUTHORITY[0]} tell=${AUTHORITY[1]}
trap 'kill "$authority" 2>/dev/null; _finish' EXIT

# scenario JSON: $url is its endpoint; what was asked before is forgotten
scenario() {
	local line

	echo "$1" >&"$tell"
	while read -r -t 20 line <&"$said"; do
		[[ $line == port* ]] && break
	done
	url=http://127.0.0.1:${line#port }/mcp
}

# What it was asked since, into the file asked.
asked() {
	local line

	: >asked
	while read -r -t 0.5 line <&"$said"; do
		echo "$line" >>asked
	done
}

cat >browser <<-END
	#!$PYTHON
	import sys, urllib.request
	urllib.request.urlopen(sys.argv[1]).read()
END
chmod 755 browser

# ---- nothing is there ----

run_matins auth status
exit_is "nothing is kept: no error" 0
err_like "a message says that no login is stored" 'no server has a stored login'
run_matins auth status --json
json_is "auth status --json lists no server then" servers '#0'
not_ok "auth status creates no folder of tokens" test -e "$MATINS_STATE/tokens"

run_matins auth logn notes
exit_is "no such word: wrong usage" 64
err_like "a word that is no command leads to the nearest one" 'login, status or logout; did you mean login'

# ---- a server that wants no login ----

nowhere='"docs":{"/.well-known/oauth-protected-resource/mcp":null,'
nowhere+='"/.well-known/oauth-authorization-server":null}'
scenario "{$nowhere,\"mcp\":[{\"status\":400}]}"
run_matins auth login --url "$url" --store-key file --browser ./browser
exit_is "a server that asks for no login: 1" 1
err_like "that is said, with what it answered" 'wants no login.*status 400'
asked
file_lacks "nobody is registered there" asked '/register'
scenario "{$nowhere}"
run_matins auth login --url "$url" --store-key file --browser ./browser
exit_is "one that asks without naming anybody: the default paths" 0
run_matins auth logout --url "$url"

# ---- nobody is there ----

scenario '{"server":true}'
run_matins auth login --url "$url" --store-key file
exit_is "no terminal and no browser: 1" 1
err_like "what to do: a terminal, a program" 'terminal.*--browser'
err_like "the message also offers a client of its own" 'client_credentials'
asked
is "a login that cannot be made asks the server nothing" "$(<asked)" ""
run_matins call echo --url "$url" --store-key file
exit_is "a call without a token: 1" 1
err_like "the message names the command that logs in" "matins auth login --url $url"
run_matins call echo --url "$url" --store-key file --json
json_is "the error is of kind auth in JSON" error.kind auth

# ---- a login by a browser ----

run_matins auth login --url "$url" --store-key file --browser ./browser
exit_is "a login by a browser: 0" 0
out_is "the message names the server that is logged in to" "logged in to $url"
asked
file_like "the page was opened" asked '^GET /authorize'
run_matins call echo --url "$url" --store-key file
exit_is "a call works after the login" 0
run_matins auth status --url "$url" --store-key file
exit_is "the status of a login ends with 0" 0
out_like "the status says that it is logged in" 'logged in'
out_like "the status names the issuer" "issuer +${url%/mcp}"
file_lacks "the status lacks the access token" "$out" access-1
file_lacks "the status lacks the refresh token" "$out" refresh-1
not_ok "the token stands in no file" grep -r access-1 "$MATINS_STATE"
is "what is kept is the user's alone" \
	"$(find "$MATINS_STATE/tokens" -type f ! -perm 600)" ""
cat >named.toml <<END
[servers.notes]
url = "$url"
[servers.notes.auth]
store_key = "file"
[servers.program]
command = "true"
END
run_matins call echo -c named.toml --server notes
exit_is "a server of that URL does not have the token: 1" 1
pasted=$(sed -n 's/.* run `matins \(.*\)`, or give.*/\1/p' "$err")
is "the message names the login by the server's name" "$pasted" \
	"auth login -c $(realpath named.toml) notes"
# shellcheck disable=SC2086 # words of a command
run_matins $pasted --browser ./browser
exit_is "a login by the server's name works, as it was pasted" 0
run_matins auth logout --url "$url" --store-key file
exit_is "what the URL alone had is forgotten: 0" 0
asked
file_like "a logout revokes the token of its server" asked '^POST /revoke .*refresh-1'
file_unlike "a logout revokes no other token" asked '^POST /revoke .*refresh-2'
run_matins auth status -c named.toml --json
json_is "all servers: it has its name" servers[0].server notes
json_is "the list of logins has one server" servers '#1'
json_is "the list names the URL of the server" servers[0].url "$url"
json_is "the list names the state of the login" servers[0].state logged_in
run_matins auth status
exit_is "all servers, in words: 0" 0
out_like "the name, in whichever configuration it is" '^notes: logged in'
out_like "a login of no configuration in use is marked" 'not in the configuration'
run_matins auth status notes -c named.toml --json
json_is "one by its name" server notes state logged_in
run_matins call echo -c named.toml --server notes
exit_is "by name its own token is sent: 0" 0
run_matins auth logout notes -c named.toml
exit_is "a logout of a server by its name ends with 0" 0
asked
file_like "a logout by name revokes its token" asked '^POST /revoke .*refresh-2'
run_matins auth status notes -c named.toml
exit_is "then there is none: 1" 1
out_like "the status says that nobody is logged in" 'not logged in'
run_matins auth logout notes -c named.toml
exit_is "logout where nothing is kept: 0" 0
out_is "a logout without a login names the server" 'nothing was stored for notes'
run_matins call echo -c named.toml --server notes
exit_is "a call fails after the logout" 1
err_like "the message after a logout names the login by name" 'matins auth login .* notes'
cp named.toml "$HOME/a b.toml"
run_matins call echo -c "$HOME/a b.toml" --server notes
err_like "a configuration in HOME is named so that a shell finds it" \
	"matins auth login -c ~/'a b.toml' notes"
mkdir -p "$XDG_CONFIG_HOME/matins"
cp named.toml "$XDG_CONFIG_HOME/matins/config.toml"
MATINS_CONFIG='' run_matins call echo --server notes
err_like "one that is found need not be named" 'matins auth login notes'
rm "$XDG_CONFIG_HOME/matins/config.toml"

# ---- two servers of one URL ----

scenario '{"server":true}'
cat >two.toml <<END
[servers.alice]
url = "$url"
auth = { store_key = "file" }
[servers.bob]
url = "$url"
auth = { store_key = "file" }
[[routines.r.steps]]
name = "a"
type = "mcp-client"
server = "alice"
tool = "echo"
parallel = true
[[routines.r.steps]]
name = "b"
type = "mcp-client"
server = "bob"
tool = "echo"
parallel = true
END
run_matins auth login alice -c two.toml --browser ./browser
exit_is "alice logs in: 0" 0
run_matins call echo -c two.toml -s bob
exit_is "bob is not authorized by that: 1" 1
err_like "bob is told the command that logs in" 'matins auth login -c [^ ]*two.toml bob'
run_matins call echo --url "$url" --store-key file
exit_is "a call by the URL alone fails, too" 1
run_matins auth status bob -c two.toml
exit_is "bob's status has nothing of alice's: 1" 1
run_matins run -c two.toml r --json
exit_is "in one run: alice's step works, bob's does not" 2
json_is "the step of alice succeeds" "step_results[0].state" ok
json_is "the step of bob fails for its authorization" "step_results[1].reason" auth
printf 'the-secret-of-the-robot\n' >robot.secret
chmod 600 robot.secret
run_matins call echo -c two.toml -s alice --oauth-grant client_credentials \
	--oauth-client-id robot --oauth-client-secret-file robot.secret
exit_is "a client without a person at the same server: 0" 0
asked
run_matins call echo -c two.toml -s alice
exit_is "alice is logged in as before: 0" 0
asked
file_like "alice's call carries her own token" asked 'authorization=Bearer_access-1'
file_unlike "alice's call lacks the robot's token" asked 'access-2'
run_matins auth login bob -c two.toml --browser ./browser
exit_is "bob logs in: 0" 0
asked
run_matins run -c two.toml r --json
exit_is "in one run each has a session of its own: 0" 0
asked
file_like "one with alice's token" asked 'access-1'
file_like "bob's session carries bob's token" asked 'access-3'
run_matins auth logout bob -c two.toml
asked
file_like "bob's logout revokes his token" asked '^POST /revoke .*refresh-3'
file_unlike "bob's logout leaves alice's token alone" asked 'refresh-1'
run_matins call echo -c two.toml -s alice
exit_is "alice is logged in still: 0" 0
sed 's/alice/alicia/' two.toml >renamed.toml
run_matins call echo -c renamed.toml -s alicia
exit_is "a server that is renamed logs in again: 1" 1
run_matins auth status -c renamed.toml
out_like "its old name is listed as such" '^alice: logged in'
out_like "the renamed server is in no configuration" 'not in the configuration'
run_matins auth logout alice -c two.toml
exit_is "a login is logged out by its old name" 0

scenario '{"server":true,"authorize":{"error":"access_denied","code":null}}'
run_matins auth login --url "$url" --store-key file --browser ./browser
exit_is "the person refuses: 1" 1
err_like "the message names the refusal of the person" 'access_denied'

# ---- a client of its own, as in CI ----

printf 'the-secret-of-the-client\n' >client.secret
chmod 600 client.secret
scenario '{"server":true,"as":{"token_endpoint_auth_methods_supported":["client_secret_basic"]}}'
ci=(--url "$url" --store-key file --oauth-grant client_credentials
	--oauth-client-id ci --oauth-client-secret-file client.secret)
run_matins call echo "${ci[@]}"
exit_is "client credentials need no login" 0
run_matins auth login "${ci[@]}"
exit_is "a login with them needs nobody" 0
cat >ci.toml <<END
[servers.ci]
url = "$url"
[servers.ci.auth]
grant = "client_credentials"
client_id = "ci"
client_secret = { file = "client.secret" }
store_key = "file"
[[routines.r.steps]]
name = "one"
type = "mcp-client"
server = "ci"
tool = "echo"
END
run_matins run -c ci.toml r --json
exit_is "a routine logs in as a client of its own" 0
file_lacks "the secret is not in the report" "$out" the-secret-of-the-client

run_matins check ci.toml
exit_is "check of a secret without an issuer: a warning" 0
err_like "the warning has the line to add" \
	'warning: server "ci": without .issuer. its client_secret .*issuer = "'

sed "s|^client_id|issuer = \"https://as.example\"\ntoken_endpoint = \"http://as.example/token\"\n&|" ci.toml >clear.toml
run_matins check ci.toml
err_unlike "check of a server without token_endpoint says nothing of it" 'token_endpoint is not https'
run_matins check clear.toml
exit_is "check of a token_endpoint in clear: a warning" 0
err_like "check of a token_endpoint in clear: said" 'warning: server "ci": token_endpoint is not https, so each login is refused'
run_matins doctor -c clear.toml r
exit_is "doctor of a token_endpoint in clear: status 1" 1
out_like "doctor of a token_endpoint in clear: said" 'ci: token_endpoint is not https'
sed 's|^client_id|idp_token_endpoint = "http://idp.example/token"\n&|' ci.toml >idp.toml
run_matins doctor -c idp.toml r
out_like "doctor of an idp_token_endpoint in clear: said" 'ci: idp_token_endpoint is not https'
sed -i 's|http://as.example/token|http://127.0.0.1:9/token|' clear.toml
run_matins check clear.toml
err_unlike "on this machine it may be http" 'token_endpoint is not https'

# ---- its secret, and a server that names an authorization server ----

scenario '{"server":true,"prm":{"authorization_servers":["{other}"]},"as":{"issuer":"{other}","token_endpoint":"{other}/token"}}'
other=${url/127.0.0.1/localhost} other=${other%/mcp}
sed "s|^url = .*|url = \"$url\"|; s|^client_id|issuer = \"$other\"\n&|" \
	ci.toml >issuer.toml
grep -v '^issuer' issuer.toml >without.toml
run_matins run -c without.toml r --json
exit_is "a secret and no issuer: the step fails" 2
json_is "the step fails for its authorization" "step_results[0].reason" auth
out_like "the line to add has what the server names" \
	"issuer = [^ ]*$other"
asked
file_unlike "the secret was not sent" asked 'POST /token'
run_matins run -c issuer.toml r --json
exit_is "a routine with an issuer in its configuration works" 0
run_matins check issuer.toml
err_unlike "check is silent about a configuration with an issuer" 'issuer'
run_matins call echo --url "$url" --store-key file --json \
	--oauth-grant client_credentials --oauth-client-id ci \
	--oauth-client-secret-file client.secret --token-store "$T/tokens2"
exit_is "without a configuration: refused as well" 1
out_like "the message names the option for the issuer" 'oauth-issuer'

# ---- a server without discovery, and a refresh token to begin with ----

printf 'seed-of-the-first-tokens\n' >seed.token
chmod 600 seed.token
scenario "{\"server\":true,\"seed\":\"seed-of-the-first-tokens\",$nowhere}"
cat >bare.toml <<END
[servers.bare]
url = "$url"
[servers.bare.auth]
client_id = "me"
token_endpoint = "${url%/mcp}/token"
refresh_token = { file = "seed.token" }
store_key = "file"
[[routines.r.steps]]
name = "one"
type = "mcp-client"
server = "bare"
tool = "echo"
END
run_matins check bare.toml
exit_is "check of a seeded server: fine" 0
err_unlike "check wants no issuer beside a token_endpoint" 'issuer'
run_matins servers -c bare.toml --json
json_is "servers: a seeded server needs no login" "servers[0].state" \
	'!needs login'
run_matins run -c bare.toml r --json </dev/null
exit_is "a routine begins with the refresh token" 0
file_lacks "the refresh token is not in the report" "$out" seed-of-the-first
asked
file_like "the refresh token went to the token endpoint" asked \
	'^POST /token client_id=me grant_type=refresh_token refresh_token=seed-of'
file_unlike "no document of the server was asked for" asked '^GET /\.well-known'
run_matins run -c bare.toml r --json </dev/null
exit_is "the tokens that followed are kept" 0
asked
file_unlike "and no other is asked for" asked '^POST /token'
run_matins auth status bare -c bare.toml
out_like "auth status shows the login" 'bare'
rm seed.token
run_matins run -c bare.toml r --json </dev/null
json_is "without its file the step is skipped" "step_results[0].reason" \
	no_credential

scenario "{\"server\":true,$nowhere}"
named=(--url "$url" --store-key file --oauth-client-id me)
run_matins call echo "${named[@]}" --oauth-token-endpoint "${url%/mcp}/token"
exit_is "a token endpoint without a way to a token: 1" 1
err_like "the message names the keys" 'authorization_endpoint or refresh_token'
run_matins auth login "${named[@]}" --browser ./browser \
	--oauth-token-endpoint "${url%/mcp}/token" \
	--oauth-authorization-endpoint "${url%/mcp}/authorize"
exit_is "a login at endpoints that are named" 0
run_matins auth logout "${named[@]}"

# ---- a key in the URL ----

scenario '{"server":true}'
run_matins auth login --url "$url?key=hidden-in-the-query" --store-key file \
	--browser ./browser
exit_is "a login with a key in the URL" 0
file_lacks "the query is not shown" "$out" hidden-in
file_lacks "the query is not shown on stderr" "$err" hidden-in
run_matins call echo --url "$url?key=hidden-in-the-query" --store-key file
out_is "what the server repeats of it is hidden" 'at /mcp?key=***'
run_matins auth status
file_lacks "the query is not shown in the list" "$out" hidden-in
run_matins auth status --url "$url?key=hidden-in-the-query" --json \
	--store-key file
json_is "the query is not shown in a status" url "$url"

# ---- what cannot be read ----

run_matins auth status --json
exit_is "all servers can be read: 0" 0
before=$(json_get servers | "$PYTHON" -c 'import json, sys
print(len(json.load(sys.stdin)))')
# a token; of the record of the last client it is known by its head
one=$(grep -La 'last http' "$MATINS_STATE"/tokens/*.sealed | head -n 1)
last=$(grep -la 'last http' "$MATINS_STATE"/tokens/*.sealed | head -n 1)
printf '\0\0\0\0' | dd of="$one" bs=1 seek=$(($(stat -c %s "$one") - 4)) \
	conv=notrunc status=none
run_matins auth status --json
exit_is "one that cannot: 1" 1
json_is "the others are listed all the same" servers "#$before"
file_has "a broken login is listed with a remedy" "$out" '"state":"broken","error":'
run_matins auth status
out_like "a broken login has a remedy in words" 'cannot be read: .*matins auth login (--url http:|[a-z])'
printf '\0\0\0\0' | dd of="$last" bs=1 seek=$(($(stat -c %s "$last") - 4)) \
	conv=notrunc status=none
run_matins auth status --json
json_is "the record of the last client is listed when it cannot" servers \
	"#$((before + 1))"

# ---- a person at a terminal, the browser elsewhere ----

cat >person.py <<'END'
"""person.py LINE...: log in at a terminal; {page} is the address at which the
browser would end. Prints what the terminal showed."""
import os, pty, re, select, sys, time, urllib.error, urllib.request

class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None

def page(url):
    try:
        urllib.request.build_opener(Stay).open(url)
    except urllib.error.HTTPError as e:
        return e.headers["Location"]

child, fd = pty.fork()
if child == 0:
    os.execv(os.environ["BIN"], [os.environ["BIN"], "auth", "login", "--url",
             os.environ["URL"], "--store-key", "file",
             *os.environ["MORE"].split()])
seen, lines, end = "", sys.argv[1:], time.monotonic() + 30
while time.monotonic() < end:
    if not select.select([fd], [], [], 0.2)[0]:
        continue
    try:
        got = os.read(fd, 65536).decode(errors="replace")
    except OSError:
        break
    if not got:
        break
    seen += got
    link = re.search(r"(http://\S+/authorize\?\S+)\s", seen)
    if link and ("waiting" in seen or os.environ["MORE"]) and lines:
        for line in lines:
            os.write(fd, (line.replace("{page}", page(link[1])) + "\n").encode())
        lines = []
sys.stdout.write(seen.replace("\r", ""))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END
# person LINE...: into $out and $status
person() {
	BIN=$BIN URL=$url MORE=${more-} run_program /dev/null "$PYTHON" \
		person.py "$@"
}

scenario '{"server":true}'
person 'well' '' '{page}'
exit_is "the address is pasted: 0" 0
out_like "how is said before" 'paste the address'
out_like "the page is shown" '/authorize\?'
out_like "what is no address is told as such" 'not the address'
out_like "then it is logged in" "^logged in to $url"
out_unlike "nothing of that is a warning" 'warning'
scenario '{"server":true}'
more=-q person '{page}'
exit_is "a login with -q ends with status 0" 0
out_like "the page is shown all the same" 'open this page'
out_unlike "a login with -q prints nothing but the page" 'paste|waiting'
scenario '{"server":true}'
person 'http://127.0.0.1:1/callback?code=code-1&state=another' '{page}'
exit_is "the answer to another question does not end it: 0" 0
out_like "an answer to another login is called one" 'belongs to another login'
out_like "the right answer logs in after a wrong one" "^logged in to $url"

# ---- wrong usage ----

run_matins auth
exit_is "auth without a command is a usage error" 64
run_matins auth login
exit_is "login of nothing: 64" 64
err_like "the message asks for a server" 'name a server'
run_matins auth login notes more -c named.toml
exit_is "a login of two servers is a usage error" 64
run_matins auth login program -c named.toml
exit_is "a login of a server that is a program is a usage error" 64
err_like "the message names env as the way for programs" 'env'
run_matins auth login note -c named.toml
exit_is "an unknown server: 1" 1
err_like "the message names the nearest server" 'did you mean notes'

done_testing
