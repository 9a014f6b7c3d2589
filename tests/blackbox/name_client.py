"""Connects as programs do that know no proxy, and says what came of it.

    name_client.py get HOST PORT...        a request each; a reset is "reset"
    name_client.py lookup NAME...          addresses, by the C library
    name_client.py ask SERVER WHAT...      questions to a resolver: ?NAME for an
                                           address, or the bytes of one in hex
    name_client.py ask-tcp SERVER WHAT...  likewise, at once, by TCP
    name_client.py echo HOST PORT BYTES    back and forth, with half a close
    name_client.py many HOST PORT N        N connections at once, all used
    name_client.py serve PORT              a server of one's own on 127.0.0.1
    name_client.py flood N                 N names that are not granted
"""

import os
import selectors
import socket
import sys
import threading


def word(error):
    return {104: "reset", 111: "refused", 101: "unreachable"}.get(
        error.errno, error.strerror or str(error)
    )


def get(*targets):
    for host, port in zip(targets[::2], targets[1::2]):
        said = "empty"
        try:
            with socket.create_connection((host, int(port)), 40) as sock:
                sock.sendall(b"GET /direct HTTP/1.0\r\nHost: inner\r\n\r\n")
                said = sock.recv(65536).split(b"\r\n")[0].decode() or said
        except OSError as error:
            said = word(error)
        print(host, port, said)


def lookup(*names):
    for name in names:
        try:
            found = socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
            print(name, *sorted({row[4][0] for row in found}))
        except OSError as error:
            print(name, error.strerror)


def packet(text):
    if not text.startswith("?"):
        return bytes.fromhex(text)
    labels = text[1:].encode().split(b".")
    name = b"".join(bytes([len(label)]) + label for label in labels)
    return b"\1\2\1\0\0\1\0\0\0\0\0\0" + name + b"\0\0\1\0\1"


def show_answer(data):
    address = socket.inet_ntoa(data[-4:]) if data[7] else "no address"
    print("code", data[3] & 15, address)


def ask(server, *packets):
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    for text in packets:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((server, 53))
            sock.settimeout(40)
            sock.send(packet(text))
            show_answer(sock.recv(1024))


def ask_tcp(server, *packets):
    with socket.create_connection((server, 53), 40) as sock:
        for text in packets:
            data = packet(text)
            sock.sendall(len(data).to_bytes(2, "big") + data)
        for _ in packets:
            size = int.from_bytes(sock.recv(2, socket.MSG_WAITALL), "big")
            show_answer(sock.recv(size, socket.MSG_WAITALL))


def echo(host, port, count):
    data = os.urandom(int(count))
    with socket.create_connection((host, int(port)), 40) as sock:

        def send():
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        back = b""
        while more := sock.recv(65536):
            back += more
        sender.join()
    print("same" if back == data else "different")


def many(host, port, count):
    address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0][4]
    ready, socks, answered = selectors.DefaultSelector(), [], 0
    for _ in range(int(count)):
        sock = socket.create_connection(address, 40)
        ready.register(sock, selectors.EVENT_READ)
        socks.append(sock)
    for number, sock in enumerate(socks):
        sock.sendall(b"%d\n" % number)
    numbers = {sock: b"%d\n" % number for number, sock in enumerate(socks)}
    while numbers and (events := ready.select(40)):
        for key, _ in events:
            got = key.fileobj.recv(100)
            answered += got == numbers.pop(key.fileobj, None)
            ready.unregister(key.fileobj)
    print("answered", answered)


def serve(port):
    server = socket.create_server(("127.0.0.1", int(port)))
    client = socket.create_connection(server.getsockname())
    client.sendall(b"own")
    print("served", server.accept()[0].recv(3).decode())


def flood(count):
    for number in range(int(count)):
        lookup("h%d.refused.test" % number)


globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
