#!/usr/bin/env bash
# TLS: what is accepted, each way that it is not, and that neither an option
# nor the environment changes who is trusted or who gets the credentials.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/remote.sh"

make_certificates
start_peer plain "tls=$T/good.pem,$T/good.key" \
	"old-tls=$T/good.pem,$T/good.key" \
	"tls=$T/expired.pem,$T/expired.key" \
	"tls=$T/elsewhere.pem,$T/elsewhere.key" \
	"tls=$T/self.pem,$T/self.key" "tls=$T/unknown.pem,$T/unknown.key"
plain=${port[0]} good=${port[1]} old=${port[2]}
good_url=https://127.0.0.1:$good/ok/mcp

# call_url URL OPTIONS…: one call with a credential
call_url() {
	local url=$1

	shift
	run_matins call echo n=1 --url "$url" --timeout 10 \
		--header 'Authorization: Bearer mark-given-9f3b1c' "$@"
}

# ---- accepted ----

call_url "$good_url" --ca-file ca.pem
exit_is "HT-9: a server of an authority that --ca-file names: 0" 0
out_is "the answer over TLS is printed" "called 1"
call_url "https://localhost:$good/ok/mcp" --ca-file ca.pem
exit_is "a server is accepted by its name, too" 0
cat other-ca.pem ca.pem >both.pem
call_url "$good_url" --ca-file both.pem
exit_is "a file of several authorities: 0" 0
cat >c.toml <<END
[servers.good]
url = "$good_url"
ca_file = "ca.pem"
[servers.bare]
url = "$good_url"
[[routines.r.steps]]
name = "known"
type = "mcp-client"
server = "good"
tool = "echo"
params = { n = "7" }
[[routines.r.steps]]
name = "unknown"
type = "mcp-client"
server = "bare"
tool = "echo"
[[routines.r.steps]]
name = "again"
type = "mcp-client"
server = "good"
tool = "echo"
END
run_matins run -c c.toml r --json
exit_is "the key ca_file in a routine: 2, for the server without it" 2
json_is "the one with it is ok" step_results[0].output "called 7"
json_is "the one without is not" step_results[1].reason transport
json_is "the step after it runs" step_results[2].state ok

# ---- refused ----

# refused NAME PORT [ERE] [SCHEME]: no request comes through
refused() {
	local before

	before=$(wc -l <"$requests")
	call_url "${4:-https}://127.0.0.1:$2/ok/mcp" --ca-file ca.pem
	exit_is "$1: the connection is refused" 1
	err_like "$1: the message gives the reason" "${3:-certificate is not accepted}"
	is "$1: no request came" "$(wc -l <"$requests")" "$before"
}

refused "RW-112: a server with an expired certificate" "${port[3]}" 'expired'
refused "RW-112: a server with the certificate of another host" "${port[4]}"
refused "one that signed itself" "${port[5]}" 'self.signed'
refused "one of an unknown authority" "${port[6]}"
refused "nothing newer than TLS 1.1" "$old" 'TLS failed.*1\.2 or later'
ok "the old server does speak TLS 1.1" bash -c \
	"openssl s_client -connect 127.0.0.1:$old -tls1_1 \
	-cipher ALL:@SECLEVEL=0 </dev/null | grep -q 'Protocol  *: TLSv1.1'"
refused "plain HTTP where TLS is due" "$plain" 'TLS failed'
refused "TLS where plain HTTP is due" "$good" 'ended without' http

run_matins call echo --url "$good_url"
exit_is "without the authority: 1" 1
run_matins call echo --url "$good_url" --ca-file other-ca.pem
exit_is "a server of another authority is refused" 1
run_matins call echo --url "$good_url" --ca-file nothing.pem
exit_is "a CA file that does not exist is refused" 1
err_like "the message names the missing CA file" 'nothing\.pem'
run_matins call echo --url "$good_url" --ca-file good.key
exit_is "a CA file without a certificate is refused" 1
err_like "the message says that the file holds no certificate" 'no certificate'
for option in --insecure -k --no-verify --tls-skip-verify; do
	run_matins call echo --url "$good_url" "$option"
	exit_is "the option $option does not exist" 64
done
for key in 'insecure = true' 'verify = false' 'tls = "off"'; do
	printf '[servers.s]\nurl = "%s"\n%s\n' "$good_url" "$key" >key.toml
	run_matins check key.toml
	exit_is "the key $key does not exist" 1
done

# ---- the environment ----

# with NAME=VALUE…: in it, call the server, whose authority is not named
with() {
	local before

	before=$(wc -l <"$requests")
	run_program /dev/null env "$@" "$BIN" call echo --url "$good_url" \
		--timeout 10
	exit_is "${1%%=*} makes nobody trusted: 1" 1
	is "${1%%=*}: no request came" "$(wc -l <"$requests")" "$before"
}

with SSL_CERT_FILE="$T/ca.pem"
with CURL_CA_BUNDLE="$T/ca.pem"
with REQUESTS_CA_BUNDLE="$T/ca.pem" NODE_EXTRA_CA_CERTS="$T/ca.pem"
with NODE_TLS_REJECT_UNAUTHORIZED=0 GIT_SSL_NO_VERIFY=1 PYTHONHTTPSVERIFY=0
printf 'insecure\ncacert = %s/ca.pem\n' "$T" >home/.curlrc
cp home/.curlrc config/curlrc
with CURL_HOME="$T/home"
cat >openssl.cnf <<'END'
openssl_conf = init
[init]
ssl_conf = ssl
[ssl]
system_default = any
[any]
VerifyMode = None
MinProtocol = TLSv1
CipherString = ALL:@SECLEVEL=0
END
with OPENSSL_CONF="$T/openssl.cnf"
run_program /dev/null env OPENSSL_CONF="$T/openssl.cnf" "$BIN" call echo \
	--url "https://127.0.0.1:$old/ok/mcp" --ca-file ca.pem
exit_is "OPENSSL_CONF does not allow TLS 1.1: 1" 1

: >"$requests"
for name in https_proxy HTTPS_PROXY ALL_PROXY all_proxy http_proxy; do
	proxy+=("$name=http://127.0.0.1:$plain")
done
run_program /dev/null env "${proxy[@]}" "$BIN" call echo n=2 \
	--url "$good_url" --ca-file ca.pem \
	--header 'Authorization: Bearer mark-given-9f3b1c'
exit_is "a call works with a proxy in the environment" 0
out_is "the server itself was asked" "called 2"
is "the proxy of the environment was not asked" "$(grep -c . "$requests")" \
	"$(grep -c "127.0.0.1:$good" "$requests")"

: >"$requests"
printf 'machine 127.0.0.1 login someone password mark-netrc-9f3b1c\n' \
	>home/.netrc
printf 'default login someone password mark-netrc-9f3b1c\n' >>home/.netrc
chmod 600 home/.netrc
run_program /dev/null env NETRC="$T/home/.netrc" "$BIN" call echo \
	--url "$good_url" --ca-file ca.pem
exit_is "a call works with a .netrc" 0
file_unlike "the .netrc gives no credentials to the server" "$requests" \
	'authorization|c29tZW9uZ|mark-netrc'

run_program /dev/null env SSLKEYLOGFILE="$T/keylog" "$BIN" call echo \
	--url "$good_url" --ca-file ca.pem
exit_is "a call works with SSLKEYLOGFILE set" 0
not_ok "the keys of the session are not written" test -e keylog

done_testing
