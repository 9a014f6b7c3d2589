"""Clients of `matins serve --http`, in scenes.

    serve_http.py SCENE URL TOKEN-FILE

prints what was wrong, a line each, or nothing.
"""
import http.client
import json
import os
import select
import signal
import socket
import sys
import threading
import time
import urllib.parse

META = "io.modelcontextprotocol/"
URL = urllib.parse.urlsplit(sys.argv[2])
with open(sys.argv[3], encoding="ascii") as f:
    TOKENS = f.read().split()  # of a client each
TOKEN = TOKENS[0]
LIMIT_S = 60


def say(*words):
    print(*words, flush=True)


def wait_for(name):
    end = time.monotonic() + LIMIT_S
    while not os.path.exists(name) and time.monotonic() < end:
        time.sleep(0.02)


class Reply:
    def __init__(self, r):
        self.status = r.status
        self.headers = r.headers
        self.r = r

    def text(self):
        return self.r.read().decode()

    def messages(self):
        text = self.text()
        if "event-stream" not in self.headers.get("Content-Type", ""):
            return [json.loads(text)] if text else []
        return [json.loads(x[6:]) for x in text.splitlines()
                if x.startswith("data: ")]

    def answer(self):
        return self.messages()[-1]


class Client:
    def __init__(self, token=TOKEN):
        self.token = token
        self.c = http.client.HTTPConnection(URL.hostname, URL.port,
                                            timeout=LIMIT_S)
        self.session = None
        self.name = "alone"
        self.n = 0

    def begin(self, is_new, tool="mcp__frail__hold", args=None):
        """Begin a call, and do not wait for its answer."""
        params = {"name": tool, "arguments": args or {}}
        given = {"Authorization": "Bearer " + self.token}
        if is_new:
            params["_meta"] = {META + "protocolVersion": "2026-07-28",
                               META + "clientInfo": {"name": self.name},
                               META + "clientCapabilities": {}}
            given.update({"MCP-Protocol-Version": "2026-07-28",
                          "Mcp-Method": "tools/call",
                          "Mcp-Name": tool})
        else:
            given["Mcp-Session-Id"] = self.session
        self.n += 1
        self.c.request("POST", "/mcp", body=json.dumps({
            "jsonrpc": "2.0", "id": self.n, "method": "tools/call",
            "params": params}), headers=given)

    def is_open(self):
        return not select.select([self.c.sock], [], [], 0)[0] or bool(
            self.c.sock.recv(1, socket.MSG_PEEK))

    def ask(self, how="POST", body=None, path="/mcp", **headers):
        given = {"Authorization": "Bearer " + self.token,
                 "Content-Type": "application/json",
                 "Accept": "application/json, text/event-stream"}
        if self.session:
            given["Mcp-Session-Id"] = self.session
        given.update({k.replace("_", "-"): v for k, v in headers.items()})
        given = {k: v for k, v in given.items() if v is not None}
        self.c.request(how, path, body=body, headers=given)
        return Reply(self.c.getresponse())

    def call(self, method, params=None, **headers):
        self.n += 1
        return self.ask(body=json.dumps({
            "jsonrpc": "2.0", "id": self.n, "method": method,
            "params": params or {}}), **headers)

    def alone(self, method, params=None, can=None, **headers):
        params = {**(params or {}), "_meta": {
            META + "protocolVersion": "2026-07-28",
            META + "clientInfo": {"name": self.name, "version": "1"},
            META + "clientCapabilities": can or {}}}
        given = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": method}
        name = params.get("name", params.get("uri"))
        if name:
            given["Mcp_Name"] = name
        return self.call(method, params, **{**given, **headers})

    def hello(self, can=None, version="2025-11-25"):
        r = self.call("initialize", {
            "protocolVersion": version, "capabilities": can or {},
            "clientInfo": {"name": "web", "version": "1"}})
        r.text()
        self.session = r.headers["Mcp-Session-Id"]
        r = self.ask(body='{"jsonrpc":"2.0",'
                     '"method":"notifications/initialized"}')
        r.text()
        return r.status


def door(c):
    """What is refused before anything is read."""
    body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for want, given in (
            (401, {"Authorization": None}),
            (401, {"Authorization": "Bearer " + TOKEN[:-1] + "!"}),
            (401, {"Authorization": "Bearer " + TOKEN + "0"}),
            (401, {"Authorization": "Basic " + TOKEN}),
            (403, {"Origin": "http://evil.example"}),
            (403, {"Origin": "null"}),
            (403, {"Origin": "x://localhost"}),
            (403, {"Origin": "://127.0.0.1"}),
            (403, {"Origin": "http://192.0.2.1"}),
            (403, {"Origin": "http://localhost.evil.example"}),
            (403, {"Host": "evil.example"}),
            (403, {"Host": "127.0.0.1.evil.example:80"}),
            (403, {"Host": "localhost:1x"}),
            (404, {"path": "/"}),
            (404, {"path": "/mcp/x"}),
            (404, {"Mcp_Session_Id": "0" * 32}),
            (405, {"how": "PUT"}),
            (405, {"how": "GET"})):
        r = Client().ask(body=body, **given)
        if r.status != want:
            say(want, given, r.status, r.text())
    for given in ({"Origin": "http://localhost:3000"},
                  {"Origin": "https://[::1]:3000"},
                  {"Host": f"localhost:{URL.port}"}):
        if Client().alone("server/discover", **given).status != 200:
            say("refused:", given)
    r = c.ask(body="{" * 10)
    if r.status != 400 or r.answer()["error"]["code"] != -32700:
        say("no JSON", r.status)
    r = Client().ask(body='{"x":"' + "y" * (6 << 20) + '"}')
    if r.status != 413:
        say("too long", r.status)


def eras(c):
    r = c.alone("tools/call", {"name": "mcp__frail__live"})
    if r.answer()["result"]["content"][0]["text"] != "alive":
        say("newer era")
    if "Mcp-Session-Id" in r.headers:
        say("the newer era has a session")
    r = c.alone("tools/list", MCP_Protocol_Version="2025-11-25")
    if r.status != 400 or r.answer()["error"]["code"] != -32020:
        say("headers that differ")
    r = c.alone("no/such")
    if r.status != 404 or r.answer()["error"]["code"] != -32601:
        say("no such method", r.status)
    if c.hello() != 202:
        say("a notification has an answer")
    r = c.call("tools/call", {"name": "mcp__frail__live"})
    if r.answer()["result"]["content"][0]["text"] != "alive":
        say("older era")
    if "json" not in r.headers["Content-Type"]:
        say("one answer is no document")
    r = c.ask("DELETE")
    r.text()
    if r.status != 200 or c.call("ping").status != 404:
        say("a session that was ended lives")


def raw(head, body=b""):
    """Status of a request as it is written here."""
    s = socket.create_connection((URL.hostname, URL.port), timeout=LIMIT_S)
    s.sendall(b"POST /mcp HTTP/1.1\r\nConnection: close\r\n" +
              "".join(x + "\r\n" for x in head).encode() + b"\r\n" + body)
    got = b""
    while True:
        try:
            more = s.recv(65536)
        except ConnectionError:
            break
        if not more:
            break
        got += more
    s.close()
    return int(got.split()[1]) if got else 0


def heads(c):
    """Fields that are there twice, or say something else than the body."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    c.hello()
    good = ["Host: localhost", "Authorization: Bearer " + TOKEN,
            "Mcp-Session-Id: " + c.session, f"Content-Length: {len(body)}"]
    for want, more in (
            (200, []),
            (400, ["Authorization: Bearer x"]),
            (400, ["Host: evil.example"]),
            (400, ["Mcp-Session-Id: x"]),
            (400, ["MCP-Protocol-Version: 1999-01-01"]),
            (200, ["MCP-Protocol-Version: 2025-11-25"]),
            (400, ["MCP-Protocol-Version: 2026-07-28"]),
            (400, ["Mcp-Method: tools/list"]),
            (200, ["Mcp-Method: ping", "Mcp-Name: x"])):
        got = raw(good + more, body)
        if got != want:
            say(want, more, got)
    for want, name in (200, "live"), (400, "say"):
        r = c.call("tools/call", {"name": "mcp__frail__live"},
                   Mcp_Name="mcp__frail__" + name)
        r.text()
        if r.status != want:
            say(want, name, r.status)
    for want, host in ((200, "LOCALHOST:1"), (200, "[::1]:80"),
                       (200, "127.0.0.1"), (403, "[::2]:80"),
                       (403, "192.0.2.1:80"), (403, "localhost."),
                       (403, "localhost@evil.example"), (403, "")):
        got = raw(["Host: " + host] + good[1:], body)
        if got != want:
            say(want, host, got)
    for length in "-1", "1x", str(1 << 70):
        if raw(good[:3] + ["Content-Length: " + length]) not in (0, 400, 413):
            say("Content-Length", length)
    if raw(good[:3] + ["Transfer-Encoding: chunked"],
           b"7;x=y\r\n" + body[:7] + b"\r\n%x\r\n" % len(body[7:]) +
           body[7:] + b"\r\n0\r\nT: 1\r\n\r\n") != 200:
        say("chunks")
    if raw(good[:3] + ["Transfer-Encoding: chunked"],
           b"ffffffffffffffffff\r\n") not in (0, 400, 413):
        say("a chunk without end")
    c.session = None
    c.alone("tools/list").text()
    for want, name, more in (
            (200, "live", {"Mcp_Name": "=?base64?bWNwX19mcmFpbF9fbGl2ZQ==?="}),
            (400, "live", {"Mcp_Name": "=?base64?bWNwX19mcmFpbF9fbGl2?="}),
            (400, "live", {"Mcp_Name": "=?base64?!?="}),
            (400, "live", {"Mcp_Name": None}),
            (400, "live", {"Mcp_Method": "tools/list"}),
            (200, "where", {"Mcp_Param_Place": "here"}),
            (200, "where", {"Mcp_Param_Place": "=?base64?aGVyZQ==?="}),
            (400, "where", {"Mcp_Param_Place": "there"}),
            (400, "where", {})):
        r = Client().alone("tools/call", {
            "name": "mcp__frail__" + name, "arguments": {"place": "here"}},
            **more)
        if r.status != want or (
                want == 400 and r.answer()["error"]["code"] != -32020):
            say(want, name, more, r.status)
    r = c.alone("tools/call", {"name": "mcp__frail__where"},
                Mcp_Param_Place="here")
    if r.status != 400:
        say("a field without its argument")
    r.text()
    c = Client()
    c.hello(version="2025-03-26")
    for given in ({"Mcp_Method": "tools/list"}, {"Mcp_Name": "x"},
                  {"MCP_Protocol_Version": "2025-03-26"}):
        r = c.alone("tools/call", {"name": "mcp__frail__live"}, **given)
        if r.status != 400 or r.answer()["error"]["code"] != -32020:
            say("a session passes by the heads", given, r.status)
    r = c.alone("tools/call", {"name": "mcp__frail__live"})
    if r.status != 200 or "Mcp-Session-Id" in r.headers:
        say("a session of another era", r.status)
    r.text()
    r = c.ask(body=json.dumps([{
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": {META + "protocolVersion": "2026-07-28",
                             META + "clientCapabilities": {}}}}]))
    if r.answer()[0]["error"]["code"] != -32600:
        say("a batch passes by the heads")


def anywhere(_):
    """A server at every address: an address is a host, but no origin."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    c = Client()
    c.hello()
    good = ["Authorization: Bearer " + TOKEN, "Mcp-Session-Id: " + c.session,
            f"Content-Length: {len(body)}"]
    for want, host, origin in (
            (200, "192.0.2.1:80", None),
            (200, "192.0.2.1:80", "http://192.0.2.1:80"),
            (200, "192.0.2.1:80", "http://localhost:3000"),
            (403, "192.0.2.1:80", "http://192.0.2.2:80"),
            (403, "127.0.0.1", "http://192.0.2.1"),
            (403, "evil.example", "http://evil.example"),
            (403, "localhost", "x://localhost")):
        head = ["Host: " + host] + good
        if origin:
            head.append("Origin: " + origin)
        got = raw(head, body)
        if got != want:
            say(want, host, origin, got)


def crossed(_):
    """Two clients of the newer era: a question goes to neither in doubt."""
    got = []

    def hold():
        got.append(Client().alone("tools/call", {"name": "mcp__frail__hold"},
                                  {"elicitation": {}}).answer())

    t = threading.Thread(target=hold)
    t.start()
    wait_for("held")
    r = Client().alone("tools/call", {"name": "mcp__frail__ask"},
                       {"elicitation": {}}).answer()
    Client().alone("tools/call", {"name": "mcp__frail__live"}).text()
    t.join()
    if got[0].get("result", {}).get("resultType") != "complete":
        say("the other one was asked", got)
    if r.get("result", {}).get("resultType") != "complete":
        say("answer", r)


def quick(mine):
    """One of two questions is answered at once; the next one comes while
    another client's call runs."""
    can = {"elicitation": {}, "roots": {}}
    mine.hello(can)
    other = Client()
    other.hello(can)
    r = mine.call("tools/call", {"name": "mcp__frail__then"})
    asked = 0
    while asked < 2:
        line = r.r.readline()
        if not line:
            say("the call ended")
            return
        if not line.startswith(b"data: "):
            continue
        asked += 1
        m = json.loads(line[6:])
        if m.get("method") == "roots/list":
            answer = Client()
            answer.session = mine.session
            answer.ask(body=json.dumps({"jsonrpc": "2.0", "id": m["id"],
                                        "result": {"roots": []}})).text()
    if os.path.exists("held"):
        os.remove("held")
    other.begin(False)
    wait_for("held")
    end = time.monotonic() + 1.5
    got = b""
    while (left_s := end - time.monotonic()) > 0:
        if select.select([other.c.sock], [], [], left_s)[0]:
            more = other.c.sock.recv(65536)
            got += more
            if not more:
                break
    if b"elicitation" in got:
        say("the other one was asked", got)
    Client().alone("tools/call", {"name": "mcp__frail__live"}).text()
    end = Client()
    end.session = mine.session
    end.ask("DELETE").text()


def left(_):
    """Clients are asked while others have left questions without an answer;
    several questions at once are put at once."""
    can = {"elicitation": {}}
    names = "mcp__frail__ask", "mcp__frail__both", "mcp__frail__ask"
    old = Client()
    old.hello(can)
    r = old.call("tools/call", {"name": names[0]})
    while not r.r.readline().startswith(b"data: "):
        pass
    asked = []
    for name, n in zip(names, (1, 2, 1)):
        m = Client().alone("tools/call", {"name": name}, can).answer()
        if len(m.get("result", {}).get("inputRequests", {})) != n:
            say(name, "asks", n, m)
            return
        asked.append(m["result"])
    for name, m in zip(names, asked):
        word = m["requestState"]
        m = Client().alone("tools/call", {
            "name": name, "requestState": word, "inputResponses": {
                k: {"action": "accept", "content": {"a": word}}
                for k in m["inputRequests"]}}, can).answer()
        if word not in json.dumps(m):
            say("the answer of another call", word, m)


def lacks(_):
    """A question that the client does not declare: the call fails for that."""
    call = {"name": "mcp__frail__ask"}
    r = Client().alone("tools/call", call, {"sampling": {}})
    e = r.answer().get("error", {})
    if (r.status, e.get("code"), e.get("data")) != (400, -32021, {
            "requiredCapabilities": {"elicitation": {"form": {}}}}):
        say("newer era", r.status, e)
    old = Client()
    old.hello({"sampling": {}})
    m = old.call("tools/call", call).answer()
    if m.get("result", {}).get("isError") is not True:
        say("older era", m)


def crowd(_):
    """More connections than there may be, none with a token."""
    mine = Client()
    mine.hello()
    idle = []
    for _ in range(700):
        s = socket.create_connection((URL.hostname, URL.port))
        s.sendall(b"POST /mcp HTTP/1.1\r\nHost: loc")
        idle.append(s)
    for _ in range(5):
        c = Client()
        if c.hello() != 202 or c.call("ping").status != 200:
            say("a client after them")
    if mine.call("ping").status != 200:
        say("a client before them")
    for s in idle:
        s.close()


def hog(is_new, name="hog"):
    """One client with more calls than there may be connections."""
    mine = [Client(TOKENS[-1]) for _ in range(4)]
    mine[0].hello()
    for c in mine[1:3]:
        c.session = mine[0].session
    mine[1].begin(False)
    mine[2].ask("GET")
    mine[3].begin(True)
    hogs = []
    for i in range(480):
        c = Client()
        c.name = name.format(i)
        c.n = i
        if i % 240 or is_new:
            c.session = hogs[-1].session if hogs else None
        else:
            c.hello()  # a session has no more calls than 256
        c.begin(is_new)
        hogs.append(c)
    for _ in range(3):
        c = Client(TOKENS[-1])
        if c.hello() != 202 or c.call("ping").status != 200:
            say("a client after them")
        if Client(TOKENS[-1]).alone("server/discover").status != 200:
            say("a newer one after them")
    for i, c in enumerate(mine):
        if not c.is_open():
            say("a client before them", i)
    if not select.select([c.c.sock for c in hogs], [], [], LIMIT_S)[0]:
        say("all of its calls are held")
    for c in hogs + mine:
        c.c.close()


def hog_older(_):
    hog(False)


def hog_newer(_):
    hog(True)


def hog_names(_):
    """One whose requests have a name each, and another with its own token."""
    hog(True, "hog {}")


def held_each(_):
    """One client whose requests hold all the memory that is there for it."""
    def large(token):
        return Client(token).alone("server/discover",
                                   {"x": "y" * (1 << 17)}).status

    size = 4 << 20
    part = b" " * (size - 1024)
    hogs = []
    for _ in range(384 // 4 + 1):
        c = Client()
        c.c.putrequest("POST", "/mcp")
        c.c.putheader("Authorization", "Bearer " + TOKEN)
        c.c.putheader("Content-Length", str(size))
        c.c.endheaders()
        c.c.send(part)
        hogs.append(c)
    end = time.monotonic() + LIMIT_S
    while large(TOKEN) != 503:
        if time.monotonic() > end:
            say("it may hold more")
            break
        time.sleep(0.1)
    if large(TOKENS[-1]) != 200:
        say("another has no room beside it")
    if Client().alone("server/discover").status != 200:
        say("a small request of its own")
    for c in hogs:
        c.c.close()
    while large(TOKEN) != 200:
        if time.monotonic() > end:
            say("what was given back stays counted")
            break
        time.sleep(0.1)


def progress(c):
    c.hello()
    r = c.call("tools/call", {"name": "routine__two",
                              "_meta": {"progressToken": "p"}})
    got = r.messages()
    if [m.get("method") for m in got] != ["notifications/progress"] * 2 + [
            None]:
        say(got)
    r = c.alone("tools/call", {"name": "routine__two"})
    if r.answer()["result"]["isError"]:
        say("newer era")


def questions(c):
    """A question on the stream of its call, answered by another POST."""
    c.hello({"elicitation": {}})
    r = c.call("tools/call", {"name": "mcp__frail__ask"})
    line = b""
    while not line.startswith(b"data: "):
        line = r.r.readline()
    asked = json.loads(line[6:])
    if asked["method"] != "elicitation/create":
        say(asked)
    other = Client()
    other.session = c.session
    a = other.ask(body=json.dumps({
        "jsonrpc": "2.0", "id": asked["id"],
        "result": {"action": "accept", "content": {"a": "b"}}}))
    if a.status != 202:
        say("answer", a.status)
    if '\\"a\\": \\"b\\"' not in r.text():
        say("the answer did not arrive")


def stream(c):
    """Changes arrive on the stream of a session, and of a subscription."""
    c.hello()
    c.call("tools/list").text()
    other = Client()
    other.session = c.session
    s = other.ask("GET")
    sub = Client().alone("subscriptions/listen",
                         {"notifications": {"toolsListChanged": True}})
    if b"acknowledged" not in sub.r.readline() + sub.r.readline():
        say("no acknowledgement")
    c.call("tools/call", {"name": "mcp__frail__change"}).text()
    for r in s, sub:
        line = r.r.readline()
        while b"tools/list_changed" not in line:
            line = r.r.readline()
            if not line:
                say("no change was told")
                break


def gone(c):
    """A client of the newer era that closes its stream cancels the call."""
    c.alone("tools/list").text()
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "routine__slow", "_meta": {
                           META + "protocolVersion": "2026-07-28",
                           META + "clientCapabilities": {}}}})
    c.c.request("POST", "/mcp", body=body, headers={
        "Authorization": "Bearer " + TOKEN, "Mcp-Method": "tools/call",
        "Mcp-Name": "routine__slow", "MCP-Protocol-Version": "2026-07-28"})
    wait_for("begun")
    c.c.close()
    os.remove("begun")


def killed(_):
    """Clients of both eras that are killed in the middle of a call."""
    for is_new in True, False:
        pid = os.fork()
        if not pid:
            c = Client()
            if not is_new:
                c.hello()
            (c.alone if is_new else c.call)(
                "tools/call", {"name": "routine__slow"})
            os._exit(1)
        wait_for("begun")
        os.remove("begun")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def greedy(_, is_new=False):
    """One client has more calls open than there are workers; others go on."""
    waits = []
    c = Client()
    c.hello()
    for i in range(40):
        other = Client()
        other.session = c.session
        other.name = f"greedy {i}"
        other.n = 100 + i
        other.begin(is_new, "routine__slow")
        waits.append(other)
    wait_for("begun")
    mine = Client()
    mine.hello()
    replies = [mine.call("tools/call", {"name": "routine__two"})]
    if not is_new:
        replies.append(Client().alone("tools/call", {"name": "routine__two"}))
    for r in replies:
        text = r.text()
        # of so many sandboxes at once some steps may fail
        if r.status != 200 or '"routine":"two"' not in text:
            say("another client", r.status, text)
    c.ask("DELETE").text()
    os.remove("begun")


def greedy_newer(c):
    """One whose calls have a name each: no name is proved."""
    greedy(c, True)


def greedy_all(_):
    """One with a token of its own, many names and many sessions."""
    waits = []
    for i in range(100):
        c = Client()
        c.name = f"greedy {i}"
        if i % 2:
            c.hello()
        c.begin(not i % 2, "routine__slow")
        waits.append(c)
    wait_for("begun")
    mine = Client(TOKENS[1])
    mine.hello()
    for r in (mine.call("tools/call", {"name": "routine__two"}),
              Client(TOKENS[1]).alone("tools/call", {"name": "routine__two"})):
        text = r.text()
        if r.status != 200 or '"routine":"two"' not in text:
            say("another client", r.status, text)
    for c in waits:
        if c.session:
            c.c.close()
            c.ask("DELETE").text()
        c.c.close()
    os.remove("begun")


def ends(c):
    """A request whose answer never comes is not held open."""
    c.hello(version="2025-03-26")
    note = {"jsonrpc": "2.0", "method": "notifications/x"}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "routine__slow"}}
    r = c.ask(body=json.dumps([note, note]))
    if r.status != 202 or r.text():
        say("a batch of notifications", r.status)
    r = c.ask(body=json.dumps([note, {**call, "method": "ping"}]))
    if r.answer() != [{"jsonrpc": "2.0", "id": 7, "result": {}}]:
        say("a batch with a request")
    for body in call, [call]:
        waits = Client()
        waits.session = c.session
        waits.c.request("POST", "/mcp", body=json.dumps(body), headers={
            "Authorization": "Bearer " + TOKEN, "Mcp-Session-Id": c.session})
        wait_for("begun")
        os.remove("begun")
        c.ask(body=json.dumps({
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 7}})).text()
        if waits.c.getresponse().status != 202:
            say("a call that was cancelled", body)
    waits.c.request("POST", "/mcp", body=json.dumps([call]), headers={
        "Authorization": "Bearer " + TOKEN, "Mcp-Session-Id": c.session})
    wait_for("begun")
    waits.c.close()
    os.remove("begun")
    r = c.call("ping")
    r.text()
    if r.status != 200:
        say("a batch whose client left")
    c.ask("DELETE").text()


def ended(c):
    """A session that is ended, while its calls run, ends them."""
    c.hello()
    waits = Client()
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                       "params": {"name": "routine__slow"}})
    waits.c.request("POST", "/mcp", body=body, headers={
        "Authorization": "Bearer " + TOKEN, "Mcp-Session-Id": c.session})
    wait_for("begun")
    os.remove("begun")
    if c.ask("DELETE").status != 200:
        say("DELETE while a call runs")
    try:
        if waits.c.getresponse().status == 200:
            say("an answer of a session that is over")
    except (ConnectionError, http.client.HTTPException):
        pass


def slow(_):
    """Clients that send nothing, or half, or do not read, hold nobody up."""
    idle = [socket.create_connection((URL.hostname, URL.port))
            for _ in range(100)]
    for i, s in enumerate(idle):
        if i % 2:
            s.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                      b"Content-Length: 1000000\r\nAuthorization: Bearer " +
                      TOKEN.encode() + b"\r\n\r\n{")
    c = Client()
    for _ in range(20):
        r = c.alone("tools/call", {"name": "mcp__frail__live"})
        if "alive" not in r.text():
            say("held up")
    for s in idle:
        s.close()


def cut(_):
    """Clients that go in the middle of a message, more than there may be."""
    for i in range(1000):
        s = socket.create_connection((URL.hostname, URL.port))
        s.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                  b"Content-Length: 1000000\r\nAuthorization: Bearer " +
                  TOKEN.encode() + b"\r\n\r\n{")
        s.close()
        if i % 100 == 0 and Client(TOKENS[-1]).alone(
                "server/discover").status != 200:
            say("held up")


def unread(_):
    """Clients that never read an answer are ended, and hold nobody up."""
    text = "x" * (3 << 20)
    deaf = []
    for _ in range(20):
        c = Client()
        c.c.sock = socket.socket()
        c.c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.c.sock.connect((URL.hostname, URL.port))
        c.begin(True, "mcp__frail__say", {"text": text})
        deaf.append(c)
    twin = Client(TOKENS[-1])
    end = time.monotonic() + 40
    while time.monotonic() < end:
        # no tool, whose calls would take questions from other scenes
        r = twin.alone("server/discover")
        if r.status != 200 or not r.text():
            say("held up")
        time.sleep(0.5)
    for c in deaf:
        got = 0
        try:
            while more := len(c.c.sock.recv(1 << 20)):
                got += more
        except ConnectionError:
            pass
        if got >= len(text):
            say("an answer is kept that is not read", got)


def many(_):
    """A hundred clients at once, of both eras."""
    wrong = []

    def one(i):
        try:
            c = Client()
            if i % 2:
                c.hello()
            ask = c.call if i % 2 else c.alone
            for _ in range(5):
                r = ask("tools/call", {"name": "mcp__frail__say",
                                       "arguments": {"text": f"no {i}"}})
                text = r.text()
                if f"no {i}\\" not in text:
                    wrong.append(text)
        except Exception as e:  # pylint: disable=broad-except
            wrong.append(repr(e))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(100)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for w in wrong[:3]:
        say(w)


def sessions(_):
    """More sessions than there may be: the idlest goes."""
    first = Client()
    first.hello()
    for _ in range(260):
        c = Client()
        c.hello()
        c.c.close()
    first.c.close()  # one that was idle so long may have been closed
    if first.call("ping").status != 404:
        say("the first one is still there")
    r = Client()
    if r.hello() != 202:
        say("no more sessions")


def streams(_):
    """Sessions that are never ended, each with a stream that stays."""
    kept = []
    for _ in range(260):
        c = Client()
        if c.hello() != 202:
            say("no more sessions")
            break
        c.ask("GET")
        kept.append(c)
    c = Client()
    if c.hello() != 202 or c.call("ping").status != 200:
        say("another client")


globals()[sys.argv[1]](Client())
