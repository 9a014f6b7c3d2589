"""A client of `matins serve` on pipes, in scenes.

    serve.py SCENE PROGRAM ARGS...

prints what was wrong, a line each, or nothing.
"""
import json
import os
import select
import subprocess
import sys
import time

META = "io.modelcontextprotocol/"
LIMIT_S = 40
END_S = 90  # for the end of 32 sandboxes on a busy machine


class Client:
    def __init__(self, words):
        self.p = subprocess.Popen(words, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.got = b""
        self.messages = []
        self.n = 0

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def send(self, method, params=None, is_request=True):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if is_request:
            self.n += 1
            message["id"] = self.n
        self.raw(json.dumps(message).encode() + b"\n")
        return self.n

    def read(self, until=None):
        """The next message; with `until`, the answer to that id."""
        end = time.monotonic() + LIMIT_S
        while True:
            while b"\n" in self.got:
                line, self.got = self.got.split(b"\n", 1)
                message = json.loads(line)
                self.messages.append(message)
                if until is None or (message.get("id") == until and
                                     "method" not in message):
                    return message
            left = end - time.monotonic()
            if left < 0 or not select.select([self.p.stdout], [], [], left)[0]:
                raise SystemExit(f"no answer to {until}: {self.messages[-3:]}")
            more = os.read(self.p.stdout.fileno(), 65536)
            if not more:
                raise SystemExit(f"it ended before {until} was answered")
            self.got += more

    def ask(self, method, params=None):
        return self.read(self.send(method, params))

    def hello(self, date="2025-11-25", can=None):
        answer = self.ask("initialize", {
            "protocolVersion": date, "capabilities": can or {},
            "clientInfo": {"name": "scene", "version": "1"}})
        self.send("notifications/initialized", is_request=False)
        return answer

    def end(self):
        self.p.stdin.close()
        return self.p.wait(END_S)


def alone(params=None, can=None, **more):
    """Params of a request that stands alone."""
    meta = {META + "protocolVersion": "2026-07-28",
            META + "clientCapabilities": can or {}, **more}
    return {**(params or {}), "_meta": meta}


def say(*words):
    print(*words)


BEGUN = os.path.abspath("begun")


def programs():
    """PIDs of programs of routine__slow: its script names the file."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if BEGUN.encode() in f.read():
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_for_program():
    end = time.monotonic() + LIMIT_S
    while not (os.path.exists(BEGUN) and programs()):
        if time.monotonic() > end:
            raise SystemExit("no program of routine__slow came")
        time.sleep(0.02)


def wait_for_end():
    end = time.monotonic() + END_S
    while programs() and time.monotonic() < end:
        time.sleep(0.02)
    if programs():
        say("left running:", *programs())


def progress(c):
    """Steps are told as they end, only to those that ask for it."""
    c.hello()
    answer = c.read(c.send("tools/call", {
        "name": "routine__two", "arguments": {"city": "Ulm"},
        "_meta": {"progressToken": 7}}))
    told = [m["params"] for m in c.messages
            if m.get("method") == "notifications/progress"]
    if [t["progressToken"] for t in told] != [7, 7]:
        say("tokens", told)
    if [t["progress"] for t in told] != [1, 2] or told[0]["total"] != 2:
        say("numbers", told)
    if told[0]["message"] != "a: ok":
        say("message", told[0])
    if answer["result"]["isError"]:
        say("result", answer)
    del c.messages[:]
    c.ask("tools/call", {"name": "routine__two", "arguments": {"city": "U"}})
    if len(c.messages) != 1:
        say("without a token", c.messages)


def cancel(c):
    """A cancelled run ends, is not answered, and others go on."""
    c.hello()
    n = c.send("tools/call", {"name": "routine__slow"})
    wait_for_program()
    if "result" not in c.ask("ping"):
        say("ping during a call")
    c.send("notifications/cancelled", {"requestId": n, "reason": "enough"},
           is_request=False)
    last = c.ask("tools/call", {"name": "history", "arguments": {}})
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        run = c.ask("tools/call", {"name": "history", "arguments": {
            "limit": 1}})["result"]["structuredContent"]["runs"][0]
        if run["state"] == "finished":
            break
    if run["state"] != "finished":
        say("the run goes on", run)
    if any(m.get("id") == n for m in c.messages) or "error" in last:
        say("a cancelled call was answered", c.messages)
    wait_for_end()


def killed(c):
    """The client goes: matins and the run's program end."""
    c.hello()
    c.send("tools/call", {"name": "routine__slow"})
    wait_for_program()
    c.p.stdin.close()
    c.p.stdout.close()
    c.p.wait(END_S)


def shot(c):
    """matins itself is killed: the run ends all the same."""
    c.hello()
    c.send("tools/call", {"name": "routine__slow"})
    wait_for_program()
    c.p.kill()
    c.p.wait()


def hostile(c):
    """Lines that are no message, too long, too deep, too many."""
    c.raw(b"\x00\xff{{{\n[1,2\nnull\n42\n\"x\"\n" + b"[" * 5000 + b"\n")
    for _ in range(6):
        if "error" not in c.read():
            say("a bad line was no error")
    c.hello()
    c.raw(b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}\n')
    if c.read()["error"]["code"] != -32600:
        say("an id out of range", c.messages[-1])
    c.raw(b'{"jsonrpc":"2.0","id":"' + b"i" * 100000 + b'","method":"ping"}\n')
    if c.read()["error"]["code"] != -32600:
        say("an id without end", c.messages[-1])
    c.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"' +
          b"x" * (5 << 20) + b'"}\n')
    if "longer than" not in c.read()["error"]["message"]:
        say("a message without end", c.messages[-1])
    before = memory(c.p.pid)
    for _ in range(64):
        c.raw(b"y" * (1 << 20))
    c.raw(b"\n")
    c.read()
    if memory(c.p.pid) - before > 32 << 20:
        say("memory grew by", memory(c.p.pid) - before)
    if "result" not in c.ask("ping"):
        say("the session is over")


def memory(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def flood(c):
    """A client that asks and does not read: nothing more is read of it."""
    c.hello()
    line = b'{"jsonrpc":"2.0","id":"%d","method":"tools/list"}\n'
    os.set_blocking(c.p.stdin.fileno(), False)
    sent = 0
    while select.select([], [c.p.stdin], [], 1)[1] and sent < 200000:
        try:
            c.raw(b"".join(line % (sent + i) for i in range(50)))
            sent += 50
        except BlockingIOError:
            pass
    if sent >= 200000:
        say("all was read of a client that reads nothing")
    if memory(c.p.pid) > 256 << 20:
        say("memory", memory(c.p.pid))


def many(c):
    """More calls than may be open: the others are refused, all are answered."""
    c.hello()
    ids = [c.send("tools/call", {"name": "routine__slow"}) for _ in range(300)]
    wait_for_program()
    c.ask("ping")
    refused = [m for m in c.messages if "error" in m]
    if not refused or any("too many" not in m["error"]["message"]
                          for m in refused):
        say("refusals", refused[:2])
    if len({m.get("id") for m in c.messages} & set(ids)) < 300 - 256:
        say("more than 256 are open")
    for n in ids:
        c.send("notifications/cancelled", {"requestId": n}, is_request=False)
    if "result" not in c.ask("ping"):
        say("the session is over")


def eras(c):
    """Both eras in one session, in any order."""
    found = c.ask("server/discover", alone())["result"]
    if found["supportedVersions"] != ["2026-07-28"]:
        say("discover", found)
    if META + "serverInfo" not in found["_meta"]:
        say("no name", found)
    tools = c.ask("tools/list", alone())["result"]
    if tools["resultType"] != "complete" or "ttlMs" not in tools:
        say("list", tools)
    old = c.hello("2024-11-05")["result"]
    if old["protocolVersion"] != "2024-11-05":
        say("handshake", old)
    listed = c.ask("tools/list")["result"]
    if "resultType" in listed or "title" in listed["tools"][0]:
        say("the older era has members of the newer one", listed)
    called = c.ask("tools/call", {"name": "routine_list"})["result"]
    if "structuredContent" in called:
        say("structured content of 2024", called)
    called = c.ask("tools/call", alone({"name": "routine_list"}))["result"]
    if "structuredContent" not in called:
        say("structured content", called)


# ---- servers behind it ----

CAN = {"elicitation": {"form": {}}, "sampling": {}}
PERSON = {"action": "accept", "content": {"name": "Ada", "age": 36}}
MODEL = {"role": "assistant", "model": "m",
         "content": {"type": "text", "text": "as asked"}}


def text_of(message):
    return message.get("result", {}).get("content", [{}])[0].get("text")


def answered_old(c, tool, method, answer):
    """Call a tool that asks; the answers to its questions are `answer`."""
    n = c.send("tools/call", {"name": tool})
    while True:
        m = c.read()
        if m.get("id") == n and "method" not in m:
            return m
        if m.get("method") == method:
            c.raw(json.dumps({"jsonrpc": "2.0", "id": m["id"],
                              "result": answer}).encode() + b"\n")


def answered_new(c, tool, method, answer, can=None):
    params = {"name": tool}
    can = CAN if can is None else can
    m = c.ask("tools/call", alone(params, can))
    while m.get("result", {}).get("resultType") == "input_required":
        asked = m["result"]["inputRequests"]
        if [q["method"] for q in asked.values()] != [method]:
            say("asked for", asked)
        m = c.ask("tools/call", alone({
            **params, "inputResponses": {key: answer for key in asked},
            **{k: v for k, v in m["result"].items()
               if k == "requestState"}}, can))
    return m


def questions(c):
    """Servers of both eras ask clients of both eras."""
    for server in "new", "old":
        m = answered_new(c, f"mcp__{server}__ask", "elicitation/create",
                         PERSON)
        if text_of(m) != "hello Ada, 36":
            say("newer client,", server, m)
        m = answered_new(c, f"mcp__{server}__sample",
                         "sampling/createMessage", MODEL)
        if "as asked" not in json.dumps(m):
            say("newer client, sampling,", server, m)
    c.hello(can={"elicitation": {}, "sampling": {}})
    for server in "new", "old":
        m = answered_old(c, f"mcp__{server}__ask", "elicitation/create",
                         PERSON)
        if text_of(m) != "hello Ada, 36":
            say("older client,", server, m)
        m = answered_old(c, f"mcp__{server}__sample",
                         "sampling/createMessage", MODEL)
        if "as asked" not in json.dumps(m):
            say("older client, sampling,", server, m)


def first(c):
    """The first call waits for the server; requests behind it change nothing
    of what its client can be asked."""
    n = c.send("tools/call", alone({"name": "mcp__new__ask"}, CAN))
    time.sleep(0.05)  # the server takes longer to start
    c.send("ping", {"x": "y" * 50000})
    m = c.read(n)
    if m.get("result", {}).get("resultType") != "input_required":
        say(m)


def parked(c):
    """Answers to questions that nobody asked, or that were answered."""
    m = c.ask("tools/call", alone({"name": "mcp__old__ask"}, CAN))["result"]
    state = m["requestState"]
    bad = c.ask("tools/call", alone({
        "name": "mcp__old__ask", "requestState": state[::-1],
        "inputResponses": {}}, CAN))
    if bad.get("error", {}).get("code") != -32602:
        say("a state that was made up", bad)
    again = c.ask("tools/call", alone({
        "name": "mcp__old__ask", "requestState": state,
        "inputResponses": {}}, CAN))["result"]
    if again.get("resultType") != "input_required":
        say("no answer was taken for one", again)
    last = c.ask("tools/call", alone({
        "name": "mcp__old__ask", "requestState": again["requestState"],
        "inputResponses": {k: PERSON for k in again["inputRequests"]}}, CAN))
    if text_of(last) != "hello Ada, 36":
        say("at last", last)
    late = c.ask("tools/call", alone({
        "name": "mcp__old__ask", "requestState": again["requestState"],
        "inputResponses": {}}, CAN))
    if "error" not in late:
        say("answered twice", late)


def mute(c):
    """A client that cannot be asked: the server is told, nothing hangs."""
    c.hello()
    for server in "new", "old":
        m = c.ask("tools/call", {"name": f"mcp__{server}__ask"})
        if "hello" in json.dumps(m):
            say(server, m)


def changes(c):
    """A list that changes is told to clients of both eras."""
    n = c.send("subscriptions/listen", alone({
        "notifications": {"toolsListChanged": True}}))
    first = c.read()
    if first.get("method") != "notifications/subscriptions/acknowledged":
        say("first", first)
    c.ask("tools/call", alone({"name": "mcp__new__change"}))
    told = [m for m in c.messages if m.get("method") ==
            "notifications/tools/list_changed"]
    while not told:
        m = c.read()
        told = [m] if m.get("method", "").endswith("/list_changed") else []
    if told[0]["params"]["_meta"][META + "subscriptionId"] != n:
        say("the newer era", told)
    del c.messages[:]
    c.hello()
    c.ask("tools/call", {"name": "mcp__old__change"})
    while not any(m.get("method") == "notifications/tools/list_changed" and
                  "params" not in m for m in c.messages):
        c.read()


WATCHED = "test://watched-resource"
UPDATED = "notifications/resources/updated"


def touch(c, name, is_alone=False):
    """Change what is watched: what the server says of it, and the notices."""
    del c.messages[:]
    params = {"name": f"mcp__{name}__test_trigger_resource_change"}
    said = text_of(c.ask("tools/call", alone(params) if is_alone else params))
    # answers and notices of a server keep their order
    return said, [m["params"]["uri"] for m in c.messages
                  if m.get("method") == UPDATED]


def await_updates(c, n):
    """The servers tell of a change as soon as they are subscribed to."""
    while sum(m.get("method") == UPDATED for m in c.messages) < n:
        c.read()


def watch(c, name, prefix=""):
    """A resource is watched by a client of the older era, and no more."""
    uri = prefix + WATCHED
    c.hello()
    if touch(c, name) != ("told 0", []):
        say("not watched yet", c.messages)
    for n in 1, 2:
        m = c.ask("resources/subscribe", {"uri": uri})
        if m.get("result") != {}:
            say("subscribe", m)
    await_updates(c, 1)
    said, told = touch(c, name)
    if said == "told 0" or told != [uri, uri + "/part"]:
        say("watched", (said, told))
    m = c.ask("resources/subscribe", {"uri": "test://none"})
    if "error" not in m:
        say("nobody has it", m)
    m = c.ask("resources/unsubscribe", {"uri": uri})
    if m.get("result") != {}:
        say("unsubscribe", m)
    if touch(c, name) != ("told 0", []):
        say("watched no more", c.messages)


def watch_old(c):
    watch(c, "old")


def watch_new(c):
    watch(c, "new", "new+")


def early(c):
    """Resources are watched by the first request that a server gets."""
    c.hello()
    m = c.ask("resources/subscribe", {"uri": "test://none"})
    if "error" not in m:
        say("older era: nobody has it", m)
    for uri in WATCHED, "new+" + WATCHED:
        m = c.ask("resources/subscribe", {"uri": uri})
        if m.get("result") != {}:
            say(uri, m)
    await_updates(c, 2)


def ended(c):
    """A subscription that the server ends is begun again."""
    uri = "new+" + WATCHED
    c.hello()
    c.ask("resources/subscribe", {"uri": uri})
    await_updates(c, 1)
    del c.messages[:]
    c.ask("tools/call", {"name": "mcp__new__test_end_subscriptions"})
    await_updates(c, 1)
    if touch(c, "new")[1] != [uri, uri + "/part"]:
        say("watched again", c.messages)


def listen(c):
    """Resources are watched by a subscription of the newer era."""
    uris = [WATCHED, "new+" + WATCHED]
    n = c.send("subscriptions/listen", alone({"notifications": {
        "resourceSubscriptions": [*uris, "test://none", 5]}}))
    first = c.read()
    if first["params"]["notifications"] != {"resourceSubscriptions": uris}:
        say("acknowledged", first)
    await_updates(c, 2)
    for name, uri in zip(("old", "new"), uris):
        said, told = touch(c, name, True)
        if said == "told 0" or told != [uri, uri + "/part"]:
            say(name, (said, told))
        if any(m["params"]["_meta"][META + "subscriptionId"] != n
               for m in c.messages if m.get("method") == UPDATED):
            say("of no subscription", c.messages)
    c.send("notifications/cancelled", {"requestId": n}, is_request=False)
    for name in "old", "new":
        # what nobody watches is found at the first change
        if touch(c, name, True)[1]:
            say("watched no more", c.messages)
        if touch(c, name, True)[0] != "told 0":
            say("the server tells on", c.messages)


def logged(c, name, **more):
    """Levels of the messages that come with a call."""
    del c.messages[:]
    params = {"name": f"mcp__{name}__test_tool_with_logging"}
    c.ask("tools/call", alone(params, **more) if more else params)
    return [m["params"]["level"] for m in c.messages
            if m.get("method") == "notifications/message"]


def logs(c):
    """Messages come where the client wants them, of the level it wants."""
    level = {META + "logLevel": "info"}
    for name in "old", "new":
        if logged(c, name, can={}):
            say(name + ": none were asked for", c.messages)
        if logged(c, name, **level) != ["info"] * 3:
            say(name + ": newer era", c.messages)
        if logged(c, name, **{META + "logLevel": "error"}):
            say(name + ": newer era, fewer", c.messages)
    c.hello()
    if logged(c, "old") or logged(c, "new"):
        say("older era: none were asked for", c.messages)
    m = c.ask("logging/setLevel", {"level": "loud"})
    if "error" not in m:
        say("no level", m)
    for level, count in ("debug", 3), ("warning", 0), ("info", 3):
        c.ask("logging/setLevel", {"level": level})
        for name in "old", "new":
            if logged(c, name) != ["info"] * count:
                say(f"{name}: {level}", c.messages)


def stopped(c):
    """A cancelled call is cancelled at the server, and others go on."""
    c.hello()
    c.ask("tools/call", {"name": "mcp__old__echo", "arguments": {"text": "x"}})
    n = c.send("tools/call", {"name": "mcp__old__slow"})
    c.ask("tools/call", {"name": "mcp__old__echo", "arguments": {"text": "y"}})
    c.send("notifications/cancelled", {"requestId": n}, is_request=False)
    m = c.ask("tools/call", {"name": "mcp__old__echo",
                             "arguments": {"text": "z"}})
    if text_of(m) != "z" or any(x.get("id") == n for x in c.messages):
        say("after it", m)


def dies(c):
    """A server that dies fails its call, and the next has another."""
    c.hello()
    m = c.ask("tools/call", {"name": "mcp__frail__die"})
    if "error" not in m or "frail" not in m["error"]["message"]:
        say("died", m)
    m = c.ask("tools/call", {"name": "mcp__frail__live"})
    if text_of(m) != "alive":
        say("again", m)


def main():
    scene = globals()[sys.argv[1]]
    c = Client(sys.argv[2:])
    scene(c)
    if c.p.poll() is None:
        if not c.p.stdin.closed and sys.argv[1] != "flood":
            status = c.end()
            if status:
                say("status", status)
        else:
            c.p.kill()
            c.p.wait()
    wait_for_end()


main()
