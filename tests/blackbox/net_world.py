"""The network of gate-proxy.t and gate-net-names.t, inside a network namespace
of the test's own.

    net_world.py up             lo with addresses that are not loopback
    net_world.py serve FOLDER   servers on every address; FOLDER/ready when so

93.184.216.0/24 stands for the internet: it is all local, but only .1 is an
address of an interface. Metadata services of clouds answer as well. Where
FOLDER/zone is, a name server at 10.9.9.9 answers by its lines, NAME ADDRESS...,
and writes each question into FOLDER/asked. Of several addresses a name has one
at a time, the next with each question.
"""

import fcntl
import http.server
import os
import resource
import socket
import struct
import sys
import threading

SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
IFF_UP, IFF_RUNNING = 1, 64
ECHO_PORT, DATABASE_PORT = 7000, 5432
SOCKETS = []


def set_address(sock, name, request, address):
    sockaddr = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
    fcntl.ioctl(sock, request, struct.pack("=16s16s8x", name, sockaddr))


def up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        flags = struct.pack("=16sH22x", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(sock, SIOCSIFFLAGS, flags)
        for label, address, mask in (
            (b"lo:1", "93.184.216.1", "255.255.255.0"),
            (b"lo:2", "10.9.9.9", "255.255.255.255"),
            (b"lo:3", "169.254.169.254", "255.255.255.255"),
            (b"lo:4", "168.63.129.16", "255.255.255.255"),
            (b"lo:5", "100.100.100.200", "255.255.255.255"),
        ):
            set_address(sock, label, SIOCSIFADDR, address)
            set_address(sock, label, SIOCSIFNETMASK, mask)


class Pages(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", "http://" + self.path[4:])
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path.startswith("/file/"):
            self.path = self.path[5:]
            super().do_GET()
        else:
            self.say(b"")

    def do_POST(self):
        self.say(self.rfile.read(int(self.headers["Content-Length"])))

    def say(self, body):
        text = "hello %s host=%s connection=%s proxy=%s body=%d\n" % (
            self.path,
            self.headers["Host"],
            self.headers["Connection"],
            self.headers["Proxy-Connection"] or self.headers["Proxy-Authorization"],
            len(body),
        )
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512

    def handle_error(self, request, client_address):
        pass  # clients that are ended do not say goodbye


def echo(listener):
    def one(conn):
        with conn:
            while data := conn.recv(65536):
                conn.sendall(data)
            conn.shutdown(socket.SHUT_WR)

    while True:
        conn, _ = listener.accept()
        threading.Thread(target=one, args=(conn,), daemon=True).start()


def read_name(packet):
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1 : at + 1 + packet[at]].decode())
        at += 1 + packet[at]
    return ".".join(labels).lower(), at + 1


def name_server(sock):
    with open("zone") as file:
        zone = {line.split()[0]: line.split()[1:] for line in file if line.strip()}
    turns = dict.fromkeys(zone, 0)
    while True:
        packet, client = sock.recvfrom(2048)
        name, end = read_name(packet)
        kind = int.from_bytes(packet[end : end + 2], "big")
        with open("asked", "a") as file:
            file.write("%s %d\n" % (name, kind))
        answer = b""
        if name in zone and kind == 1:
            address = zone[name][turns[name] % len(zone[name])]
            turns[name] += 1
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address)
        head = packet[:2] + (b"\x81\x80" if name in zone else b"\x81\x83")
        head += b"\0\1" + (b"\0\1" if answer else b"\0\0") + b"\0\0\0\0"
        sock.sendto(head + packet[12 : end + 4] + answer, client)


def database(listener):
    """Refuses every user as PostgreSQL does, so a client shows that it came."""
    text = b"SFATAL\0C28000\0Mhello from the database\0\0"
    while True:
        conn, _ = listener.accept()
        with conn:
            # a request for encryption comes first
            if conn.recv(65536)[4:8] == b"\x04\xd2\x16\x2f":
                conn.sendall(b"N")
                conn.recv(65536)
            conn.sendall(b"E" + (4 + len(text)).to_bytes(4, "big") + text)


def datagrams():
    """What is sent to port 9 comes back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("93.184.216.7", 9))
        while True:
            data, client = sock.recvfrom(2048)
            sock.sendto(data, client)


def serve(folder):
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    threading.Thread(target=datagrams, daemon=True).start()
    if os.path.exists("zone"):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("10.9.9.9", 53))
        threading.Thread(target=name_server, args=(sock,), daemon=True).start()
    for port in (80, 443, 8443):
        server = Server(("", port), Pages)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    listener = socket.create_server(("", DATABASE_PORT))
    threading.Thread(target=database, args=(listener,), daemon=True).start()
    listener = socket.create_server(("", ECHO_PORT), backlog=1024)
    for path in ("sock", "\0matins-world"):
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(path)
        unix.listen(99)
        SOCKETS.append(unix)
    os.chmod("sock", 0o666)
    open("ready", "w").close()
    echo(listener)


if sys.argv[1] == "up":
    up()
else:
    serve(sys.argv[2])
