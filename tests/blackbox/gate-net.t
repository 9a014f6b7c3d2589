#!/usr/bin/env bash
# The network: none, an own one, single ports, all.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"

"$PYTHON" - "$T" <<'END' &
import os, socket, sys
s = [socket.socket() for _ in range(2)]
for one in s:
    one.bind(("127.0.0.1", 0))
    one.listen(99)
open(sys.argv[1] + "/ready.tmp", "w").write(
    "%d %d\n" % (s[0].getsockname()[1], s[1].getsockname()[1]))
os.rename(sys.argv[1] + "/ready.tmp", sys.argv[1] + "/ready")
while True:
    s[0].accept()[0].send(b"hello")
END
server=$!
trap 'kill $server 2>/dev/null; _finish' EXIT
wait_for 10 test -e "$T/ready" || echo "# the outside server is not there"
read -r port other <"$T/ready"

network() {
	local isolate

	for isolate in auto off; do
		expect blocked "none is none ($isolate)" \
			--isolate "$isolate" -- tcp 127.0.0.1 "$port"
		expect ok "all is all ($isolate)" --isolate "$isolate" \
			--net all -- tcp 127.0.0.1 "$port"
		expect ok "udp as well ($isolate)" --isolate "$isolate" \
			--net all -- udp
		expect blocked "but no raw sockets ($isolate)" \
			--isolate "$isolate" --net all -- raw
		expect blocked "another port ($isolate)" --isolate "$isolate" \
			--net ":$port" -- tcp 127.0.0.1 "$other"
		expect ok "serving with all ($isolate)" --isolate "$isolate" \
			--net all -- listen
	done
	expect ok "a port without namespaces" --isolate off \
		--net ":$port" -- tcp 127.0.0.1 "$port"
	expect blocked "serving beside it" --isolate off --net ":$port" -- listen
	expect blocked "serving beside port 53" --isolate off --net :53 -- listen
	expect blocked "udp past the port" --isolate off --net ":$port" -- udp
	gate --isolate off --net ":$port" --report "$W/report" -- true
	json_file_is "$who: which is any host, and said to be" "$W/report" \
		"enforced[guarantee=net-ports].level" partial \
		"enforced[guarantee=net-ports].how" '~private networks too'
	gate --isolate off --net ":$port" --require net-ports -- true
	exit_is "$who: and refused where ports are required" 125
	if has_view; then
		expect blocked "a port alone does not reach this machine" \
			--net ":$port" -- greeted 127.0.0.1 "$port"
		expect ok "its address does" --net "127.0.0.1:$port" -- \
			greeted 127.0.0.1 "$port"
		gate --net ":$port" --require net-ports --require netns -- true
		exit_is "$who: with namespaces ports are held to" 0
		expect ok "an own loopback" --net loopback -- serve
		expect blocked "reaches nobody else" --net loopback -- \
			tcp 127.0.0.1 "$port"
	else
		skip "$who: a port alone does not reach this machine" \
			"no namespaces"
		skip "$who: an own loopback" "no namespaces"
		skip "$who: reaches nobody else" "no namespaces"
	fi
	gate --isolate off --net loopback -- true
	exit_is "$who: loopback without namespaces is refused" 125
	gate --isolate off --net example.com -- true
	exit_is "$who: hosts without namespaces are refused" 125
}

both_users network
done_testing
