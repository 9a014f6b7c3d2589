#!/usr/bin/env bash
# Where a server may send us: never to addresses that only we can reach. In a
# network and a /etc/hosts of the test's own, where the server lies on an
# address that counts as public, and something listens on all the others.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"
. "$TOP/tests/blackbox/world.sh"
in_own_world
public=185.43.12.7 other=185.43.12.9
own_etc hosts <<END
127.0.0.1 localhost inner.test
$public mcp.test
$other elsewhere.test
10.0.0.1 private.test
169.254.169.254 meta.test
::ffff:169.254.169.254 mapped.test
::ffff:127.0.0.1 mapped-inner.test
0.0.0.0 zero.test
END
peer=$TOP/tests/blackbox/remote_peer.py
"$PYTHON" -B "$peer" up "$public" "$other" 10.0.0.1 169.254.169.254 ||
	skip_all "no own network"
trap 'end_peers; _finish' EXIT
names=
for name in mcp elsewhere private meta mapped inner mapped-inner zero; do
	names+=,DNS:$name.test
done
for address in "$public" "$other" 10.0.0.1 169.254.169.254 127.0.0.2 0.0.0.0; do
	names+=,IP:$address
done
make_certificates "${names#,}"
start_peer "tls=$T/good.pem,$T/good.key@0.0.0.0#443" plain@0.0.0.0#80
printf 'mark-client-9f3b1c' >secret
chmod 600 secret

escaped() {
	local text=${1//%/%25}

	text=${text//:/%3A}
	text=${text//\//%2F}
	text=${text//\[/%5B}
	printf %s "${text//\]/%5D}"
}

# call_with FLAW [OPTIONS…]: a call that needs a token of such a server; by a
# client with a secret, or $client
call_with() {
	local flaw=$1

	shift
	: >"$requests"
	run_matins call echo n=1 --url "https://${host:-mcp.test}/oauth-$flaw/mcp" \
		--ca-file ca.pem --oauth-client-id me --timeout 10 \
		"${client[@]}" "$@"
}
robot=(--oauth-grant client_credentials --oauth-client-secret-file secret)
person=(--browser true)
client=("${robot[@]}")

# asked ADDRESS: how many requests came there
asked() {
	grep -cF "\"at\": \"$1:" "$requests"
}

# refused WHAT URL ADDRESS [OPTIONS…]: nothing comes to that address
refused() {
	call_with "$1~$(escaped "$2")" "${@:4}"
	exit_is "$1 to $2: 1" 1
	is "SEC-2: $1 to $2: nobody was asked there" "$(asked "$3")" 0
	err_unlike "$1 to $2: the secret is not said" 'mark-client'
	[[ $1 == *to ]] ||
		file_lacks "$1 to $2: the secret went nowhere" "$requests" \
			"$(printf 'me:mark-client-9f3b1c' | base64)"
}

# reached WHAT URL ADDRESS [OPTIONS…]
reached() {
	call_with "$1~$(escaped "$2")" "${@:4}"
	exit_is "$1 to $2: 0" 0
	isnt "$1 to $2: it was asked" "$(asked "$3")" 0
}

call_with ""
exit_is "all in one place: 0" 0
out_is "the answer of the server is printed" "called 1"
# its secret goes nowhere that only the server names
refused as https://elsewhere.test/as/oauth "$other"
err_like "what to add is said" 'issuer = "https://elsewhere.test/as/oauth"'
# a page of the other place needs the name of this one
reached as https://elsewhere.test/as/oauth "$other" \
	--oauth-issuer https://elsewhere.test/as/oauth

# a client without a secret gets as far as it may
for what in prm as token; do
	client=("${robot[@]}")
	[[ $what != as ]] || client=("${person[@]}")
	case $what in
	prm) path=/prm/oauth ;;
	as) path=/as/oauth ;;
	token) path=/as/oauth/token ;;
	esac
	refused $what "https://10.0.0.1$path" 10.0.0.1
	refused $what "https://private.test$path" 10.0.0.1
	refused $what "https://169.254.169.254$path" 169.254.169.254
	refused $what "https://meta.test$path" 169.254.169.254
	refused $what "https://[::ffff:169.254.169.254]$path" 169.254.169.254
	refused $what "https://mapped.test$path" 169.254.169.254
	refused $what "https://2852039166$path" 169.254.169.254
	refused $what "https://0xa9fea9fe$path" 169.254.169.254
	refused $what "https://localhost$path" 127.0.0.1
	refused $what "https://127.0.0.2$path" 127.0.0.2
	refused $what "https://inner.test$path" 127.0.0.1
	refused $what "https://[::ffff:127.0.0.1]$path" 127.0.0.1
	refused $what "https://mapped-inner.test$path" 127.0.0.1
	refused $what "https://0.0.0.0$path" 127.0.0.1
	refused $what "https://zero.test$path" 127.0.0.1
	refused $what "http://localhost$path" 127.0.0.1
	refused $what "http://elsewhere.test$path" "$other"
	refused $what "ftp://elsewhere.test$path" "$other"
	refused $what "file://$T/secret" "$other"
	refused $what "https://me:word@elsewhere.test$path" "$other"
done
client=("${robot[@]}")
for what in prmto tokento; do
	refused $what https://elsewhere.test/prm/oauth "$other"
	refused $what https://10.0.0.1/prm/oauth 10.0.0.1
	refused $what http://localhost/prm/oauth 127.0.0.1
done

# ---- where it is allowed ----

token=/as/oauth/token
refused token "https://private.test$token" 10.0.0.1
reached token "https://private.test$token" 10.0.0.1 --oauth-allow-private
refused token "https://meta.test$token" 169.254.169.254 --oauth-allow-private
host=private.test
reached token "https://10.0.0.1$token" 10.0.0.1
refused token "https://inner.test$token" 127.0.0.1
host=

# ---- redirects of calls ----

# redirected STATUS URL ADDRESS: the call stays where it is
redirected() {
	: >"$requests"
	run_matins call echo n=1 --ca-file ca.pem \
		--url "https://mcp.test/call-to~$1~$(escaped "$2")/mcp" \
		--header 'Authorization: Bearer mark-given-9f3b1c' \
		--header 'X-Api-Key: mark-key-9f3b1c'
	exit_is "a call redirected by $1 to $2: 1" 1
	err_like "the message names the place of the redirect" "$(sed 's/[][]/./g' <<<"${2%%\?*}")"
	is "HT-7: nothing was sent to that place" "$(asked "$3")" 0
}

for status in 301 302 303 307 308; do
	redirected $status https://elsewhere.test/ok/mcp "$other"
done
redirected 307 https://10.0.0.1/ok/mcp 10.0.0.1
redirected 307 http://localhost/ok/mcp 127.0.0.1
redirected 307 "http://mcp.test/ok/mcp" 127.0.0.1
redirected 307 "https://mcp.test:444/ok/mcp" 127.0.0.1
: >"$requests"
run_matins call echo n=1 --ca-file ca.pem --json \
	--url "https://mcp.test/call-to~307~%2Fok%2Fmcp/mcp" \
	--header 'Authorization: Bearer mark-given-9f3b1c'
exit_is "HT-7: a redirect within the server is followed: 0" 0
is "the redirected call carries the credential" "$(grep -c '"path": "/ok/mcp".*mark-given' \
	"$requests")" 1

# ---- plain http where it is allowed ----

# plain NAME STATUS ERE REQUESTS URL-OR-OPTIONS...: what is said, and how many
# requests came to the public address
plain() {
	: >"$requests"
	run_matins call echo n=1 "${@:5}"
	exit_is "$1: the call ends with status $2" "$2"
	err_like "$1: it is said" "$3"
	if [[ $4 == none ]]; then
		is "$1: nothing came there" "$(asked "$public")" 0
	else
		isnt "$1: it came there" "$(asked "$public")" 0
	fi
	file_lacks "$1: no credential came there" "$requests" mark-given-9f3b1c
}

key='Authorization: Bearer mark-given-9f3b1c'
at=http://mcp.test/ok/mcp
plain "plain http beyond loopback" 1 'write https.*insecure_http' none \
	--url "$at"
plain "plain http that is allowed" 0 \
	'warning: .*plain http to mcp.test: .*can be read' some \
	--url "$at" --insecure-http
out_is "plain http that is allowed: its answer" "called 1"
plain "plain http to a private address" 0 'plain http to private.test' none \
	--url http://private.test/ok/mcp --insecure-http
plain "plain http with a header" 1 'carry a credential.*insecure-credentials' \
	none --url "$at" --insecure-http -H "$key"
plain "plain http with a key in its query" 1 'carry a credential' none \
	--url "$at?api_key=mark-given-9f3b1c" --insecure-http
plain "credentials alone allow nothing" 1 'insecure_http' none --url "$at" \
	--insecure-credentials -H "$key"
plain "a server that wants a token" 1 'reached by plain http' some \
	--url http://mcp.test/oauth/mcp --insecure-http --browser true
is "a server that wants a token: no login begins" \
	"$(grep -c well-known "$requests")" 0
: >"$requests"
run_matins call echo n=1 --url "$at" --insecure-http --insecure-credentials \
	-H "$key"
exit_is "plain http with a header that is allowed, too: 0" 0
err_like "plain http with a header: it is said" 'credentials included'
isnt "plain http with a header: it came there" \
	"$(grep -c mark-given-9f3b1c "$requests")" 0
{
	printf '[servers.p]\nurl = "%s"\ninsecure_http = true\n' "$at"
	printf '%s\n' '[[routines.r.steps]]' 'name = "s"' \
		'type = "mcp-client"' 'server = "p"' 'tool = "echo"' \
		'params = { n = "1" }'
} >plain.toml
run_matins run -c plain.toml r --json
json_is "a step: ok, and in its report" step_results[0].output "called 1" \
	step_results[0].run.insecure_http true
err_like "a step: each run says it" 'warning: .*plain http to mcp.test'
sed -i '/^insecure/d' plain.toml
run_matins run -c plain.toml r --json
exit_is "a step without the key: 2" 2
json_is "a step without the key: denied" step_results[0].reason policy \
	step_results[0].error '~insecure_http'

# ---- plain http goes to loopback only, whatever a name says ----

printf '%s localhost x.localhost\n' "$public" >hosts
for name in localhost x.localhost; do
	: >"$requests"
	run_matins call echo --url "http://$name/ok/mcp" --insecure-http \
		--insecure-credentials \
		--header 'Authorization: Bearer mark-given-9f3b1c'
	is "a $name that leads elsewhere: nothing comes there" \
		"$(asked "$public")" 0
done

# ---- a name server that never answers ----

cat >dns.py <<'END'
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.53", 53))
print("ready", flush=True)
time.sleep(1000)
END
"$PYTHON" dns.py >dns.out &
peers+=($!)
wait_for 10 grep -q ready dns.out || echo "# there is no name server"
echo 'nameserver 127.0.0.53' >resolv.conf
if mount --bind "$T/resolv.conf" "$(realpath -m /etc/resolv.conf)"; then
	LIMIT_S=9 run_matins call echo --url https://nobody.test/mcp \
		--timeout 0.5 --json
	exit_is "a name that is looked up for ever: 1" 1
	json_is "a look-up without end ends in its time" error.kind deadline_initialize
	env --default-signal=INT timeout -k 5 9 "$BIN" call echo \
		--url https://nobody.test/mcp >"$out" 2>"$err" </dev/null &
	pid=$!
	sleep 0.3
	kill -INT $pid
	status=0
	wait $pid || status=$?
	exit_is "a look-up without end is ended by Ctrl-C" 130
	umount "$(realpath -m /etc/resolv.conf)"
else
	skip "a name that is looked up for ever" "no own /etc/resolv.conf"
fi

done_testing
