#!/usr/bin/python3
"""Thirty servers, written as people write them, at the first try.

Each is asked twice: as `matins call TOOL -- PROGRAM ARGS` and as a step of a
routine, without any sandbox table. What failed is run again with the lines
that the report advises, and once more after `matins trace --apply`. Prints
TAP and, as comments, a table.

    BIN         the matins under test
    THIRTY      folder with the node_modules of tests/thirty/package.json
    T           words: only servers whose name has one of them
"""

import concurrent.futures
import http.server
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("BIN", "build/matins"))
THIRTY = os.path.abspath(os.environ.get("THIRTY", "build/thirty"))
AT_ONCE = 3
# What may fail at the first try though it needs nothing of the user.
ALLOWED = 2


class Web(http.server.BaseHTTPRequestHandler):
    """Stands in for the services that some servers ask."""

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        self.rfile.read(length)
        if self.path == "/page":
            self.send("text/html", b"<!doctype html><title>A local page"
                      b"</title><h1>Good morning</h1><button>Go</button>")
            return
        text = "served by this machine"
        body = json.dumps({
            "success": True, "resultObj": text, "id": text, "data": {
                "markdown": text, "metadata": {}},
            "results": [{"id": "/a/b", "title": text, "description": text,
                         "totalSnippets": 1, "stars": 1}]}).encode()
        self.send("application/json", body)

    def send(self, content_type, body):
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def toml(value):
    """A value as TOML; tables in one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(k)} = {toml(v)}"
                          for k, v in value.items())
        return "{ " + inner + " }" if inner else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def merged(lines):
    """Advised lines of one key as one, as a person adds to a list."""
    keys = {}
    for line in lines:
        key, _, value = line.partition(" = ")
        value = tomllib.loads("v = " + value)["v"]
        if isinstance(value, list) and isinstance(keys.get(key), list):
            value = keys[key] + [v for v in value if v not in keys[key]]
        keys[key] = value
    return [f"{key} = {toml(value)}" for key, value in keys.items()]


class Project:
    """A folder as a user has it: a configuration, notes, code, servers."""

    def __init__(self, where, web):
        self.dir = where
        self.web = web
        self.env = {k: v for k, v in os.environ.items()
                    if not re.match(r"MATINS_|MODULEX_|MEMCP_|CI$", k)}
        # an own HOME beside it: nothing of the machine's owner is in play
        for name in "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME":
            self.env[name] = f"{where}-{name.lower()}"
            os.mkdir(self.env[name], 0o700)
        # a trace leaves homes shut that are not HOME
        home = pwd.getpwuid(os.getuid()).pw_dir
        if where.startswith(home + "/"):
            self.env["HOME"] = home
        node = os.path.dirname(shutil.which("node") or "/usr/bin/node")
        self.env.update(MATINS_ALLOW=where, LC_ALL="C.UTF-8", TZ="UTC",
                        PATH=f"{node}:/usr/local/bin:/usr/bin:/bin")
        shutil.copytree(os.path.join(HERE, "servers"), where,
                        dirs_exist_ok=True)
        shutil.copy(os.path.join(where, "mcp_lines.py"),
                    os.path.join(where, "todo_server"))
        self.files()
        self.venv()

    def files(self):
        self.write("notes/today.md", "buy milk\n")
        self.write("token", "not-a-real-credential\n")
        os.chmod(os.path.join(self.dir, "token"), 0o600)
        self.write("code/bad.js", "var unused = 1;\n")
        self.write("code/eslint.config.js", "module.exports = [{ rules:"
                   " { 'no-unused-vars': 'error' } }];\n")
        repo = os.path.join(self.dir, "repo")
        subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True,
                       env=self.env)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def venv(self):
        """As pip leaves it: a package and a console script."""
        where = os.path.join(self.dir, ".venv")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", where],
                       check=True)
        site = os.path.join(where, "lib", "python%d.%d" % sys.version_info[:2],
                            "site-packages", "todo_server")
        shutil.copytree(os.path.join(self.dir, "todo_server"), site)
        with open(os.path.join(HERE, "servers", "todo-console"),
                  encoding="utf-8") as file:
            script = file.read()
        self.write(".venv/bin/todo", f"#!{where}/bin/python\n{script}")
        os.chmod(os.path.join(where, "bin", "todo"), 0o755)

    def matins(self, *args, seconds=45):
        try:
            return subprocess.run([BIN, *args], cwd=self.dir, env=self.env,
                                  stdin=subprocess.DEVNULL, timeout=seconds,
                                  capture_output=True, text=True,
                                  check=False, errors="replace")
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(e.cmd, 124, "", "too slow")


class Server:
    def __init__(self, row, project):
        self.__dict__.update({"env": "", "needs": "", "far": "", "more": [],
                              "params": {}, "answer": "", "browser": False})
        text = json.dumps(row).replace("{PROJECT}", project.dir)
        self.__dict__.update(json.loads(text.replace("{WEB}", project.web)))
        if "package" in row:
            self.command = "npx"
            self.args = ["-y", self.package, *self.more]
            self.name = re.sub(r"\W+", "-", self.package).strip("-")
        self.project = project
        self.advice = []    # TOML lines that were followed
        self.listed = self.called = self.step = None
        self.text = ""

    def options(self):
        """The variables of a call: values, as in --env NAME=VALUE."""
        table = tomllib.loads("env = {" + self.env + "}")["env"]
        for name, value in table.items():
            if isinstance(value, dict):
                with open(value["file"], encoding="utf-8") as file:
                    value = file.read().strip()
            yield from ("--env", f"{name}={value}")

    def program(self):
        return [*self.options(), "--", self.command, *self.args]

    def has_answer(self, text):
        return bool(self.answer) and self.answer in text

    def ask(self):
        """The two commands for scripts."""
        r = self.project.matins("tools", "--timeout", "30", "--json", *self.program())
        self.listed = r.returncode == 0 and f'"{self.tool}"' in r.stdout
        if not self.listed:
            self.text = "tools: " + r.stderr[-1500:] + r.stdout[-300:]
        r = self.project.matins("call", self.tool, "--timeout", "30", "--args",
                                json.dumps(self.params), *self.program())
        self.called = self.has_answer(r.stdout)
        if not self.called:
            self.text += "\ncall: " + r.stderr[-1500:] + r.stdout[-600:]

    def toml(self):
        lines = ["[[routines.r.steps]]", f'name = "{self.name}"',
                 'type = "mcp-client"', f'command = "{self.command}"',
                 f"args = {toml(self.args)}", f'tool = "{self.tool}"',
                 f"params = {toml(self.params)}", "parallel = true",
                 "timeout = 60"]
        if self.env:
            lines.append(f"env = {{ {self.env} }}")
        return "\n".join(lines + merged(self.advice)) + "\n"

    def judge(self, entry):
        self.step = entry.get("state") == "ok" and self.has_answer(
            entry.get("output") or "")
        self.lines = [a["toml"] for a in entry.get("advice", []) if a["toml"]]
        # a line with a word in capitals is not to be pasted
        self.lines = [a for a in self.lines if '"HOST"' not in a]
        self.entry = entry
        return self.step


def run(project, servers):
    """One routine of all steps; each server gets its entry of the report."""
    project.write("thirty.toml", "\n".join(s.toml() for s in servers))
    r = project.matins("run", "-c", "thirty.toml", "-j", str(AT_ONCE), "r",
                       "--json", seconds=300)
    try:
        entries = {e["step_name"]: e
                   for e in json.loads(r.stdout)["step_results"]}
    except (ValueError, KeyError):
        entries = {}
        print("# the run: " + r.stderr[-2000:].replace("\n", "\n# "))
    for s in servers:
        s.judge(entries.get(s.name, {"state": "none", "error": r.stderr}))


def follow(project, servers):
    """The advised lines, as often as there is a new one, at most twice."""
    for _ in range(2):
        again = []
        for s in servers:
            new = [a for a in s.lines if a not in s.advice]
            if not s.step and not s.far and new:
                s.advice += new
                again.append(s)
        if again:
            run(project, again)


def trace(project, server):
    """What no advice mended: one trace, whose table is put into the file."""
    server.advice = []
    project.write("thirty.toml", server.toml())
    r = project.matins("trace", "-c", "thirty.toml", "--apply", "r",
                       server.name)
    if r.returncode:
        server.text += "\ntrace: " + r.stderr[-1500:]
    r = project.matins("run", "-c", "thirty.toml", "r", "--json")
    with open(os.path.join(project.dir, "thirty.toml"),
              encoding="utf-8") as file:
        server.advice = ["(trace) " + line for line in file.read().splitlines()
                         if "sandbox" in line]
    try:
        server.judge(json.loads(r.stdout)["step_results"][0])
    except (ValueError, KeyError):
        server.text += "\nrun: " + r.stderr[-1500:]


PAGE = """
[servers.browser]
command = "npx"
args = ["-y", "@playwright/mcp", "--headless", "--no-sandbox", "--isolated",
        "--executable-path", "/usr/bin/chromium"]
{sandbox}
[[routines.r.steps]]
name = "go"
type = "mcp-client"
server = "browser"
tool = "browser_navigate"
params = {{ url = "{web}/page" }}
timeout = 60
[[routines.r.steps]]
name = "look"
type = "mcp-client"
server = "browser"
tool = "browser_snapshot"
[[routines.r.steps]]
name = "shoot"
type = "mcp-client"
server = "browser"
tool = "browser_take_screenshot"
"""


def browse(project):
    """The three steps, and whether the page was opened, read and pictured."""
    r = project.matins("run", "-c", "page.toml", "r", "--json", seconds=120)
    try:
        steps = json.loads(r.stdout)["step_results"]
        go, look, shot = steps
    except (ValueError, KeyError):
        steps = [{}, {}, {}]
        go, look, shot = steps
    types = [c["type"] for c in (shot.get("data") or {}).get("content", [])]
    seen = "A local page" in (go.get("output") or "")
    read = "Good morning" in (look.get("output") or "")
    return steps, r, seen, seen and read and "image" in types


def page(tap, project):
    """A local page in a browser; its denied twin lacks the line for it."""
    host = project.web.removeprefix("http://")
    for how in "none", "line", "trace":
        sandbox = f'sandbox = {{ net = ["{host}"] }}' if how == "line" else ""
        project.write("page.toml", PAGE.format(sandbox=sandbox,
                                               web=project.web))
        if how == "trace":
            project.matins("trace", "-c", "page.toml", "--apply", "r", "go",
                           seconds=120)
        steps, r, seen, all_well = browse(project)
        if how == "none":
            good = steps[0].get("state") == "tool_error" and not seen and any(
                a["toml"].startswith("sandbox.net")
                for a in steps[0].get("advice", []))
            tap.ok(good, "without a grant it does not, and the advice says so")
        else:
            good = all_well
            tap.ok(good, "a browser opens, reads and pictures a local page" +
                   (" after one trace" if how == "trace" else ""))
        if not good:
            for line in (r.stderr[-1500:] + "\n" + json.dumps(
                    [dict(x, run=None, data=None) for x in
                     steps])).splitlines():
                print("# " + line[:900])


def is_named(server):
    """The host that a server needs: in its advice, else in a trace."""
    row = f'"{server.far}'
    if any(row in line for line in server.lines):
        server.advice = [line for line in server.lines if row in line]
        return True
    server.project.write("thirty.toml", server.toml())
    r = server.project.matins("trace", "-c", "thirty.toml", "r", server.name)
    server.text += "\ntrace: " + r.stdout[-500:] + r.stderr[-1500:]
    if row not in r.stdout:
        return False
    server.advice = ["(trace) " + line.strip()
                     for line in r.stdout.splitlines() if row in line]
    return True


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def ok(self, good, name, server=None):
        self.n += 1
        self.failed += not good
        print(("ok" if good else "not ok"), self.n, "-", name)
        if not good and server:
            shown = dict(server.entry, data=None, run=None)
            for line in (server.text + "\n" + json.dumps(shown)).splitlines():
                print("# " + line[:600])
            for d in server.entry.get("run", {}).get("denials", [])[:12]:
                print("# denial " + json.dumps(d)[:300])

    def skip(self, name, why):
        self.n += 1
        print("ok", self.n, "-", name, "# SKIP", why)


def report(tap, servers, first):
    for s in servers:
        name = s.name
        if not s.needs:
            tap.ok(s.called, f"{name}: call answers at the first try", s)
            tap.ok(first[name], f"{name}: a step answers at the first try", s)
        elif s.far:
            tap.ok(s.listed, f"{name}: lists its tools at the first try", s)
            tap.ok(is_named(s), f"{name}: the advice or a trace names {s.far}",
                   s)
        else:
            tap.ok(s.listed or s.needs == "folder",
                   f"{name}: lists its tools at the first try", s)
            tap.ok(s.step, f"{name}: a step answers after the advice, or one "
                   "trace", s)
    # a call that needs something of the user's cannot answer before it is
    # granted: such a server answers by the list of its tools
    good = sum(bool(s.listed and (s.needs or (s.called and first[s.name])))
               for s in servers)
    tap.ok(good >= len(servers) - ALLOWED,
           f"{good} of {len(servers)} servers answer at the first try")
    print("# server | first try: tools, call, step | advice followed | end")
    for s in servers:
        print("#", s.name, "|",
              ", ".join("yes" if x else "no"
                        for x in (s.listed, s.called, first[s.name])), "|",
              "; ".join(s.advice).replace(s.project.dir, ".") or "-", "|",
              "answers" if s.step else f"needs {s.far or s.needs}"
              if s.needs else "fails")


def skipped(tap, server):
    if server.browser and not os.path.exists("/usr/bin/chromium"):
        tap.skip(server.name, "chromium is not installed: make check-deps")
        return True
    if "jq" in server.name + server.command and not shutil.which("jq"):
        tap.skip(server.name, "jq is not installed: make check-deps")
        return True
    return False


def measure(tap, project, servers):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(Server.ask, servers))
    run(project, servers)
    first = {s.name: s.step for s in servers}
    follow(project, servers)
    for s in servers:
        if not s.step and not s.far:
            trace(project, s)
    report(tap, servers, first)


def main():
    if not os.path.isdir(os.path.join(THIRTY, "node_modules")):
        print("1..0 # SKIP the servers are not installed: make check-thirty")
        return 0
    tap = Tap()
    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    # below the folder of the servers, as a project has its node_modules
    with tempfile.TemporaryDirectory(prefix="t.", dir=THIRTY) as where:
        os.chmod(where, 0o755)
        os.mkdir(os.path.join(where, "project"))
        project = Project(os.path.join(where, "project"), f"http://127.0.0.1:{web.server_address[1]}")
        with open(os.path.join(HERE, "servers.toml"), "rb") as file:
            rows = tomllib.load(file)["server"]
        servers = [Server(row, project) for row in rows]
        words = os.environ.get("T", "").split()
        servers = [s for s in servers if not skipped(tap, s) and
                   (not words or any(w in s.name for w in words))]
        if servers:
            measure(tap, project, servers)
        if os.path.exists("/usr/bin/chromium") and (
                not words or any(w in "browser" for w in words)):
            page(tap, project)
    print(f"1..{tap.n}")
    return tap.failed > 0


sys.exit(main())
