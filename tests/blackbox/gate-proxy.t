#!/usr/bin/env bash
# A network of single hosts: what the proxy connects, what it refuses and
# names, and that nothing of it is left. In a network and a /etc/hosts of the
# test's own, where no packet leaves this machine.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"
. "$TOP/tests/blackbox/world.sh"
in_own_world
client_py=net_client.py

own_etc hosts <<'END'
127.0.0.1 localhost rebind.test
::1 localhost6.test
93.184.216.7 granted.test other.test a.wild.test wild.test xn--bcher-kva.test
93.184.216.1 own.wild.test
::ffff:93.184.216.1 own6.wild.test
10.9.9.9 private.test private.wild.test
169.254.169.254 meta.test
168.63.129.16 wire.test wire.wild.test
100.100.100.200 alibaba.test
fd00:ec2::254 meta6.test
::ffff:0:93.184.216.7 siit.wild.test
127.0.0.1 mixed.wild.test
93.184.216.7 mixed.wild.test
END
start_world

plain_http() {
	client "--net granted.test" get http://granted.test/x
	out_like "$who: a granted host answers" '^hello /x host=granted\.test '
	out_like "$who: its server is told to close" 'connection=close proxy=None'
	client "--net granted.test" get http://other.test/
	out_like "$who: another host is refused" '^status 403'
	out_like "$who: by the line that allows it" \
		'to allow it: sandbox = \{ net = \["other\.test:80"\] \}'
	denied "the report names the refused host" other.test:80
	client "--net granted.test" get http://granted.test:8443/
	out_like "$who: another port is refused" '^status 403'
	denied "the report names the refused port" granted.test:8443
	client "--net granted.test" get http://granted.test/to/other.test/
	out_like "$who: a redirect to another host is refused" '^status 403'
	denied "the report names the host of the redirect" other.test:80
	client "--net granted.test:8443" get http://granted.test:8443/
	out_like "$who: the host at its port" '^hello / host=granted\.test:8443'
	client "--net *.wild.test" get http://a.wild.test/
	out_like "$who: a name beneath a domain" '^hello / '
	client "--net *.wild.test" get http://wild.test/
	out_like "$who: not the domain itself" '^status 403'
	client "--net *.wild.test" get http://granted.test/
	out_like "$who: a granted domain opens no host outside it" '^status 403'
	client "--net :80 --net granted.test:8443" get http://other.test/
	out_like "$who: any public host at a port beside a host" '^hello / '
	client "--net :80 --net granted.test:8443" get http://other.test:8443/
	out_like "$who: at no other port" '^status 403'
	client "--net :80" get http://other.test/
	out_like "$who: a port alone is any public host at it" '^hello / '
	client "--net :80" get http://other.test:8443/
	out_like "$who: at no other port" '^status 403'
	denied "the report names host and port" other.test:8443
	client "--net nowhere.test" get http://nowhere.test/
	out_like "$who: no such host" '^status 502'
	client "--net granted.test:9" get http://granted.test:9/
	out_like "$who: nobody listens there" '^status 502'
}

addresses() {
	client "--net 93.184.216.7:8443" get http://93.184.216.7:8443/
	out_like "$who: an address that is listed" '^hello / '
	client "--net granted.test" get http://93.184.216.7/
	out_like "$who: the address of a granted name is refused" '^status 403'
	denied "the report names the refused address" 93.184.216.7:80
	for form in 0x5d.184.216.7 1572395015 93.184.55303 0135.184.216.7; do
		client "--net 93.184.216.7" raw \
			"GET http://$form/ HTTP/1.1\\r\\n\\r\\n"
		out_like "$who: not in the form $form" '^HTTP/1.1 400'
	done
	client "--net private.test" get http://private.test/
	out_like "$who: an exact name may be private" '^hello / '
	client "--net *.wild.test" get http://private.wild.test/
	out_like "$who: one of a domain may not" '^status 403'
	denied "the report names the private host of a domain" private.wild.test:80
	client "--net *.wild.test" get http://own.wild.test/
	out_like "$who: nor an address of this machine" '^status 403'
	client "--net *.wild.test" get http://own6.wild.test/
	out_like "$who: nor that as IPv6" '^status 403'
	client "--net :80 --net granted.test" get \
		"http://[::ffff:93.184.216.1]/"
	out_like "$who: nor as such by its port" '^status 403'
	client "--net :80 --net granted.test" get \
		"http://[::ffff:93.184.216.7]/"
	out_like "$who: a public address as IPv6" '^hello / '
	for to in 10.9.9.9 169.254.169.254 168.63.129.16 \
		'[::ffff:10.9.9.9]' '[::ffff:0:5db8:d807]' rebind.test \
		private.test meta.test own.wild.test; do
		client "--net :80" get "http://$to/"
		out_like "$who: a port alone does not lead to $to" '^status 403'
	done
	client "--net :80" connect 127.0.0.1:80
	out_like "$who: a port alone does not lead to this machine" \
		'^answer HTTP/1.1 403'
	expect blocked "a port alone has no way to another port" --net :80 -- \
		tcp 93.184.216.7 8443
	expect ok "without namespaces it is the network of the host" \
		--isolate off --net :80 -- tcp 10.9.9.9 80
	client "--net :80 --net granted.test" get http://10.9.9.9/
	out_like "$who: nor a private address by its port" '^status 403'
	client "--net rebind.test" get http://rebind.test/
	out_like "$who: a granted name that leads to loopback is refused" \
		'^status 403'
	json_file_is "$who: and no line allows it" "$W/report" \
		"denials[kind=net].name" rebind.test:80 \
		"denials[kind=net].allow" absent
	client "--net localhost6.test" get http://localhost6.test/
	out_like "$who: IPv6 as well" '^status 403'
	client "--net meta.test" get http://meta.test/
	out_like "$who: one that leads to the link is refused" '^status 403'
	for host in wire.test alibaba.test meta6.test; do
		client "--net $host" get "http://$host/"
		out_like "$who: $host, a metadata service, is refused" \
			'^status 403'
		json_file_is "$who: and no line allows its name" "$W/report" \
			"denials[kind=net].name" "$host:80" \
			"denials[kind=net].allow" absent
	done
	client "--net *.wild.test" get http://wire.wild.test/
	out_like "$who: nor beneath a domain" '^status 403'
	client "--net :80 --net granted.test" get http://168.63.129.16/
	out_like "$who: nor by its port" '^status 403'
	client "--net 168.63.129.16:80" get http://168.63.129.16/
	out_like "$who: a metadata service is reached by its address" '^hello /'
	client "--net *.wild.test" get http://siit.wild.test/
	out_like "$who: an address for translators is not public" '^status 403'
	client "--net *.wild.test" get http://mixed.wild.test/
	out_like "$who: of several addresses the public one is taken" '^hello / '
}

tunnels() {
	client "--net granted.test" connect granted.test:443
	out_like "$who: CONNECT to a granted host" '^answer HTTP/1.1 200'
	out_like "$who: a tunnel by CONNECT carries bytes" '^hello /through '
	client "--net granted.test" connect granted.test:8443
	out_like "$who: CONNECT to another port" '^answer HTTP/1.1 403'
	denied "the report names the host and port of a CONNECT" granted.test:8443
	client "--net granted.test" connect 127.0.0.1:80
	out_like "$who: CONNECT to the loopback of the host" \
		'^answer HTTP/1.1 403'
	client "--net granted.test" socks granted.test 443
	out_like "$who: SOCKS5 to a granted host" '^reply 0'
	out_like "$who: carries bytes, too" '^hello /socks '
	client "--net granted.test" socks other.test 443
	out_like "$who: SOCKS5 to another" '^reply 2'
	denied "the report names the host and port of SOCKS5" other.test:443
	client "--net granted.test" socks4 93.184.216.7 443
	out_like "$who: SOCKS5 to its address" '^reply 2'
	# shellcheck disable=SC1003
	client "--net granted.test" socks 'other.test\0.granted.test' 443
	out_like "$who: a NUL in the name" '^reply 2'
	client "--net *.granted.test" socks 'other.test\0.granted.test' 443
	out_like "$who: a NUL before a granted domain" '^reply 2'
	json_file_is "$who: is counted without its bytes" "$W/report" \
		"denials[kind=net].name" "?"
	client "--net granted.test:7000" echo granted.test:7000 3000000
	out_like "$who: much goes both ways, through half a close" '^same True'
	client "--net 127.0.0.1:7000" echo forward:127.0.0.1:7000 3000000
	out_like "$who: a port of the host's loopback is forwarded" '^same True'
	expect blocked "another is not" --net 127.0.0.1:7000 -- \
		tcp 127.0.0.1 8443
	gate --net '[::1]:7001' -- true
	exit_is "$who: a forward of IPv6 can be asked for" 0
}

bad_requests() {
	client "--net granted.test" raw 'GET / HTTP/1.1\r\nHost: granted.test\r\n\r\n'
	out_like "$who: a request without a target is refused" '^HTTP/1.1 400'
	client "--net granted.test" raw \
		'GET https://granted.test/ HTTP/1.1\r\n\r\n'
	out_like "$who: https without CONNECT" '^HTTP/1.1 400'
	client "--net granted.test" raw \
		'GET http://granted.test/ HTTP/1.1\r\nA: b\0c\r\n\r\n'
	out_like "$who: a NUL in a header" '^HTTP/1.1 400'
	client "--net granted.test" raw \
		'GET http://granted.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n'
	out_like "$who: the target counts, not Host" 'host=granted\.test '
	client "--net granted.test" raw \
		'GET http://granted.test@other.test/ HTTP/1.1\r\n\r\n'
	out_like "$who: a user before the host" '^HTTP/1.1 400'
	client "--net granted.test" raw "GET http://granted.test/ HTTP/1.1\\r\\n\
A: $(printf 'x%.0s' {1..20000})\\r\\n\\r\\n"
	out_like "$who: a head that is too large" '^HTTP/1.1 431'
	client "--net granted.test" raw "GET http://granted.test/ HTTP/1.1\\r\\n\
A: $(printf 'x%.0s' {1..15000})\\r\\n\\r\\n"
	out_like "$who: one that is not" '^HTTP/1.1 200'
	client "--net granted.test" raw '\x80\x01'
	out_like "$who: no protocol at all" '^HTTP/1.1 400'
}

# what_is_shut: probes that find something where nothing is shut
what_is_shut() {
	printf '%s\n' netlink mptcp "fastopen 93.184.216.7 8443" \
		"unix $T/world/sock" "abstract matins-world"
	[[ $who == user ]] || printf '%s\n' raw packet
}

# tries NET WORD
tries() {
	local probe

	while read -ra probe; do
		expect "$2" "${probe[0]}, net $1" --net "$1" -- "${probe[@]}"
	done < <(what_is_shut)
	expect "$2" "vsock, net $1" --net "$1" -- vsock
}

# The probes can fail: without the gate they find what they look for.
no_walls() {
	local probe

	while read -ra probe; do
		if [[ $who == root ]]; then
			run_program /dev/null "$PROBE" "${probe[@]}"
		else
			run_program /dev/null "${_setpriv[@]}" "$PROBE" \
				"${probe[@]}"
		fi
		out_like "$who: ${probe[0]} without the gate" '^escaped: '
	done < <(what_is_shut)
}

# What cannot be had through the network itself.
walls() {
	local net

	for net in none loopback :443 granted.test; do
		tries "$net" blocked
		expect blocked "UDP outside, net $net" --net "$net" -- \
			udp-to 93.184.216.7 9
	done
	tries all blocked
	expect ok "UDP with all" --net all -- udp-to 93.184.216.7 9
	expect blocked "past the proxy" --net granted.test -- \
		tcp 93.184.216.9 80
	client "--net granted.test" serve
	out_like "$who: a server of one's own" '^served own'
	expect ok "serving" --net granted.test -- serve
	gate --isolate off --net granted.test -- true
	exit_is "$who: without namespaces it is refused" 125
	err_like "$who: which says why" 'need a network namespace'
	gate --net granted.test --require netns --require net-ports -- true
	exit_is "$who: the namespace can be required" 0
	gate --net granted.test --require net-off -- true
	exit_is "$who: no network it is not" 125
	gate --net exa_mple..test -- true
	exit_is "$who: a row that is none" 64
	err_like "$who: the row that is no host is quoted" 'net: "exa_mple\.\.test"'
}

# What people use. Their own errors tell when it does not work.
programs() {
	gate --net granted.test -- curl -sS http://granted.test/c
	out_like "$who: curl reads from a granted host" '^hello /c '
	gate --net granted.test -- curl -sS -x "socks5h://127.0.0.1:23128" \
		http://granted.test/s
	out_like "$who: curl with SOCKS5" '^hello /s '
	gate --net granted.test -- curl -sS -d body http://granted.test/p
	out_like "$who: curl with a body" 'hello /p .* body=4$'
	gate --net granted.test -- curl -sSL http://granted.test/to/other.test/
	out_like "$who: curl follows to a refusal" 'net = \["other\.test:80"\]'
	gate --net granted.test -- printenv HTTPS_PROXY no_proxy
	out_is "$who: the environment says where" \
		"http://127.0.0.1:23128"$'\n'"localhost,127.0.0.1,::1"
	gate --net 127.0.0.1:23128 --net granted.test -- printenv ALL_PROXY
	out_is "$who: and moves for a forward" "http://127.0.0.1:23129"
	gate --net granted.test --env HTTP_PROXY=mine -- printenv HTTP_PROXY
	out_is "$who: what is declared stays" mine
	gate --net granted.test --exec git -- git -c init.defaultBranch=m \
		clone -q http://granted.test/file/repo.git cloned
	exit_is "$who: git clones from a granted host" 0
	gate --net granted.test --exec git -- git clone -q \
		http://other.test/file/repo.git cloned
	isnt "$who: git from elsewhere" "$status" 0
	if [[ -n $NODE ]] && "$NODE" -e 'process.exit(
		process.versions.node.split(".")[0] >= 24 ? 0 : 1)'; then
		gate --net granted.test -- "$NODE" -e \
			'fetch("http://granted.test/n").then(r => r.text())
			.then(t => console.log(t))'
		out_like "$who: node reads from a granted host" '^hello /n '
	else
		skip "$who: node reads from a granted host" "fetch takes a proxy from node 24 on"
	fi
}

# proxies_of PID: the proxies that this runner has started
proxies_of() {
	local pid

	for pid in $(children_of "$1"); do
		if grep -aq '^matins-proxy' "/proc/$pid/cmdline"; then
			echo "$pid"
		fi
	done
}

# children_of PID: one a line
children_of() {
	tr -s ' ' '\n' <"/proc/$1/task/$1/children"
} 2>/dev/null

# program_of PID: what this runner has started, the child of its init
program_of() {
	local init

	for init in $(children_of "$1"); do
		[[ $init == "$proxy" ]] || children_of "$init"
	done
}

# start_sleeper: `matins exec` of a program that waits; sets $runner, $proxy
start_sleeper() {
	local as=()

	[[ $who == root || $(id -u) -ne 0 ]] || as=("${_setpriv[@]}")
	"${as[@]}" "$BIN" exec --net granted.test -- sleep 300 \
		>/dev/null 2>&1 </dev/null &
	runner=$!
	wait_for 10 eval "[[ -n \$(proxies_of $runner) ]]"
	proxy=$(proxies_of "$runner")
	wait_for 10 eval "grep -qsx sleep /proc/\$(program_of $runner)/comm"
}

life() {
	start_sleeper
	like "$who: one proxy for one child" "$proxy" '^[0-9]+$'
	wait_for 10 grep -q '^Seccomp:.*2' "/proc/$proxy/status"
	ok "$who: it is confined" grep -q '^Seccomp:.*2' "/proc/$proxy/status"
	ok "$who: the proxy cannot gain privileges" grep -q '^NoNewPrivs:.*1' \
		"/proc/$proxy/status"
	ok "$who: the proxy holds no capabilities" grep -q '^CapPrm:[^1-9a-f]*$' \
		"/proc/$proxy/status"
	[[ $who == user ]] || ok "$who: the proxy runs as the user nobody" \
		grep -q '^Uid:.*65534' "/proc/$proxy/status"
	if [[ $(id -u) -eq 0 ]]; then
		is "$who: without an environment" "$(wc -c <"/proc/$proxy/environ")" 0
	fi
	kill -KILL "$runner"
	wait "$runner" 2>/dev/null
	ok "$who: a runner that was killed leaves none" \
		wait_for 10 eval "[[ ! -e /proc/$proxy/status ]]"
	start_sleeper
	kill -KILL "$(program_of "$runner")"
	wait "$runner" 2>/dev/null
	not_ok "$who: a program that ended leaves none" \
		test -e "/proc/$proxy/status"
	start_sleeper
	kill -KILL "$proxy"
	kill -TERM "$runner"
	wait "$runner" 2>/dev/null
	is "$who: a proxy that was killed stops no end" "$?" 143
}

crowds() {
	client "--net granted.test --processes 400" many 100
	out_like "$who: a hundred at once" '^answered 100'
	# takes as long as a silent connection may be, so not for everybody
	if [[ $who == user ]]; then
		client "--net granted.test" crowd 300
		out_like "$who: after three hundred silent connections" \
			'^hello /after '
	fi
	gate --net granted.test --report "$W/report" -- "$PYTHON" -c '
import os, socket
to = ("127.0.0.1", int(os.environ["HTTP_PROXY"].rsplit(":")[-1]))
for i in range(200):
    s = socket.create_connection(to)
    s.sendall(b"CONNECT h%d.test:1 HTTP/1.1\r\n\r\n" % (i % 100))
    s.recv(1)'
	json_file_is "$who: refused endpoints are bounded" "$W/report" \
		"denials[kind=net].name" h0.test:1 "denials[kind=net].count" 2 \
		denials_dropped 72
}

# The leash holds for hosts, too.
leash() {
	export MATINS_CAVEATS='{"fs_read":"all","fs_write":"all","exec":"all",
		"net":{"only":["granted.test","*.wild.test:80"]},
		"max_calls":"unlimited","valid_for_generation":"all"}'
	client "--net granted.test --net other.test" get http://granted.test/
	out_like "$who: a host of the leash" '^hello / '
	err_like "$who: what it takes away is said" 'net "other\.test": dropped'
	client "--net granted.test --net other.test" get http://other.test/
	out_like "$who: not a host beyond the leash" '^status 403'
	client "--net all" get http://a.wild.test/
	out_like "$who: of all, what the leash names" '^hello / '
	client "--net all" get http://other.test/
	out_like "$who: and nothing else" '^status 403'
	client "--net private.wild.test" get http://private.wild.test/
	out_like "$who: a name that the leash does not name exactly" \
		'^status 403'
	unset MATINS_CAVEATS
}

parallel() {
	cat >"$W/r.toml" <<-END
		[routines.r]
		description = "two at once"
		[[routines.r.steps]]
		name = "one"
		type = "script"
		command = "curl"
		args = ["-sS", "http://granted.test/one"]
		parallel = true
		sandbox = { net = ["granted.test"] }
		[[routines.r.steps]]
		name = "two"
		type = "script"
		command = "curl"
		args = ["-sS", "http://other.test/two"]
		parallel = true
		sandbox = { net = ["other.test"] }
		[[routines.r.steps]]
		name = "three"
		type = "script"
		command = "curl"
		args = ["-sS", "-f", "http://other.test/three"]
		parallel = true
		sandbox = { net = ["granted.test"] }
	END
	if [[ $who == user ]]; then
		as_user run_matins run -c "$W/r.toml" r --json
	else
		run_matins run -c "$W/r.toml" r --json
	fi
	json_is "$who: each step has its own" \
		step_results[0].state ok step_results[1].state ok \
		step_results[2].state failed
	out_like "$who: the refusal is in the report" '"other.test:80"'
}

all_of_it() {
	cp "$TOP/tests/blackbox/net_client.py" "$W/" && chmod 644 "$W/"*.py
	plain_http
	addresses
	tunnels
	bad_requests
	no_walls
	walls
	programs
	life
	crowds
	leash
	parallel
}

(
	cd "$T/world" && git init -q --bare repo.git && cd repo.git &&
		tree=$(git hash-object -t tree -w /dev/null) &&
		commit=$(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com \
			GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com \
			git commit-tree -m one "$tree") &&
		git update-ref "$(git symbolic-ref HEAD)" "$commit" &&
		git update-server-info
) || echo "# no repository"
both_users all_of_it
done_testing
