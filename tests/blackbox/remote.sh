# Remote servers for black-box tests, after lib.sh: remote_peer.py in the
# background, certificates, and what the peer saw.
#
#	make_certificates
#	start_peer plain "tls=$T/good.pem,$T/good.key"
#	run_matins call echo --url "http://127.0.0.1:${port[0]}/call-hang/mcp"
#	seen tools/call /call-hang/mcp		prints how many came
#
# shellcheck shell=bash
# shellcheck disable=SC2034

requests=$T/requests
peers=()

end_peers() {
	local pid

	for pid in "${peers[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	peers=()
}
trap 'end_peers; _finish' EXIT

# start_peer LISTENER...: their ports are in ${port[@]}
start_peer() {
	: >>"$requests"
	# of an earlier peer: the shell empties it in the background
	rm -f "$T/ports"
	"$PYTHON" -B "$TOP/tests/blackbox/remote_peer.py" "$requests" "$@" \
		>"$T/ports" 2>"$T/peer.log" &
	peers+=($!)
	wait_for 20 _has_lines "$T/ports" $# ||
		show_file "$T/peer.log" "the peer"
	mapfile -t port <"$T/ports"
}

_has_lines() {
	[[ -e $1 && $(wc -l <"$1") -ge $2 ]]
}

# seen METHOD [PATH]: how many requests came, of JSON-RPC or ("GET") of HTTP
seen() {
	"$PYTHON" - "$requests" "$1" "${2-}" <<'END'
import json, sys
n = 0
for line in open(sys.argv[1]):
    r = json.loads(line)
    if "refused" in r:
        continue
    n += (sys.argv[2] in (r["rpc"], r["method"], r["path"])
          and sys.argv[3] in ("", r["path"]))
print(n)
END
}

# certificate NAME DAYS SUBJECT-ALT-NAME [ISSUER]
certificate() {
	local issuer=(-CA "$T/ca.pem" -CAkey "$T/ca.key")

	[[ ${4-} != self ]] || issuer=(-signkey "$T/$1.key")
	[[ ${4-} != other ]] ||
		issuer=(-CA "$T/other-ca.pem" -CAkey "$T/other-ca.key")
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
		-subj "/CN=$1" -keyout "$T/$1.key" -out "$T/$1.csr" \
		2>/dev/null
	printf 'subjectAltName=%s\n' "$3" >"$T/$1.ext"
	openssl x509 -req -in "$T/$1.csr" -days "$2" -extfile "$T/$1.ext" \
		"${issuer[@]}" -CAcreateserial -out "$T/$1.pem" 2>/dev/null ||
		openssl x509 -req -in "$T/$1.csr" -days "$2" \
			-extfile "$T/$1.ext" "${issuer[@]}" \
			-out "$T/$1.pem" 2>"$T/openssl.log"
	chmod 644 "$T/$1.key"
}

authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
		-nodes -days 2 -subj "/CN=$1 of a test" \
		-addext keyUsage=critical,keyCertSign,cRLSign \
		-keyout "$T/$1.key" -out "$T/$1.pem" 2>"$T/openssl.log" ||
		show_file "$T/openssl.log"
}

# ca.pem and, of it: good, expired, elsewhere (another host name); and self
# and unknown, which are not
make_certificates() {
	authority ca
	authority other-ca
	certificate good 2 "IP:127.0.0.1,DNS:localhost${1:+,$1}"
	certificate expired -1 IP:127.0.0.1
	certificate elsewhere 2 "IP:127.0.0.9,DNS:example.com"
	certificate self 2 IP:127.0.0.1 self
	certificate unknown 2 IP:127.0.0.1 other
}
