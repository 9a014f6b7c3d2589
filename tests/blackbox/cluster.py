#!/usr/bin/env python3
"""A Slurm of two virtual nodes of this machine, as the user who starts it.

cluster.py FOLDER: makes keys, slurm.conf and state in FOLDER, starts munged,
slurmctld and two slurmd, says "up" or "down: WHY", then obeys lines of standard
input:

  kill slurmctld|n1|n2   SIGKILL to the daemon; of a node also to its tasks
  task                   SIGKILL to one task of a node, with all below it
  start slurmctld|n1|n2  start it again where it does not run

Each answers one line. At the end of the input all processes below this one end,
those that became orphans included, and no others.
"""

import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SBIN = "/usr/sbin:/usr/bin:/sbin:/bin"
NODES = ("n1", "n2")


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def parents():
    """pid: (parent, name) of all processes"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as f:
                text = f.read().decode("utf-8", "replace")
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:].rsplit(")", 1)
        found[int(pid)] = (int(rest.split()[1]), name)
    return found


def below(top):
    """processes beneath one, the nearest first"""
    known = parents()
    found, level = [], {top}
    while level:
        level = {p for p, (parent, _) in known.items() if parent in level}
        found += sorted(level)
    return found


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except OSError:
        pass


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.daemon = {}
        ctld, *ports = free_ports(3)
        user = __import__("pwd").getpwuid(os.getuid()).pw_name
        host = socket.gethostname().split(".")[0]
        with open(f"{folder}/munge.key", "wb") as f:
            os.fchmod(f.fileno(), 0o600)
            f.write(os.urandom(128))
        os.makedirs(f"{folder}/state")
        nodes = "".join(
            f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={p}"
            " CPUs=2 State=UNKNOWN\n" for n, p in zip(NODES, ports))
        with open(f"{folder}/slurm.conf", "w", encoding="utf-8") as f:
            f.write(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=5
KillWait=2
MinJobAge=10
{nodes}PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        self.env = {**os.environ, "PATH": SBIN,
                    "SLURM_CONF": f"{folder}/slurm.conf"}

    def command(self, name):
        if name == "munged":
            f = self.folder
            return ["munged", "-F", "-f", f"--key-file={f}/munge.key",
                    f"--socket={f}/munge.socket", f"--pid-file={f}/munge.pid",
                    f"--log-file={f}/munge.log", f"--seed-file={f}/munge.seed"]
        return ["slurmctld", "-D"] if name == "slurmctld" else \
            ["slurmd", "-D", "-N", name]

    def start(self, name):
        old = self.daemon.get(name)
        if old and old.poll() is None:
            return
        with open(f"{self.folder}/{name}.out", "ab") as log:
            self.daemon[name] = subprocess.Popen(
                self.command(name), env=self.env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)

    def tasks(self, node):
        """stepds of a node, and all beneath them"""
        known, steps = parents(), []
        for pid in below(os.getpid()):
            if not known.get(pid, (0, ""))[1].startswith("slurmstepd"):
                continue
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    is_its = f"SLURMD_NODENAME={node}".encode() in f.read()
            except OSError:
                continue
            if is_its or self.daemon[node].pid == known[pid][0]:
                steps.append(pid)
        return steps

    def kill(self, name):
        if name != "slurmctld":
            for step in self.tasks(name):
                kill_all([step] + below(step))
        daemon = self.daemon.get(name)
        if daemon:
            daemon.kill()
            daemon.wait()

    def kill_task(self):
        known = parents()
        all_steps = [p for p in below(os.getpid())
                     if known.get(p, (0, ""))[1].startswith("slurmstepd")]
        if all_steps:
            kill_all(below(random.choice(all_steps)))

    def wait_up(self):
        until = time.monotonic() + 20
        while time.monotonic() < until:
            said = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"],
                                  env=self.env, capture_output=True,
                                  text=True, check=False)
            if said.stdout.split() == ["idle"] * len(NODES):
                return ""
            if any(d.poll() is not None for d in self.daemon.values()):
                return "a daemon ended"
            time.sleep(0.1)
        return said.stderr.strip() or said.stdout.strip() or "no answer"

    def end(self):
        """until nothing is left: a process that is killed may leave orphans"""
        for _ in range(1000):
            left = below(os.getpid())
            if not left:
                return
            kill_all(left)
            time.sleep(0.02)
            reap()


def main():
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not all(shutil.which(p, path=SBIN)
               for p in ("munged", "slurmctld", "slurmd", "sbatch")):
        print("down: slurm-wlm and munge are not installed", flush=True)
        return
    cluster = Cluster(sys.argv[1])
    try:
        cluster.start("munged")
        until = time.monotonic() + 10
        while (not os.path.exists(f"{sys.argv[1]}/munge.socket")
               and time.monotonic() < until):
            time.sleep(0.02)
        for name in ("slurmctld",) + NODES:
            cluster.start(name)
        why = cluster.wait_up()
        print(f"down: {why}" if why else "up", flush=True)
        for line in sys.stdin if not why else ():
            word, *rest = line.split()
            if word == "task":
                cluster.kill_task()
            else:
                getattr(cluster, word)(rest[0])
            print("done", flush=True)
    finally:
        cluster.end()


main()
