#!/usr/bin/env bash
# Remote servers that are none, are elsewhere, or refuse: what is said of it,
# and what is not shown.
# shellcheck source=tests/blackbox/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

export MATINS_STATE=$T/st MATINS_CONFIG=$T/empty.toml
: >empty.toml

coproc ODD { exec "$PYTHON" "$TOP/tests/helpers/odd_http.py" 2>"$T/odd.err"; }
odd=$ODD_PID
trap 'kill "$odd" ${tls-} 2>/dev/null; _finish' EXIT
read -r -t 20 port <&"${ODD[0]}"
at=http://127.0.0.1:$port

# refuses NAME URL ERE [OPTION...]: status 1, and the sentence
refuses() {
	local name=$1 url=$2 ere=$3

	shift 3
	run_matins tools --url "$url" "$@"
	exit_is "$name: the command fails" 1
	err_like "$name: the message explains the failure" "$ere"
}

# ---- nobody is there ----

refuses "a host that does not exist" https://no-such-host.invalid/mcp \
	'no-such-host.invalid.*(no address|spelled)'
refuses "an address where nobody listens" http://127.0.0.1:1/mcp \
	'127.0.0.1:1: .*(refused).*is the server running'

# ---- secrets of options over those of the configuration ----

printf 'a client has one' >one.secret
chmod 600 one.secret
cat >secrets.toml <<'END'
[servers.s]
url = "http://127.0.0.1:1/mcp"
[servers.s.auth]
client_id = "known"
client_secret = { file = "one.secret" }
idp_client_secret = { file = "one.secret" }
END
run_matins tools -c secrets.toml --server s \
	--oauth-client-secret-file one.secret \
	--idp-client-secret-file one.secret
err_like "each goes over the one of the table" 'cannot be connected to'
run_matins tools -c secrets.toml --server s \
	--oauth-client-secret-file one.secret \
	--oauth-private-key-file one.secret --idp-client-secret-file one.secret
exit_is "a secret and a key: 1" 1
err_like "is one too many" 'a secret or a private key, not both'

# ---- no MCP server ----

refuses "a path that is not there" "$at/404" \
	'404.*is this the MCP endpoint\? many end in /mcp'
refuses "a path with that end" "$at/404/mcp" 'is this the MCP endpoint\?( \(HTTP.SSE|$)'
refuses "a URL of a web page" "$at/page" \
	'web page: Welcome; is this the MCP endpoint\?'
err_unlike "its source is not shown" '<'
refuses "a login for browsers" "$at/login" 'sso.example.com/login.*login for'
err_unlike "the message leaves out the query of the login" 'hidden-in-it'
refuses "a URL that has moved" "$at/moved" \
	'mcp.example.com/v2".*if that is the server, use its URL'
refuses "a server that broke down" "$at/500" 'HTTP status 500.*it broke down'
err_unlike "nothing was done by asking" 'outcome is unknown'

# ---- it refuses ----

refuses "a server that asks for a token" "$at/401" "matins auth login --url $at/401"
refuses "a token of the command line" "$at/401" \
	'refuses the token that was given.*not renewed.*it was taken back' \
	--header 'Authorization: Bearer the-token-of-mine'
err_unlike "the refused token is not shown" 'the-token-of-mine'
refuses "a server that refuses another header" "$at/401" 'headers that were given do not do' \
	--header 'X-API-Key: the-token-of-mine'
err_unlike "the value of a header is not shown" 'the-token-of-mine'
refuses "a thing that is not for us" "$at/403" 'forbids.*not for you'
refuses "a token that does not permit the call" "$at/403" 'forbids this to the token' \
	--header 'Authorization: Bearer the-token-of-mine'
export THE_TOKEN=the-token-of-mine
cat >token.toml <<END
[servers.mine]
url = "$at/401/\${THE_TOKEN}/mcp"
token = { env = "THE_TOKEN" }
[[routines.r.steps]]
name = "one"
type = "mcp-client"
server = "mine"
tool = "echo"
END
run_matins run -c token.toml r --json
exit_is "a routine fails with a refused token" 2
json_is "its reason is auth" step_results[0].reason auth
json_is "the step has the sentence about the token" step_results[0].error '~refuses the token'
file_lacks "a variable in the path of a URL is not shown" "$out" \
	the-token-of-mine
json_is "a value in a URL is replaced where it stands" step_results[0].run.url "$at/401/***/mcp"

# ---- a key in the query ----

cat >key.toml <<END
[[routines.k.steps]]
name = "one"
type = "mcp-client"
server = "keyed"
tool = "echo"
[servers.keyed]
url = "$at/500?api_key=the-key-of-mine&mode=read-only"
END
for command in 'run -c key.toml k --json' 'run -c key.toml k -v --html' \
	'tools -c key.toml --server keyed -v' 'doctor -c key.toml k --deep' \
	'history --json' 'show last --json' \
	"tools --url $at/404?api_key=the-key-of-mine -v" \
	"tools --url $at/401?api_key=the-key-of-mine --json"; do
	# shellcheck disable=SC2086
	run_matins $command
	cat "$out" "$err" >both
	file_lacks "a key in the query: matins ${command/--url*\?/--url ...?}" \
		both the-key-of-mine
done
not_ok "a key in the query is not in the state directory" grep -r the-key-of-mine \
	"$MATINS_STATE"

# ---- TLS ----

if [[ -z $NODE ]] || ! type -P openssl >/dev/null; then
	skip "servers over TLS are refused with reasons" "node or openssl is not installed"
	done_testing
fi
mkdir tls
# it ends with its input, which ends with this test
tail --pid=$$ -f /dev/null 2>/dev/null |
	exec "$NODE" "$TOP/tests/servers/tls.mjs" "$T/tls" >ports 2>tls.err &
tls=$!
wait_for 30 grep -q = ports
ports=$(<ports)

# tls_refuses NAME SERVER ERE [OPTION...]
tls_refuses() {
	local name=$1 number=${ports#*"$2"=} ere=$3

	shift 3
	refuses "$name" "https://localhost:${number%% *}/mcp" "$ere" "$@"
}

tls_refuses "a certificate of an unknown authority" good 'certificate.*--ca-file FILE'
tls_refuses "one that is named" good 'is this the MCP endpoint|HTTP status' \
	--ca-file tls/ca.pem
tls_refuses "a certificate that has expired" expired 'expired.*renew' \
	--ca-file tls/ca.pem
tls_refuses "a certificate of another name" wrong 'name that it is for' \
	--ca-file tls/ca.pem
tls_refuses "an old version of TLS" old '1\.2 or later' --ca-file tls/ca.pem
refuses "TLS where there is none" "https://127.0.0.1:$port/mcp" 'TLS failed'
tls_refuses "authorities that are not there" good 'missing.pem' \
	--ca-file missing.pem

done_testing
