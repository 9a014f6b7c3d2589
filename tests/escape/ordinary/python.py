"""Ordinary things that Python programs do; `python.py NAME FOLDER`.

Each prints the same wherever it works.
"""

import sys


def processes(_):
    import multiprocessing
    with multiprocessing.Pool(4) as pool:
        print(sum(pool.map(abs, range(-100, 0))))


def spawned_processes(_):
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(abs, [-1, -2]))


def queue(_):
    import multiprocessing as mp
    q = mp.Queue()
    p = mp.Process(target=q.put, args=("from a process",))
    p.start()
    print(q.get(timeout=20))
    p.join()


def shared_memory(_):
    from multiprocessing import shared_memory as sm
    a = sm.SharedMemory(create=True, size=4096)
    b = sm.SharedMemory(name=a.name)
    a.buf[:5] = b"hello"
    print(bytes(b.buf[:5]))
    b.close()
    a.close()
    a.unlink()


def semaphores(_):
    import multiprocessing as mp
    s = mp.Semaphore(2)
    lock = mp.Lock()
    with s, lock:
        print(s.acquire(timeout=5), s.acquire(block=False))


def threads(_):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(16) as pool:
        print(sum(pool.map(lambda n: n * n, range(1000))))


def many_threads(_):
    import threading
    done = []
    all_of_them = [threading.Thread(target=done.append, args=(i,))
                   for i in range(100)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    print(len(done))


def async_tasks(_):
    import asyncio

    async def one(n):
        await asyncio.sleep(0)
        return n

    async def main():
        print(sum(await asyncio.gather(*map(one, range(500)))))

    asyncio.run(main())


def async_process(_):
    import asyncio

    async def main():
        p = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "print(6 * 7)", stdout=-1)
        print((await p.communicate())[0])

    asyncio.run(main())


def database(folder):
    import sqlite3
    with sqlite3.connect(folder + "/x.db") as db:
        db.execute("pragma journal_mode=wal")
        db.execute("create table t(a, b)")
        db.executemany("insert into t values(?, ?)",
                       [(i, i * i) for i in range(100)])
        print(db.execute("select sum(b) from t").fetchone())


def certificates(_):
    import ssl
    c = ssl.create_default_context()
    print(len(c.get_ca_certs()) > 0 or c.cert_store_stats()["x509"] >= 0,
          c.verify_mode)


def temporary_files(_):
    import tempfile
    with tempfile.TemporaryDirectory() as d:
        with tempfile.NamedTemporaryFile(dir=d) as f:
            f.write(b"x" * 70000)
            f.flush()
            print(f.tell())
    with tempfile.TemporaryFile() as f:
        print(f.write(b"without a name"))


def subprocess_listed(_):
    import subprocess
    print(subprocess.run(["sort"], input="b\na\n", text=True,
                         capture_output=True, check=True).stdout)


def subprocess_shell(_):
    import subprocess
    print(subprocess.check_output("echo $((6 * 7)) | cat", shell=True))


def archives(folder):
    import tarfile
    import zipfile
    with zipfile.ZipFile(folder + "/x.zip", "w",
                         zipfile.ZIP_DEFLATED) as z:
        z.writestr("a", "a" * 5000)
    with tarfile.open(folder + "/x.tar.xz", "w:xz") as t:
        t.add(folder + "/x.zip", "x.zip")
    with tarfile.open(folder + "/x.tar.xz") as t:
        print(t.getnames())


def foreign_functions(_):
    import ctypes
    libc = ctypes.CDLL("libc.so.6")
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int),
                                ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 5)(5, 3, 1, 4, 2)
    libc.qsort(numbers, 5, 4, callback(lambda a, b: a[0] - b[0]))
    print(list(numbers))


def memory_maps(folder):
    import mmap
    with open(folder + "/map", "w+b") as f:
        f.truncate(8192)
        with mmap.mmap(f.fileno(), 8192) as m:
            m[4096:4101] = b"hello"
        f.seek(4096)
        print(f.read(5))


def locales(_):
    import locale
    print(locale.setlocale(locale.LC_ALL, "C.UTF-8"), "ä".encode())


def time_zones(_):
    import datetime
    import zoneinfo
    z = zoneinfo.ZoneInfo("Europe/Berlin")
    print(datetime.datetime(2026, 7, 1, tzinfo=z).utcoffset())


def paths(folder):
    import pathlib
    p = pathlib.Path(folder) / "a" / "b"
    p.mkdir(parents=True)
    (p / "c.txt").write_text("text")
    (p / "l").symlink_to("c.txt")
    (p / "c.txt").chmod(0o600)
    (p / "c.txt").rename(p / "d.txt")
    print(sorted(x.name for x in pathlib.Path(folder).rglob("*")))


def walk(folder):
    import os
    print(sorted(f for _, _, names in os.walk(folder) for f in names))


def server(_):
    import http.server
    import threading
    import urllib.request

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"served " + self.path.encode())

        def log_message(self, *_):
            pass

    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    print(opener.open(f"http://127.0.0.1:{s.server_port}/x").read())
    s.shutdown()


def socket_pair(_):
    import socket
    a, b = socket.socketpair()
    a.sendall(b"hello")
    print(b.recv(9))


def signals(_):
    import os
    import signal
    seen = []
    signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    print(signal.sigwait({signal.SIGALRM}) if not signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGALRM}) else 0, seen)


def locks(folder):
    import fcntl
    with open(folder + "/lock", "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("locked")


def select_calls(_):
    import os
    import select
    r, w = os.pipe()
    e = select.epoll()
    e.register(r, select.EPOLLIN)
    os.write(w, b"x")
    print(len(e.poll(5)), select.select([r], [], [], 5)[0] == [r])


def fork_exec(_):
    import os
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def hashes(_):
    import hashlib
    import secrets
    import uuid
    print(hashlib.sha256(b"x").hexdigest()[:8], len(secrets.token_bytes(9)),
          len(str(uuid.uuid4())))


def scrypt(_):
    import hashlib
    print(hashlib.scrypt(b"x", salt=b"y", n=2, r=8, p=1).hex()[:8])


def decimals(_):
    import decimal
    import fractions
    import random
    random.seed(1)
    print(decimal.Decimal(1) / 7, fractions.Fraction(1, 3), random.random())


def big_memory(_):
    print(len(bytearray(200 << 20)))


def users(_):
    import getpass
    import os
    import pwd
    print(pwd.getpwuid(os.getuid()).pw_name != "", getpass.getuser() != "")


def limits(_):
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 64), hard))
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def random_device(_):
    with open("/dev/urandom", "rb") as f:
        print(len(f.read(16)))
    with open("/dev/zero", "rb") as f:
        print(f.read(2))


def compile_file(folder):
    import importlib
    import os
    with open(folder + "/made.py", "w", encoding="utf-8") as f:
        f.write("value = 42\n")
    sys.path.insert(0, folder)
    print(importlib.import_module("made").value,
          os.path.isdir(folder + "/__pycache__"))


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2] if len(sys.argv) > 2 else "")
