"""A remote MCP server that keeps no promise, with an authorization server.

    remote_peer.py LOG LISTENER...    one port a line is printed, in order
    remote_peer.py up ADDRESS...      gives lo more addresses (own namespace)

A LISTENER is plain, tls=CHAIN,KEY or old-tls=CHAIN,KEY (nothing newer than
TLS 1.1), mute (takes connections and does nothing) or reset; the first three
may have @ADDRESS#PORT behind them, instead of 127.0.0.1 and a free port. LOG
gets one JSON object a line for each request that came whole.

What is done is said by the path, /WORDS/mcp, where WORDS are joined by "_":

    PHASE-WHAT   in PHASE (get, first, list, call) something of TROUBLES (see
                 remote_troubles.py) or MIRRORS, or else:
    PHASE-to~STATUS~URL    a redirect; the URL is escaped
    PHASE-afterN           an answer when N calls have come to such a path
    call-second            only the first call is answered
    PHASE-busyN            the first request of that phase gets status N
    PHASE-busyNafterS      the same with Retry-After: S
    old          a server with sessions, of 2025-11-25
    session-ID   the id of its sessions
    lost-HOW     the session is lost before the third call: 404, 400, 200
    oauth        asks for a token; oauth-FLAW as remote_login.py says
"""

import asyncio
import base64
import collections
import json
import socket
import ssl
import struct
import sys
import urllib.parse

import remote_login
from remote_troubles import TROUBLES, Over, head, put, reset, silence

LOG = None
CALLS = collections.Counter()  # calls that came, by path
WAITERS = []
TURNED_AWAY = collections.defaultdict(set)  # methods, by path
SESSIONS = {}  # id -> calls in it
STARTED = collections.Counter()  # sessions by path


# ---- a server that says all that it was told, in each place that it can ----


def rpc_of(request, **more):
    return json.dumps({"jsonrpc": "2.0", "id": request.rpc.get("id"), **more}).encode()


def told_of(request):
    """Headers in clear, and what a careless server makes of them."""
    text = json.dumps(request.headers)
    packed = base64.b64encode(request.headers.get("authorization", "").encode())
    return text + " " + packed.decode() + " " + urllib.parse.quote(text)


async def mirror(request, writer):
    content = [{"type": "text", "text": told_of(request)}]
    text = rpc_of(request, result={"content": content, "structuredContent":
                                   {"headers": request.headers}})
    await put(writer, head(200, "application/json", len(text)) + text)


async def mirrorerror(request, writer):
    error = {"code": -32000, "message": told_of(request), "data": request.headers}
    text = rpc_of(request, error=error)
    await put(writer, head(200, "application/json", len(text)) + text)


async def mirror500(request, writer):
    text = told_of(request).encode()
    await put(writer, head(500, "text/plain", len(text)) + text)


async def mirror400(request, writer):
    text = told_of(request).encode()
    await put(writer, head(400, "text/plain", len(text)) + text)


async def mirrorlog(request, writer):
    """On the stream before the answer; and in names and headers."""
    token = (request.rpc["params"].get("_meta") or {}).get("progressToken")
    lines = head(200, "text/event-stream", None, "X-Told: " + told_of(request))
    for method, params in (
        ("notifications/message", {"level": "error", "data": told_of(request)}),
        ("notifications/progress", {"progressToken": token, "progress": 1,
                                    "message": told_of(request)}),
    ):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params})
        lines += b"id: 1\ndata: " + text.encode() + b"\n\n"
    text = rpc_of(request, result={"content": [], "isError": True})
    await put(writer, lines + b"data: " + text + b"\n\n")
    writer.close()


async def mirrorredirect(request, writer):
    to = "https://127.0.0.1:1/?" + urllib.parse.quote(told_of(request))
    await put(writer, head(307, "text/plain", 0, "Location: " + to))


MIRRORS = {
    f.__name__: f
    for f in (mirror, mirrorerror, mirror500, mirror400, mirrorlog, mirrorredirect)
}

# ---- MCP ----


class Request:
    def __init__(self, method, path, headers, text):
        self.method, self.target, self.headers, self.text = method, path, headers, text
        self.path, _, self.query = path.partition("?")
        self.words = self.path.split("/")[1].split("_")
        try:
            self.rpc = json.loads(text) if method == "POST" else {}
        except ValueError:
            self.rpc = {}

    def word(self, name):
        """What stands behind "name-" in the path; "" for name alone."""
        for word in self.words:
            first, _, rest = word.partition("-")
            if first == name:
                return rest
        return None


def answer_of(request, result):
    return json.dumps(
        {"jsonrpc": "2.0", "id": request.rpc.get("id"), "result": result}
    ).encode()


def result_of(request):
    method, params = request.rpc.get("method"), request.rpc.get("params", {})
    if method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "peer", "version": "1"},
        }
    if method == "tools/list":
        tool = {"name": "echo", "inputSchema": {"type": "object"}}
        return {"tools": [tool]}
    if method == "tools/call":
        said = params.get("arguments", {}).get("n", "")
        return {"content": [{"type": "text", "text": "called %s" % said}]}
    if method == "resources/read":
        return {"contents": []}
    return {}


PHASES = {
    "server/discover": "first",
    "initialize": "first",
    "tools/list": "list",
    "tools/call": "call",
}


async def redirect(request, writer, where):
    where = urllib.parse.unquote(where)
    status, _, to = where.partition("~")
    await put(writer, head(int(status), "text/plain", 0, "Location: " + to))


async def misbehave(request, writer, answer, what):
    """True when it did."""
    path = request.path
    if what.startswith("to~"):
        await redirect(request, writer, what[3:])
        return True
    if what.startswith("after"):
        while CALLS[path.split("/")[-1]] < int(what[5:]):
            waiter = asyncio.get_running_loop().create_future()
            WAITERS.append(waiter)
            await waiter
        return False
    if what.startswith("busy"):
        if request.rpc.get("method") in TURNED_AWAY[path]:
            return False
        TURNED_AWAY[path].add(request.rpc.get("method"))
        status, _, wait = what[4:].partition("after")
        more = ("Retry-After: " + wait,) if wait else ()
        await put(writer, head(int(status), "text/plain", 0, *more))
        return True
    if what == "second":  # the first call is fine, the second is not
        if CALLS[path] < 2:
            return False
        what = "cut"
    if what.startswith("mirror"):
        await MIRRORS[what](request, writer)
        return True
    await TROUBLES[what](writer, answer)
    return True


async def refuse_session(request, writer, how):
    SESSIONS.clear()
    if how == "404":
        text, kind, status = b"Not Found", "text/plain", 404
    elif how == "400":
        text, kind, status = b"Bad Request: No valid session ID", "text/plain", 400
    else:
        text = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": request.rpc.get("id"),
                "error": {"code": -32001, "message": "Session not found"},
            }
        ).encode()
        kind, status = "application/json", 200
    await put(writer, head(status, kind, len(text)) + text)


async def serve_old(request, writer):
    """Sessions; True when all is said."""
    method, more = request.rpc.get("method"), ()
    if request.method == "DELETE":
        await put(writer, head(200, "text/plain", 0))
        return True, more
    if method == "server/discover":
        await put(writer, head(400, "text/plain", 2) + b"no")
        return True, more
    if method == "initialize":
        session = request.word("session") or remote_login.fresh("session")
        SESSIONS[session] = 0
        STARTED[request.path] += 1
        return False, ("Mcp-Session-Id: " + session,)
    session, how = request.headers.get("mcp-session-id"), request.word("lost")
    if session not in SESSIONS:
        await refuse_session(request, writer, "404")
        return True, more
    if method == "tools/call":
        SESSIONS[session] += 1
        if how and SESSIONS[session] == 3 and STARTED[request.path] == 1:
            log(request, refused=True)
            await refuse_session(request, writer, how)
            return True, more
    return False, more


def log(request, **more):
    entry = {
        "method": request.method,
        "path": request.target,
        "at": request.at,
        "rpc": request.rpc.get("method") if isinstance(request.rpc, dict) else None,
        "n": (request.rpc.get("params") or {}).get("arguments", {}).get("n"),
        "headers": request.headers,
        "text": "" if request.rpc else request.text,
        **more,
    }
    LOG.write(json.dumps(entry) + "\n")
    LOG.flush()


async def serve_mcp(request, writer):
    method, more = request.rpc.get("method", ""), ()
    if request.word("oauth") is not None and not await remote_login.has_token(request, writer):
        return
    if request.method == "GET" and request.word("get"):
        await TROUBLES[request.word("get")](writer, b"event: x\ndata: {}\n\n")
        return
    if request.method != "POST" and request.word("old") is None:
        await put(writer, head(405, "text/plain", 0))
        return
    if request.method == "GET":
        await put(writer, head(405, "text/plain", 0))
        return
    if request.word("old") is not None:
        is_said, more = await serve_old(request, writer)
        if is_said:
            return
    if "id" not in request.rpc:
        await put(writer, head(202, "text/plain", 0))
        return
    if method == "tools/call":
        CALLS[request.path] += 1
        CALLS[request.path.split("/")[-1]] += 1
        while WAITERS:
            WAITERS.pop().set_result(None)
    answer = answer_of(request, result_of(request))
    what = request.word(PHASES.get(method, "other"))
    if what and await misbehave(request, writer, answer, what):
        return
    await put(writer, head(200, "application/json", len(answer), *more) + answer)


# ---- HTTP ----


async def read_request(reader):
    first = await reader.readline()
    if not first:
        raise Over
    method, path, _ = first.decode().split(" ", 2)
    headers = {}
    while True:
        line = (await reader.readline()).decode().strip()
        if not line:
            break
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    text = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, text.decode())


async def converse(reader, writer):
    while True:
        request = await read_request(reader)
        request.at = "%s:%d" % writer.get_extra_info("sockname")[:2]
        log(request)
        if request.path.startswith("/as/"):
            await remote_login.serve_login(request, writer)
        elif request.path.endswith("/mcp") or "/mcp-" in request.path:
            await serve_mcp(request, writer)
        elif request.path.startswith(("/prm/", "/.well-known/oauth-auth")):
            await remote_login.serve_metadata(request, writer)
        else:
            await put(writer, head(404, "text/plain", 0))
        if writer.is_closing():
            return


async def accepted(reader, writer):
    try:
        await converse(reader, writer)
    except (Over, OSError, EOFError, ssl.SSLError, ValueError):
        pass
    finally:
        writer.close()


def context_of(kind, files):
    if kind == "plain":
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if kind == "old-tls":
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.load_cert_chain(*files.split(","))
    return context


async def listen(told):
    told, _, address = told.partition("@")
    kind, _, files = told.partition("=")
    address, _, port = address.partition("#")
    server = await asyncio.start_server(
        accepted,
        address or "127.0.0.1",
        int(port or 0),
        ssl=context_of(kind, files),
        backlog=512,
        ssl_handshake_timeout=1000 if kind != "plain" else None,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    return server


async def accept_and_hang(address="127.0.0.1"):
    """A port that takes connections and never reads from them."""
    sock = socket.create_server((address, 0), backlog=512)
    print(sock.getsockname()[1], flush=True)
    return sock


async def refuse_all():
    """A port that resets each connection when it has come."""

    async def gone(_reader, writer):
        try:
            reset(writer)
        except Over:
            pass

    server = await asyncio.start_server(gone, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    return server


async def main(listeners):
    kept = []
    for told in listeners:
        if told == "mute":
            kept.append(await accept_and_hang())
        elif told == "reset":
            kept.append(await refuse_all())
        else:
            kept.append(await listen(told))
    await silence()


def up(addresses):
    import fcntl

    from net_world import IFF_RUNNING, IFF_UP, SIOCSIFADDR, SIOCSIFFLAGS
    from net_world import SIOCSIFNETMASK, set_address

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        flags = struct.pack("=16sH22x", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(sock, SIOCSIFFLAGS, flags)
        for i, address in enumerate(addresses):
            label = b"lo:%d" % (i + 1)
            set_address(sock, label, SIOCSIFADDR, address)
            set_address(sock, label, SIOCSIFNETMASK, "255.255.255.255")


if sys.argv[1] == "up":
    up(sys.argv[2:])
else:
    with open(sys.argv[1], "a", encoding="utf-8") as LOG:
        asyncio.run(main(sys.argv[2:]))
