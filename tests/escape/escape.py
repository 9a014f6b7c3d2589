#!/usr/bin/env python3
"""Run the probes, or ordinary programs, in a sandbox or in none.

    escape.py probes   --under NAME --helpers DIR [--bin MATINS] ...
    escape.py ordinary --under NAME ... --table FILE

Runs as the user who calls it. The world outside the sandbox is made here:
files, servers, another process, shared memory; and what can be seen from
there is judged here: files that changed, processes that are left, output that
stays open. One line for each row: id, verdict, detail, between tabs.

Verdicts of probes: blocked, escaped, error (it said nothing: nothing is
proved), na (cannot be tried here). Of ordinary programs: same, differs, na.
"""

import argparse
import ctypes
import http.server
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = "SECRET of the test\n"
CALLER_ENV = {
    "LD_LIBRARY_PATH": "/nonexistent",
    "NODE_OPTIONS": "--no-warnings",
    "PYTHONPATH": "/nonexistent",
    "BASH_ENV": "/nonexistent",
    "PERL5LIB": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "AWS_SECRET_ACCESS_KEY": "SECRET",
    "https_proxy": "http://127.0.0.1:9",
}
CATCHER = """
import os, signal, sys, time
def note(*_):
    open(sys.argv[1], "w").close()
signal.signal(signal.SIGURG, note)
os.chdir(sys.argv[2])
print(os.getpid(), flush=True)
time.sleep(3600)
"""
def greet(listener, held):
    """A byte for each client, and nothing after it."""
    while True:
        client, _ = listener.accept()
        held.append(client)
        try:
            client.send(b"!")
        except OSError:
            pass


class Web(http.server.BaseHTTPRequestHandler):
    """A server outside that answers."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"from outside")

    def log_message(self, *_):
        pass


libc = ctypes.CDLL(None, use_errno=True)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


def children():
    """Processes of this user by pid, as their command lines."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                yield int(name), f.read()
        except OSError:
            pass


def empty_folder(path):
    """The folder itself stays: a process is in it."""
    os.makedirs(path, exist_ok=True)
    os.chmod(path, 0o755)
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)


class World:
    """What lies outside the sandbox."""

    def __init__(self, args):
        self.base = tempfile.mkdtemp(prefix="escape-", dir=args.scratch)
        os.chmod(self.base, 0o755)
        self.serial = 0
        pid = os.getpid()
        v = self.values = {
            name: f"{self.base}/{name}"
            for name in ("in", "no", "out", "home", "tree", "state", "config",
                         "left", "sock", "dsock")
        }
        h = args.helpers
        v.update(probe=f"{h}/probe", escape=f"{h}/escape",
                 syscall=f"{h}/syscall", bin=args.bin or "", suid=args.suid,
                 abstract=f"%matins-{pid}", dabstract=f"%matins-d{pid}",
                 tmpfile=f"/tmp/matins-{pid}", runner=str(pid),
                 shmfile=f"/dev/shm/matins-{pid}", sid=str(os.getsid(0)),
                 here=HERE, key=str(0x4D000000 | pid & 0xFFFFFF),
                 mq=f"matins-{pid}", top=os.path.dirname(
                     os.path.dirname(HERE)), helpers=h,
                 code=args.code, python=args.python, app=self.base + "/app")
        tools = os.path.dirname(args.node)
        v.update(node=args.node or "node", npm=f"{tools}/npm",
                 npx=f"{tools}/npx")
        v["loader"] = os.path.realpath("/lib64/ld-linux-x86-64.so.2")
        v["disk"] = next((f"/dev/{d}" for d in ("vda", "sda", "nvme0n1")
                          if os.path.exists(f"/dev/{d}")), "/dev/vda")
        v["cgroup"] = next(
            (p for p in ("/sys/fs/cgroup/cgroup.procs",
                         "/sys/fs/cgroup/unified/cgroup.procs",
                         "/sys/fs/cgroup/pids/cgroup.procs")
             if os.path.exists(p)), "/sys/fs/cgroup/cgroup.procs")
        self.held = []

    # ---- servers and processes

    def open(self):
        v = self.values
        for name in ("port", "other"):
            s = socket.socket()
            s.bind(("127.0.0.1", 0))
            s.listen(999)
            if hasattr(socket, "TCP_FASTOPEN"):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 99)
            v[name] = str(s.getsockname()[1])
            self.held.append(s)
            threading.Thread(target=greet, args=(s, self.held), daemon=True).start()
        u = socket.socket(type=socket.SOCK_DGRAM)
        u.bind(("127.0.0.1", 0))
        v["udp"] = str(u.getsockname()[1])
        free = socket.socket()
        free.bind(("127.0.0.1", 0))
        v["free"] = str(free.getsockname()[1])
        free.close()
        u.setblocking(False)
        self.held.append(u)
        self.datagrams = u
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        v["web"] = str(web.server_port)
        for name, kind in ((v["sock"], socket.SOCK_STREAM),
                           (v["dsock"], socket.SOCK_DGRAM),
                           ("\0" + v["abstract"][1:], socket.SOCK_STREAM),
                           ("\0" + v["dabstract"][1:], socket.SOCK_DGRAM)):
            s = socket.socket(socket.AF_UNIX, kind)
            s.bind(name)
            if name[0] == "/":
                os.chmod(name, 0o777)
            if kind == socket.SOCK_STREAM:
                s.listen(999)
            self.held.append(s)
        key = int(v["key"])
        self.shm = libc.shmget(key, 4096, 0o1666)
        self.msg = libc.msgget(key, 0o1666)
        self.sem = libc.semget(key, 1, 0o1666)
        queue = libc.mq_open(b"/" + v["mq"].encode(), os.O_CREAT | os.O_RDWR,
                             0o666, None)
        self.has_queue = queue >= 0
        self.fresh()
        self.catcher = subprocess.Popen(
            [sys.executable, "-I", "-c", CATCHER, self.base + "/signalled",
             v["no"]], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        v["pid"] = self.catcher.stdout.readline().decode().strip()

    def close(self):
        v = self.values
        self.catcher.kill()
        self.catcher.wait()
        libc.shmctl(self.shm, 0, None)
        libc.msgctl(self.msg, 0, None)
        libc.semctl(self.sem, 0, 0)
        if self.has_queue:
            libc.mq_unlink(b"/" + v["mq"].encode())
        for path in (v["tmpfile"], v["shmfile"]):
            if os.path.exists(path):
                os.unlink(path)
        self.remove_marked("/tmp")
        self.remove_marked("/dev/shm")
        for top, names, _ in os.walk(self.base):
            for name in names:
                if not os.path.islink(f"{top}/{name}"):
                    os.chmod(f"{top}/{name}", 0o700)
        shutil.rmtree(self.base, ignore_errors=True)

    def remove_marked(self, folder):
        """What probes that were not held left in shared places."""
        for name in os.listdir(folder):
            if f"escmark{os.getpid()}-" in name:
                os.unlink(f"{folder}/{name}")

    # ---- files

    def fresh(self):
        v = self.values
        for name in ("in", "no", "out", "home", "tree", "state", "config",
                     "left"):
            empty_folder(v[name])
        write(v["in"] + "/file", "public\n")
        write(v["no"] + "/file", SECRET)
        os.symlink(v["no"] + "/file", v["in"] + "/link")
        write(v["out"] + "/file", "mine\n")
        for name in (".ssh/id_ed25519", ".aws/credentials", ".bash_history",
                     ".bashrc"):
            write(f"{v['home']}/{name}", SECRET)
        for name in ("HEAD", "config", "config.worktree", "index",
                     "hooks/pre-commit"):
            write(f"{v['tree']}/.git/{name}", "ref: refs/heads/main\n"
                  if name == "HEAD" else "")
        os.makedirs(v["tree"] + "/.git/objects", exist_ok=True)
        os.makedirs(v["tree"] + "/.git/refs", exist_ok=True)
        write(v["state"] + "/matins/ledger", "")
        os.chmod(v["state"] + "/matins", 0o700)
        write(v["config"] + "/matins/config.toml", "")
        # what a program of an earlier run left where it could write
        os.symlink(v["home"], v["left"] + "/modules")
        os.symlink(v["home"] + "/.ssh/id_ed25519", v["left"] + "/notes")
        os.symlink("real", v["left"] + "/near")
        write(v["left"] + "/real/file", "mine\n")
        write(v["left"] + "/real/beside", SECRET)
        write(v["tmpfile"], SECRET, 0o666)
        write(v["shmfile"], SECRET, 0o666)

    def picture(self):
        """All that a probe must not change, as a dictionary."""
        v = self.values
        paths = [v["tmpfile"], v["shmfile"]]
        for name in ("in", "no", "home"):
            for top, dirs, files in os.walk(v[name]):
                paths += [top] + [f"{top}/{f}" for f in dirs + files]
        paths += [f"{v['tree']}/.git", f"{v['tree']}/.git/hooks"]
        paths += [f"{v['tree']}/.git/{f}" for f in
                  ("config", "config.worktree", "hooks/pre-commit")]
        paths += [f"{v['state']}/matins/ledger",
                  f"{v['config']}/matins/config.toml"]
        seen = {}
        for path in paths:
            try:
                st = os.lstat(path)
            except OSError:
                continue
            folder = stat.S_ISDIR(st.st_mode)
            seen[path] = (st.st_mode, st.st_uid, st.st_ino,
                          0 if folder else st.st_size,
                          0 if folder else st.st_mtime_ns,
                          tuple(os.listxattr(path, follow_symlinks=False)))
        return seen

    def mark(self):
        self.serial += 1
        self.values["mark"] = f"escmark{os.getpid()}-{self.serial}"
        return self.values["mark"]

    def datagram_came(self):
        came = False
        try:
            while self.datagrams.recv(99):
                came = True
        except BlockingIOError:
            return came

    def marked(self, tries=20):
        """Processes of the last probe that are still there after a while."""
        mark = self.values["mark"].encode()
        mine = os.getpid()
        left = []
        for _ in range(tries):
            left = [pid for pid, line in children()
                    if mark in line.split(b"\0") and pid != mine]
            if not left:
                break
            time.sleep(0.05)
        return left


# ---- sandboxes: the command line for OPTIONS and a command

def parse_options(options):
    """--name value pairs of `matins exec`."""
    pairs = [(options[i][2:], options[i + 1])
             for i in range(0, len(options), 2)]
    return pairs


def under_none(_args, _world, _options, command):
    return command


def under_matins(args, _world, options, command):
    return ([args.bin, "exec", "-q"] + shlex.split(args.extra) + options +
            ["--"] + command)


def under_bwrap(_args, world, options, command):
    line = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
            "--tmpfs", "/tmp", "--unshare-all"]
    for name, value in parse_options(options):
        if name == "write":
            line += ["--bind", value, value]
        elif name == "read" and value.startswith("/tmp/"):
            line += ["--ro-bind", value, value]
        elif name == "net" and value != "loopback":
            line += ["--share-net"]
        elif name == "env" and "=" in value:
            line += ["--setenv"] + value.split("=", 1)
        elif name == "cwd":
            line += ["--chdir", value]
    del world
    return line + ["--"] + command


def under_firejail(_args, _world, options, command):
    line = ["firejail", "--quiet"]
    for name, value in parse_options(options):
        if name == "env" and "=" in value:
            line += [f"--env={value}"]
        elif name == "net" and value == "loopback":
            line += ["--net=none"]
    return line + ["--"] + command


def under_srt(args, world, options, command):
    settings = {"network": {"allowedDomains": [], "deniedDomains": []},
                "filesystem": {"denyRead": [], "allowWrite": [],
                               "denyWrite": []}}
    prefix = []
    for name, value in parse_options(options):
        if name == "write":
            settings["filesystem"]["allowWrite"].append(value)
        elif name == "env" and "=" in value:
            prefix = prefix or ["env"]
            prefix.append(value)
        elif name == "cwd":
            prefix = ["env", "-C", value] + prefix[1:]
    path = world.base + "/srt.json"
    write(path, json.dumps(settings))
    return [args.srt, "--settings", path, "-c",
            shlex.join(prefix + command)]


UNDER = {"none": under_none, "matins": under_matins, "bwrap": under_bwrap,
         "firejail": under_firejail, "srt": under_srt}


# ---- running one thing

def environment(args, world, caller_env):
    v = world.values
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": v["home"],
           "XDG_STATE_HOME": v["state"], "XDG_CONFIG_HOME": v["config"],
           "LC_ALL": "C.UTF-8", "TZ": "UTC", "USER": args.user,
           "LOGNAME": args.user, "TERM": "dumb"}
    if args.coverage:
        env["GCOV_PREFIX"] = args.coverage
    if caller_env:
        env.update(CALLER_ENV)
    return env


def become_leader():
    import fcntl
    import termios
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Run:
    """One command; its output so far, and how it ended."""

    def __init__(self, argv, env, cwd, on_terminal=False, fds=()):
        self.text = b""
        self.terminal = None
        kinds = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                 "stderr": subprocess.STDOUT}
        if on_terminal:
            self.terminal, slave = pty.openpty()
            kinds = dict.fromkeys(kinds, slave)
        self.process = subprocess.Popen(
            argv, env=env, cwd=cwd, pass_fds=fds, **kinds,
            preexec_fn=become_leader if on_terminal else None)
        if on_terminal:
            os.close(slave)
            self.fd = self.terminal
        else:
            self.fd = self.process.stdout.fileno()

    def read(self, seconds, until=None):
        """Until the output ends, a text appears, or time is over: False."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return False
            try:
                chunk = os.read(self.fd, 65536)
            except OSError:  # a terminal that everybody has closed
                chunk = b""
            self.text += chunk[:1 << 20]
            if not chunk:
                return True
            if until and until in self.text:
                return True

    def end(self):
        """Kill what is left of it; its status."""
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            try:
                self.process.kill()
                self.process.wait(5)
            except (PermissionError, subprocess.TimeoutExpired):
                pass
        if self.terminal is not None:
            os.close(self.terminal)
        else:
            self.process.stdout.close()
        return self.process.returncode

    def words(self):
        return self.text.decode("utf-8", "replace")


def command_of(args, world, options, command):
    options = shlex.split(options.format_map(world.values))
    command = [w.format_map(world.values) for w in shlex.split(command)]
    argv = UNDER[args.under](args, world, options, command)
    return shlex.split(args.wrap) + argv


# ---- probes

def answer(text):
    for line in text.splitlines():
        m = re.search(r"(ok|escaped|blocked): (.*)", line)
        if m:
            word = "blocked" if m[1] == "blocked" else "escaped"
            return word, m[2]
    return "error", " ".join(text.split())[-200:]


def impossible(args, world, row):
    if "suid" in row["judge"]:
        try:
            st = os.stat(args.suid)
        except OSError:
            return "no set-user-id program"
        if not st.st_mode & stat.S_ISUID or st.st_uid != 0:
            return "no set-user-id program"
        if os.statvfs(args.suid).f_flag & os.ST_NOSUID:
            return "the disk has no set-user-id programs"
    if "{mq}" in row["command"] and not world.has_queue:
        return "no message queues"
    if "{bin}" in row["command"] and not args.bin:
        return "no program"
    return None


def limit_caller(row):
    """Core files are off in many shells: the caller's must be on."""
    import resource
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE,
                       (hard if "core" in row["judge"] else 0, hard))


def probe(args, world, row):
    """Again where the sandbox met what an earlier run of it had left."""
    result = probe_once(args, world, row)
    if result[0] == "error" and "EADDRINUSE" in result[1]:
        result = probe_once(args, world, row)
    return result


def probe_once(args, world, row):
    v = world.values
    why = impossible(args, world, row)
    if why:
        return "na", why
    world.mark()
    world.fresh()
    before = world.picture()
    signalled = world.base + "/signalled"
    if os.path.exists(signalled):
        os.unlink(signalled)
    limit_caller(row)
    fds = ()
    if "fd" in row["judge"]:
        fds = (os.open(v["no"], os.O_RDONLY | os.O_DIRECTORY),)
    run = Run(command_of(args, world, row["options"], row["command"]),
              environment(args, world, True),
              v["no"] if "cwd" in row["judge"] else "/",
              "pty" in row["judge"], fds)
    for fd in fds:
        os.close(fd)
    held = False
    if "kill" in row["judge"]:
        run.read(20, b"ready")
        try:
            os.kill(run.process.pid, signal.SIGKILL)
        except PermissionError:
            held = True
        ended = True
    else:
        ended = run.read(4 if {"ends", "gone"} & row["judge"] else 30)
    status = run.end()
    verdict, detail = answer(run.words())
    if "out" in row["judge"] and verdict == "escaped":
        verdict, detail = "blocked", "nothing has changed outside"
    left = world.marked(20 if {"gone", "ends", "kill"} & row["judge"] else 1)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    if held:
        return "na", "the runner cannot be killed by its user"
    if (verdict == "error" and "dies" in row["judge"] and
            (status < 0 or status > 128)):
        verdict, detail = "blocked", f"status {status}"
    refusals = (125, 126) if "start" in row["judge"] else (125,)
    if verdict == "error" and args.under == "matins" and status in refusals:
        return "blocked", "refused: " + detail
    if verdict == "error":
        return verdict, detail
    if not ended:
        return "escaped", "the output stays open"
    if left and {"gone", "ends", "kill"} & row["judge"]:
        return "escaped", f"{len(left)} processes are left"
    if os.path.exists(signalled):
        return "escaped", "the signal came"
    came = world.datagram_came()
    if "udp" in row["judge"] and verdict == "escaped" and not came:
        return "blocked", "the datagram went nowhere"
    after = world.picture()
    changed = [p for p in before if before[p] != after.get(p)]
    changed += [p for p in after if p not in before]
    if changed:
        return "escaped", "changed: " + changed[0].replace(world.base, "")
    return verdict, detail


def probe_rows(path):
    names = ("id", "who", "layer", "judge", "options", "command", "what")
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            row = dict(zip(names, line.rstrip("\n").split("\t")))
            row["judge"] = set(row["judge"].split(","))
            yield row


def run_probes(args, world):
    layers = set(filter(None, args.layer.split(",")))
    for row in probe_rows(args.table):
        if args.only and not re.search(args.only, row["id"]):
            continue
        if layers and not layers & set(row["layer"].split(",")):
            continue
        if "suid" in row["judge"] and os.getuid() == 0:
            continue  # root already
        if args.quick and "slow" in row["judge"]:
            continue
        try:
            verdict, detail = probe(args, world, row)
        except OSError as e:
            verdict, detail = "error", str(e)
        known = "known" if "known" in row["judge"] else "-"
        print(row["id"], verdict, row["who"], known, row["layer"],
              detail.replace("\t", " "), sep="\t", flush=True)


# ---- ordinary programs

def ordinary_rows(path):
    """id, group, options, command, what"""
    names = ("id", "group", "options", "command", "what")
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            yield dict(zip(names, line.rstrip("\n").split("\t")))


def prepare_ordinary(world):
    """A granted folder as every program finds it."""
    v = world.values
    world.fresh()
    os.unlink(v["in"] + "/link")
    write(v["in"] + "/words", "pear\napple\nfig\napple\n")
    write(v["in"] + "/deep/er/file", "deep\n")
    if not os.path.isdir(v["app"]):
        package = v["app"] + "/node_modules/ordinary"
        shutil.copytree(v["code"] + "/package", package)
        os.chmod(package + "/main.cjs", 0o755)
        os.mkdir(v["app"] + "/node_modules/.bin")
        os.symlink("../ordinary/main.cjs",
                   v["app"] + "/node_modules/.bin/ordinary")
        write(v["app"] + "/package.json", '{"name": "app"}')


def once(args, world, row, under):
    prepare_ordinary(world)
    saved = args.under
    args.under = under
    world.mark()
    argv = command_of(args, world, row["options"], row["command"])
    args.under = saved
    env = environment(args, world, False)
    if under != "matins":
        env.update(p.split("=", 1) for p in
                   (v for n, v in parse_options(shlex.split(
                       row["options"].format_map(world.values)))
                    if n == "env") if "=" in p)
    cwd = "/"
    for name, value in parse_options(shlex.split(
            row["options"].format_map(world.values))):
        if name == "cwd" and under != "matins":
            cwd = value
    run = Run(argv, env, cwd)
    ended = run.read(args.seconds)
    status = run.end()
    text = run.words() if ended else run.words() + "(did not end)"
    return status, text


def ordinary(args, world, row):
    words = shlex.split(row["options"] + " " + row["command"])
    for word in (words[i] for i in range(len(words))
                 if i and words[i - 1] == "--exec" or words[i] in
                 shlex.split(row["command"])[:1]):
        word = word.format_map(world.values)
        path = "/usr/local/bin:/usr/bin:/bin"
        if not os.path.isdir(word) and not shutil.which(word, path=path):
            return "na", f"no {word}"
    want = args.bare.get(row["id"]) or once(args, world, row, "none")
    args.bare[row["id"]] = want = tuple(want)
    if want[0] != 0:
        return "broken", f"bare: {want[0]}: {want[1][-300:]}"
    if not want[1].strip():
        return "broken", "bare: it prints nothing"
    got = once(args, world, row, args.under)
    if "EADDRINUSE" in got[1]:
        got = once(args, world, row, args.under)
    if got == want:
        return "same", want[1].strip().splitlines()[-1][:60]
    return "differs", (f"status {got[0]}: {got[1][-700:]} "
                       f"(bare: {want[1][-200:]})")


def run_ordinary(args, world):
    if args.cache and os.path.exists(args.cache):
        with open(args.cache, encoding="utf-8") as f:
            args.bare = json.load(f)
    for row in ordinary_rows(args.table):
        if args.groups and row["group"] not in args.groups.split(","):
            continue
        if args.only and not re.search(args.only, row["id"]):
            continue
        try:
            verdict, detail = ordinary(args, world, row)
        except OSError as e:
            verdict, detail = "error", str(e)
        print(row["id"], verdict, row["group"], "-", "-",
              " ".join(detail.split()), sep="\t", flush=True)
    if args.cache:
        write(args.cache, json.dumps(args.bare))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=("probes", "ordinary"))
    p.add_argument("--groups", default="", help="of ordinary programs")
    p.add_argument("--under", choices=UNDER, default="none")
    p.add_argument("--helpers", required=True)
    p.add_argument("--bin", default="")
    p.add_argument("--srt", default="srt")
    p.add_argument("--node", default=shutil.which("node") or "")
    p.add_argument("--python", default="/usr/bin/python3")
    p.add_argument("--code", default=HERE + "/ordinary")
    p.add_argument("--suid", default="/nonexistent")
    p.add_argument("--scratch", required=True)
    p.add_argument("--table", required=True)
    p.add_argument("--user", default="root")
    p.add_argument("--extra", default="", help="options of matins exec")
    p.add_argument("--wrap", default="", help="words before the sandbox")
    p.add_argument("--only", default="", help="pattern of ids")
    p.add_argument("--layer", default="", help="rows that hang on one of")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--coverage", default="")
    p.add_argument("--cache", default="",
                   help="file with what ordinary programs print outside")
    args = p.parse_args()
    args.bare = {}
    world = World(args)
    world.open()
    try:
        (run_probes if args.what == "probes" else run_ordinary)(args, world)
    finally:
        world.close()


if __name__ == "__main__":
    main()
