#!/usr/bin/env bash
# A network of single hosts for programs that know no proxy: names that resolve
# and connect, others that do not, and what the report says of them. In a
# network, a name server and a /etc/hosts of the test's own, where no packet
# leaves this machine.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/blackbox/gate.sh"
. "$TOP/tests/blackbox/world.sh"
in_own_world
client_py=name_client.py
mkdir "$T/world"
cat >"$T/world/zone" <<'END'
granted.test 93.184.216.7
other.test 93.184.216.7
a.wild.test 93.184.216.7
private.test 10.9.9.9
private.wild.test 10.9.9.9
own.wild.test 93.184.216.1
meta.test 169.254.169.254
turns.test 93.184.216.7 127.0.0.1
nobody.test 93.184.216.7
END
own_etc hosts <<'END'
127.0.0.1 localhost
::1 localhost
93.184.216.8 listed.test
10.9.9.9 base.test
END
own_etc resolv.conf <<'END'
nameserver 10.9.9.9
search lan.test
END
start_world

granted_and_not() {
	client "--net granted.test" get granted.test 80
	out_is "$who: a granted name connects" "granted.test 80 HTTP/1.1 200 OK"
	client "--net granted.test" get other.test 80
	out_unlike "$who: another does not" '200'
	denied "the name that was looked up is named" other.test
	client "--net granted.test" get granted.test 8443
	out_is "$who: a port that is not granted is refused at once" \
		"granted.test 8443 refused"
	denied "it is named with its name" granted.test:8443
	client "--net granted.test" get 93.184.216.7 80
	out_is "$who: the address of a granted name is refused at once" \
		"93.184.216.7 80 refused"
	denied "an address is named" 93.184.216.7:80
	client "--net granted.test" get 198.18.0.2 80 198.18.0.1 80
	out_is "$who: an address leads to its own name only" \
		"198.18.0.2 80 refused"$'\n'"198.18.0.1 80 HTTP/1.1 200 OK"
	client "--net granted.test:8443" get granted.test 8443 granted.test 80
	out_is "$who: a name at its port alone" \
		"granted.test 8443 HTTP/1.1 200 OK"$'\n'"granted.test 80 refused"
	client "--net *.wild.test" get a.wild.test 80 wild.test 80
	out_like "$who: a name beneath a domain" '^a\.wild\.test 80 HTTP/1.1 200'
	denied "the domain itself is not" wild.test
	client "--net :80" get other.test 80 other.test 8443
	out_is "$who: a port alone is any public name at it" \
		"other.test 80 HTTP/1.1 200 OK"$'\n'"other.test 8443 refused"
	denied "not at another port" other.test:8443
	client "--net :80" get 93.184.216.9 80 10.9.9.9 80
	out_is "$who: and any public address, no private one" \
		"93.184.216.9 80 HTTP/1.1 200 OK"$'\n'"10.9.9.9 80 reset"
	client "--net 10.9.9.9:8443" get 10.9.9.9 8443 10.9.9.9 80
	out_is "$who: an address of the list" \
		"10.9.9.9 8443 HTTP/1.1 200 OK"$'\n'"10.9.9.9 80 refused"
	client "--net nowhere.test --net nobody.test:9" get nowhere.test 80 \
		nobody.test 9
	out_is "$who: a name that leads nowhere, and to nobody, is a reset" \
		"nowhere.test 80 reset"$'\n'"nobody.test 9 reset"
	json_file_is "$who: which is no refusal, and said" "$W/report" \
		denials "#0" advice "#2" \
		unreached[0] "nowhere.test:80: the name does not resolve here" \
		unreached[1] "nobody.test:9: connection refused"
	err_like "$who: in the end" '^matins: nobody.test:9: connection refused$'
	err_unlike "$who: without advice" 'to allow it|matins trace'
}

# The loopback of the child is not the machine's, where 8443 is served and 9 is
# not.
services() {
	client "--net 127.0.0.1:9" get 127.0.0.1 9 localhost 9
	out_is "$who: a service that is down refuses, as outside" \
		"127.0.0.1 9 refused"$'\n'"localhost 9 refused"
	json_file_is "$who: which is no refusal of the gate" "$W/report" \
		"denials[kind=net]" absent unreached "#1" \
		unreached[0] "127.0.0.1:9: connection refused"
	at_level landlock-abi=9
	client "--net 127.0.0.1:9" get 127.0.0.1 9
	out_is "$who: a reset where the kernel keeps the sockets" \
		"127.0.0.1 9 reset"
	json_file_is "$who: which is said as well" "$W/report" \
		denials "#0" unreached[0] "127.0.0.1:9: connection refused"
	at_level
	client "--net 127.0.0.1:8443" get 127.0.0.1 8443
	out_is "$who: one that is there answers" \
		"127.0.0.1 8443 HTTP/1.1 200 OK"
	json_file_is "$who: and nothing is said" "$W/report" unreached absent
	for net in 127.0.0.1:9 loopback; do
		client "--net $net" get 127.0.0.1 8443 ::1 9
		out_is "$who: one that is not granted ($net)" \
			"127.0.0.1 8443 refused"$'\n'"::1 9 refused"
		denied "is named, whoever asks" 127.0.0.1:8443
		json_file_is "$who: and nothing else ($net)" "$W/report" \
			denials "#1" unreached absent
	done
	client "--net loopback" serve 8443
	out_is "$who: the child finds itself at its port" "served own"
	json_file_is "$who: which nobody refused" "$W/report" denials "#0"
	cat >"$W/late.py" <<-'END'
	import socket
	for host, family in (("127.0.0.1", 2), ("::ffff:127.0.0.1", 10)):
	    s = socket.socket(family)
	    s.setblocking(False)
	    s.connect_ex((host, 8443))
	END
	chmod 644 "$W/late.py"
	gate --net loopback --report "$W/report" -- "$PYTHON" "$W/late.py"
	denied "one that does not wait is named as well" 127.0.0.1:8443
	json_file_is "$who: and counted" "$W/report" "denials[0].count" 2
	asked_for_later
}

# Services of this machine are looked up when the child has ended: one that
# began to listen after the last connection is named, with all of them, and one
# that stopped before the end is not. So no answer waited for a look-up.
asked_for_later() {
	local turning before after

	cat >"$W/asks.py" <<-'END'
	import os, socket, sys, time
	folder, ports = sys.argv[1], [int(p) for p in sys.argv[2:]]
	for i in range(5000):
	    s = socket.socket()
	    s.connect_ex(("127.0.0.1", ports[i % len(ports)]))
	    s.close()
	open(folder + "/asked", "w").close()
	while not os.path.exists(folder + "/turned"):
	    time.sleep(0.01)
	END
	cat >"$W/serves.py" <<-'END'
	import os, socket, sys, time
	folder, s = sys.argv[1], [socket.socket() for i in range(2)]
	for x in s:
	    x.bind(("127.0.0.1", 0))
	s[0].listen()
	with open(folder + "/ports.new", "w") as f:
	    print(*(x.getsockname()[1] for x in s), file=f)
	os.rename(folder + "/ports.new", folder + "/ports")
	def wait(name):
	    for i in range(6000):
	        if os.path.exists(folder + "/" + name):
	            break
	        time.sleep(0.01)
	wait("asked")
	s[0].close()
	s[1].listen()
	open(folder + "/turned", "w").close()
	wait("ended")
	END
	mkdir -p "$W/turns"
	chmod 777 "$W/turns"
	chmod 644 "$W/asks.py"
	"$PYTHON" "$W/serves.py" "$W/turns" &
	turning=$!
	wait_for 30 test -e "$W/turns/ports"
	read -r before after <"$W/turns/ports"
	gate --net loopback --write "$W/turns" --report "$W/report" -- \
		"$PYTHON" "$W/asks.py" "$W/turns" "$before" "$after"
	true >"$W/turns/ended"
	wait "$turning"
	denied "a service is looked up in the end" "127.0.0.1:$after"
	json_file_is "$who: once, for each connection" "$W/report" \
		denials "#1" "denials[0].count" 2500
}

where_names_lead() {
	client "--net private.test" get private.test 80
	out_is "$who: an exact name may be private" \
		"private.test 80 HTTP/1.1 200 OK"
	client "--net *.wild.test" get private.wild.test 80
	out_is "$who: one of a domain may not" "private.wild.test 80 reset"
	denied "the row would be its exact name" private.wild.test:80
	client "--net *.wild.test" get own.wild.test 80
	out_is "$who: nor be an address of this machine" "own.wild.test 80 reset"
	client "--net meta.test" get meta.test 80
	out_is "$who: no name leads to a metadata service" "meta.test 80 reset"
	json_file_is "$who: and no row allows it" "$W/report" \
		"denials[kind=net].name" meta.test:80 \
		"denials[kind=net].allow" absent
	# whichever it is this time, the other comes next
	client "--net turns.test" get turns.test 80 turns.test 80
	like "$who: a name that changes its address is judged each time" \
		"$(sort "$out" | tr '\n' ' ')" \
		'turns.test 80 HTTP/1.1 200 OK turns.test 80 reset'
}

questions() {
	local all_of=('?granted.test' '?GRANTED.test' '?other.test')

	for to in 10.9.9.9 127.0.0.53 8.8.8.8 ::1 2001:db8::53; do
		client "--net granted.test" ask "$to" "${all_of[@]}"
		out_is "$who: the resolver is at $to" \
			"code 0 198.18.0.1"$'\n'"code 0 198.18.0.1"$'\n'"code 3 no address"
	done
	client "--net granted.test" ask-tcp 127.0.0.53 "${all_of[@]}"
	out_is "$who: and speaks TCP" \
		"code 0 198.18.0.1"$'\n'"code 0 198.18.0.1"$'\n'"code 3 no address"
	# pointers, two questions, a name that is cut short, NUL in a label
	client "--net :80" ask 127.0.0.1 \
		010201000001000000000000c00c00010001 \
		010201000002000000000000016100000100010162000001 \
		0102010000010000000000003f61 \
		0102010000010000000000000361006200000100 \
		01020100000100000000000003610062000001 \
		0102010000010000000000000361006204746573740000010001 \
		'?still.test'
	out_is "$who: hostile questions have no address" "code 1 no address
code 1 no address
code 1 no address
code 1 no address
code 1 no address
code 3 no address
code 0 198.18.0.1"
	client "--net granted.test" lookup granted.test localhost other.test
	out_like "$who: the C library finds granted names" \
		'^granted\.test 198\.18\.0\.1$'
	out_like "$who: and oneself" '^localhost (127\.0\.0\.1 )?::1|^localhost 127'
	json_file_is "$who: a search list adds no names" "$W/report" \
		denials_dropped absent "denials[kind=net].name" other.test \
		"denials[name=other.test.lan.test]" absent
	client "--net granted.test" flood 100
	json_file_is "$who: refused names are bounded" "$W/report" \
		"denials[kind=net].name" h0.refused.test denials "#64" denials_dropped "!0"
}

# Nothing of a question leaves: refused names are never looked up, and granted
# ones when somebody connects.
silence() {
	rm -f "$T/world/asked"
	client "--net granted.test --net *.wild.test" lookup granted.test \
		secret-1234.wild.test secret-1234.test secret-1234.granted.test
	out_like "$who: names were asked for" '^secret-1234\.wild\.test 198'
	not_ok "$who: no question leaves the machine" \
		grep -E 'granted|wild|secret' "$T/world/asked"
	client "--net granted.test" get granted.test 80
	file_like "$who: a connection looks its name up" "$T/world/asked" \
		'^granted\.test 1$'
}

bytes_and_crowds() {
	client "--net granted.test:7000" echo granted.test 7000 3000000
	out_is "$who: much goes both ways, through half a close" same
	client "--net granted.test:7000 --files 4096" many granted.test 7000 1000
	out_is "$who: a thousand connections at once" "answered 1000"
	client "--net granted.test:7000" serve 7000
	out_is "$who: the port of a granted name can be served" "served own"
	client "--net 127.0.0.1:7000 --net granted.test:7000" echo 127.0.0.1 \
		7000 100000
	out_is "$who: beside a forward of that port" same
}

# try NAME COMMAND...: with its host granted it gets there, else it is named
try() {
	local name=$1 port=$2 wanted=$3

	shift 3
	gate --net "granted.test:$port" --report "$W/report" -- "$@"
	_run_like "$who: $name reaches a granted host" <(cat "$out" "$err") \
		"$wanted" 0
	gate --net listed.test --report "$W/report" -- "$@"
	_run_like "$who: $name reaches no other" <(cat "$out" "$err") \
		"$wanted" 1
	denied "the host of $name is named" granted.test
}

programs() {
	try python 80 'HTTP/1.1 200' "$PYTHON" "$W/name_client.py" get \
		granted.test 80
	try "curl without a proxy" 80 '^hello /c ' curl -sS --noproxy '*' \
		http://granted.test/c
	if [[ -n $NODE ]]; then
		try "fetch of node" 80 '^hello /f ' "$NODE" -e \
			'fetch("http://granted.test/f").then(r => r.text())
			.then(t => console.log(t))'
		try "dns.resolve4 of node" 80 '198.18.0.1' "$NODE" -e \
			'require("dns").promises.resolve4("granted.test")
			.then(a => console.log(a))'
	else
		skip "$who: fetch of node" "no node"
	fi
	if [[ -x $T/fetch ]]; then
		try "a static program of Go" 80 '^hello /g ' "$T/fetch" \
			http://granted.test/g
	else
		skip "$who: a static program of Go" "no Go here"
	fi
	if [[ -x $T/musl ]]; then
		try "a static program of musl" 80 '^HTTP/1.. 200' "$T/musl" \
			granted.test 80
	else
		skip "$who: a static program of musl" "no musl-gcc here"
	fi
	if [[ -e $T/get.jar ]]; then
		try java 80 '^HTTP/1.. 200.* 200$' java -Xshare:auto \
			-cp "$T/get.jar" Get granted.test 80
	else
		skip "$who: java" "no JDK here"
	fi
	if [[ -x /usr/bin/nc ]]; then
		try nc 80 'succeeded' nc -zv granted.test 80
	else
		skip "$who: nc" "no nc here"
	fi
	if [[ -x /usr/bin/psql ]]; then
		try psql 5432 'hello from the database' psql \
			-h granted.test -U nobody -d none -c 'select 1'
	else
		skip "$who: psql" "no PostgreSQL client here"
	fi
}

# A trace with a port alone tells the hosts that a program needs.
traces() {
	local as=()

	[[ $who == root || $(id -u) -ne 0 ]] || as=(as_user)
	"${as[@]}" run_matins trace --net :80 -- curl -sS \
		http://granted.test/ http://other.test/
	out_like "$who: a trace names hosts" '^	"granted\.test", # curl, 1 time$'
	out_like "$who: each of them" '^	"other\.test", # curl, 1 time$'
	out_unlike "$who: and no name server" ':53'
}

all_of_it() {
	cp "$TOP/tests/blackbox/name_client.py" "$W/" && chmod 644 "$W/"*.py
	granted_and_not
	services
	where_names_lead
	questions
	silence
	bytes_and_crowds
	programs
	traces
}

# A program without the C library, and with the resolver of its own.
if command -v go >/dev/null; then
	cat >"$T/fetch.go" <<'END'
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	http.DefaultTransport.(*http.Transport).Proxy = nil
	r, err := http.Get(os.Args[1])
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	io.Copy(os.Stdout, r.Body)
}
END
	# its library takes seconds to compile; once is enough
	cache=$TOP/build/go-cache
	[[ -w $TOP/build ]] || cache=$T/go-cache
	GOCACHE=$cache GO111MODULE=off CGO_ENABLED=0 \
		go build -o "$T/fetch" "$T/fetch.go" || echo "# Go does not build"
	[[ $cache != "$T"/* ]] || rm -rf "$cache"
fi
# One with another C library, which reads resolv.conf itself.
cat >"$T/musl.c" <<'END'
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const char ask[] = "GET / HTTP/1.0\r\n\r\n";
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *a;
	char text[1000];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (argc < 3 || getaddrinfo(argv[1], argv[2], &hints, &a) ||
	    connect(fd, a->ai_addr, a->ai_addrlen) ||
	    write(fd, ask, sizeof(ask) - 1) < 0)
		return 1;
	return fwrite(text, 1, read(fd, text, sizeof(text)), stdout) == 0;
}
END
! command -v musl-gcc >"$T/.found" ||
	musl-gcc -static -o "$T/musl" "$T/musl.c" || echo "# musl does not build"

# And one whose sockets are of IPv6, with IPv4 in them: by a socket, by a URL.
cat >"$T/Get.java" <<'END'
import java.io.*;
import java.net.*;

class Get {
	public static void main(String[] to) throws IOException {
		var s = new Socket(to[0], Integer.parseInt(to[1]));
		s.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes());
		var line = new BufferedReader(
			new InputStreamReader(s.getInputStream())).readLine();
		var u = new URL("http://" + to[0] + ":" + to[1] + "/");
		var c = (HttpURLConnection) u.openConnection();
		System.out.println(line + " " + c.getResponseCode());
	}
}
END
if command -v javac >"$T/.found" && command -v jar >"$T/.found"; then
	javac -d "$T/classes" "$T/Get.java" &&
		jar cf "$T/get.jar" -C "$T/classes" Get.class ||
		echo "# Java does not build"
fi
both_users all_of_it
done_testing
