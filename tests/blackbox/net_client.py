"""Speaks to the proxy from inside the gate, and says what came of it.

    net_client.py get URL             as urllib does, by the environment
    net_client.py raw TEXT            bytes to the proxy (\\r\\n, \\0, \\x..)
    net_client.py connect HOST:PORT   CONNECT, then a request through it
    net_client.py socks HOST PORT     SOCKS5 with a name; escapes as above
    net_client.py socks4 A.B.C.D PORT SOCKS5 with an address
    net_client.py echo VIA BYTES      back and forth, with half a close
    net_client.py crowd N             N silent connections, then a request
    net_client.py many N              N requests at once
    net_client.py serve               a server and a client of one's own
"""

import os
import socket
import sys
import threading
import urllib.error
import urllib.request

PROXY = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")
PROXY = (PROXY[0], int(PROXY[1]))


def unescape(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def dial():
    return socket.create_connection(PROXY, timeout=40)


def read_all(sock):
    data = b""
    try:
        while more := sock.recv(65536):
            data += more
    except ConnectionResetError:
        data += b"(reset)"
    return data


def show(data):
    print(data.decode("latin-1").replace("\r", ""))


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=40) as answer:
            print("status", answer.status)
            show(answer.read())
    except urllib.error.HTTPError as error:
        print("status", error.code)
        show(error.read())
    except OSError as error:
        print("error", error)


def raw(text):
    with dial() as sock:
        sock.sendall(unescape(text))
        show(read_all(sock))


def tunnel(target):
    sock = dial()
    sock.sendall(b"CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n" % target.encode())
    head = b""
    while b"\r\n\r\n" not in head:
        more = sock.recv(1)
        if not more:
            break
        head += more
    return sock, head


def connect(target):
    sock, head = tunnel(target)
    print("answer", head.split(b"\r\n")[0].decode())
    if b" 200 " in head:
        sock.sendall(b"GET /through HTTP/1.0\r\nHost: inner\r\n\r\n")
    show(read_all(sock))


def socks_with(address, port):
    with dial() as sock:
        sock.sendall(b"\5\2\0\2")
        print("greeting", sock.recv(2).hex())
        sock.sendall(b"\5\1\0" + address + int(port).to_bytes(2, "big"))
        reply = sock.recv(10)
        print("reply", reply[1] if len(reply) > 1 else "none")
        if reply[1:2] == b"\0":
            sock.sendall(b"GET /socks HTTP/1.0\r\nHost: inner\r\n\r\n")
            show(read_all(sock))


def socks(host, port):
    name = unescape(host)
    socks_with(b"\3" + bytes([len(name)]) + name, port)


def socks4(address, port):
    socks_with(b"\1" + socket.inet_aton(address), port)


def echo(via, count):
    if via.startswith("forward:"):
        host, port = via.removeprefix("forward:").split(":")
        sock = socket.create_connection((host, int(port)), timeout=40)
    else:
        sock, head = tunnel(via)
        if b" 200 " not in head:
            print("refused")
            return
    data = os.urandom(65536) * (int(count) // 65536 + 1)

    def send():
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    back = read_all(sock)
    sender.join()
    print("same" if back == data else "different", len(back) >= int(count))


def crowd(count):
    socks = []
    for _ in range(int(count)):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(PROXY)
        socks.append(sock)
    get("http://granted.test/after")
    print("held", len(socks))


def many(count):
    answers = []

    def one(i):
        url = "http://granted.test/%d" % i
        with urllib.request.urlopen(url, timeout=40) as answer:
            answers.append(answer.read().startswith(b"hello /%d " % i))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("answered", answers.count(True))


def serve():
    server = socket.create_server(("localhost", 0))
    client = socket.create_connection(server.getsockname())
    client.sendall(b"own")
    print("served", server.accept()[0].recv(3).decode())


globals()[sys.argv[1]](*sys.argv[2:])
