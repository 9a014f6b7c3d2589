"""An MCP server that is lost in the middle of a call.

    lossy_peer.py stdio HOW
    lossy_peer.py modern|legacy|sse|websocket HOW LOG    prints its port

`fine` is answered with the text of its argument; a call of `lost` is where the
connection goes. LOG gets one line for each tools/call.

    dies    the process ends
    resets  the connection is reset, and the server stays
    closes  the connection is closed in order, and the server stays
    hangs   the connection stays, and nothing is answered on it any more
"""

import base64
import hashlib
import json
import os
import socket
import struct
import sys
import threading

KIND, HOW = sys.argv[1:3]
LOG = sys.argv[3] if len(sys.argv) > 3 else None
DATE = "2026-07-28" if KIND == "modern" else "2025-11-25"
TOOLS = [{"name": n, "inputSchema": {"type": "object"}} for n in ("fine", "lost")]


class Lost(Exception):
    """Here the connection goes."""


def result_of(method, params):
    if method == "server/discover":
        return {"supportedVersions": [DATE], "capabilities": {"tools": {}}}
    if method == "initialize":
        return {
            "protocolVersion": DATE,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "lossy", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        if LOG:
            with open(LOG, "a", encoding="utf-8") as log:
                log.write(params["name"] + "\n")
        if params["name"] == "lost":
            raise Lost
        text = str(params.get("arguments", {}).get("n", "fine"))
        return {"content": [{"type": "text", "text": text}]}
    return {}


def answer(message):
    """The answer as bytes; None to what wants none."""
    if "id" not in message or "method" not in message:
        return None
    method = message["method"]
    says = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "server/discover" and KIND != "modern":
        says["error"] = {"code": -32601, "message": "no such method"}
    else:
        says["result"] = result_of(method, message.get("params", {}))
    return json.dumps(says).encode()


def leave(*socks):
    if HOW == "dies":
        os._exit(1)
    if HOW == "hangs":
        threading.Event().wait(1000)
    for sock in socks:
        if HOW == "resets":
            reset = struct.pack("ii", 1, 0)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        else:
            sock.shutdown(socket.SHUT_RDWR)
        sock.close()


# ---- stdio ----


def serve_stdio():
    for line in sys.stdin:
        try:
            says = answer(json.loads(line))
        except Lost:
            leave()
            sys.stdout.flush()
            os.close(1)
            sys.stdin.read()
            return
        if says:
            print(says.decode(), flush=True)


# ---- HTTP ----


class Request:
    def __init__(self, file):
        self.line = file.readline().decode().split()
        if len(self.line) < 2:
            raise EOFError
        self.headers = {}
        for line in iter(file.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            self.headers[name.lower()] = value.strip()
        self.body = file.read(int(self.headers.get("content-length", 0)))


def put(sock, status, body=b"", *headers):
    head = ["HTTP/1.1 %s" % status, *headers]
    if body:
        head.append("Content-Type: application/json")
    if "Content-Type: text/event-stream" not in headers:
        head.append("Content-Length: %d" % len(body))
    sock.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)


def serve_post(sock, request):
    if request.line[0] != "POST":
        put(sock, "405 X")
        return
    message = json.loads(request.body)
    if KIND == "legacy" and message.get("method") == "server/discover":
        put(sock, "400 Bad Request")
        return
    says = answer(message)
    session = ["Mcp-Session-Id: one"] if message.get("method") == "initialize" else []
    put(sock, "200 OK" if says else "202 Accepted", says or b"", *session)


STREAMS = []  # sockets of HTTP+SSE, the newest last


def serve_sse(sock, request):
    if request.line[0] == "GET":
        STREAMS.append(sock)
        put(sock, "200 OK", b"", "Content-Type: text/event-stream")
        sock.sendall(b"event: endpoint\ndata: /message\n\n")
        return
    if request.line[1] != "/message":
        put(sock, "405 X")
        return
    try:
        says = answer(json.loads(request.body))
    except Lost:
        put(sock, "202 Accepted")
        leave(STREAMS.pop())
        return
    put(sock, "202 Accepted")
    if says:
        STREAMS[-1].sendall(b"event: message\ndata: " + says + b"\n\n")


# ---- WebSocket ----


def read_frame(file):
    first, length = file.read(2)
    length &= 127
    if length > 125:
        length = int.from_bytes(file.read(2 if length == 126 else 8), "big")
    mask, data = file.read(4), file.read(length)
    return first & 15, bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def write_frame(sock, opcode, data):
    n = len(data)
    length = bytes([n]) if n < 126 else b"\x7e" + n.to_bytes(2, "big")
    sock.sendall(bytes([128 | opcode]) + length + data)


def serve_websocket(sock, request, file):
    key = request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    head = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Protocol: mcp"]
    sock.sendall(
        "\r\n".join(
            ["HTTP/1.1 101 X", *head, "Sec-WebSocket-Accept: " + accept, "\r\n"]
        ).encode()
    )
    while True:
        opcode, data = read_frame(file)
        if opcode == 8:
            write_frame(sock, 8, data)
            return
        try:
            says = answer(json.loads(data))
        except Lost:
            if HOW == "closes":
                write_frame(sock, 8, b"\x03\xe8")
            raise
        if says:
            write_frame(sock, 1, says)


def converse(sock):
    file = sock.makefile("rb")
    try:
        while True:
            request = Request(file)
            if KIND == "websocket":
                serve_websocket(sock, request, file)
                return
            if KIND == "sse" and request.line[0] == "GET":
                file.close()  # before a call can close the socket: it holds it
                serve_sse(sock, request)
                return
            (serve_sse if KIND == "sse" else serve_post)(sock, request)
    except Lost:
        file.close()
        leave(sock)
    except (EOFError, OSError, ValueError):
        pass


def serve():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=converse, args=(sock,), daemon=True).start()


if KIND == "stdio":
    serve_stdio()
else:
    serve()
