"""Commands that are killed, or meet a full disk, at each call that changes a
file; afterwards what was said to be kept is looked for.

    survive.py BIN FAIL SCENARIO ACTION [STEP [COARSE]]

Every STEPth call is tried (1), or COARSE times as few. The current folder has
m.toml and the state folder; what is wrong is printed, a line each, and the
number of trials on stderr.
"""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

BIN, FAIL, SCENARIO, ACTION = sys.argv[1:5]
STEP = int(sys.argv[5]) if len(sys.argv) > 5 else 1
COARSE = int(sys.argv[6]) if len(sys.argv) > 6 else 1
STATE = os.environ["XDG_STATE_HOME"] + "/matins"
NOT_KEPT = ("not recorded", "not fully recorded", "kept without its notices")
wrong = []


def matins(*words, prefix=()):
    """Run it; status, stdout, stderr. A lock that is held for ever is a time
    limit here."""
    p = subprocess.run([*prefix, BIN, *words], stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=30)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


class Ledger:
    """What the ledger said so far, and must go on to say."""

    def __init__(self):
        self.runs = {}

    def look(self, where):
        status, out, err = matins("history", "-n", "100000", "--json", "-v")
        runs = parsed(out)
        if status or runs is None:
            wrong.append(f"{where}: history: {status}: {err}")
            return
        runs = runs["runs"]
        now = {r["generation"]: r for r in runs}
        if len(now) != len(runs):
            wrong.append(f"{where}: a number was given twice")
        for n, r in now.items():
            if r["state"] == "running":
                wrong.append(f"{where}: run {n} is dead and runs")
        for n, r in self.runs.items():
            if now.get(n) != r:
                wrong.append(f"{where}: run {n} was {r}, is {now.get(n)}")
        for n in now.keys() - self.runs.keys():
            self.look_at_report(where, now[n])
        self.runs = now

    def look_at_report(self, where, run):
        if not run.get("sha256"):
            return
        status, out, err = matins("show", str(run["generation"]), "--json")
        if status or "was changed" in err:
            wrong.append(f"{where}: report of {run['generation']}: {err}")

    def last(self):
        return max(self.runs, default=0)

    def is_kept(self, generation, report):
        run = self.runs.get(generation, {})
        return run.get("state") == "finished" and \
            run.get("sha256") == hashlib.sha256(report).hexdigest()


class Run:
    """A run, and the next one behind it."""
    words = ["run", "-c", "m.toml", "r", "--json"]

    def __init__(self):
        self.ledger = Ledger()
        self.prepare()
        matins(*self.words)
        self.ledger.look("before")

    def prepare(self):
        pass

    def begin(self):
        if os.path.exists("marks/a"):
            os.unlink("marks/a")

    def check(self, where, status, out, err):
        before = self.ledger.last()
        self.ledger.look(where)
        new = [r for n, r in self.ledger.runs.items() if n > before]
        if len(new) > 1:
            wrong.append(f"{where}: one run is {new}")
        report = parsed(out)
        is_said = report and not any(w in err for w in NOT_KEPT)
        generation = report.get("generation") if report else 0
        if is_said and generation and \
           not self.ledger.is_kept(generation, out):
            wrong.append(f"{where}: run {generation} was said to be kept, "
                         f"and is not: {self.ledger.runs.get(generation)}")
        if ACTION == "KILL" and new and new[0]["state"] == "lost" and \
           out and report:
            wrong.append(f"{where}: a lost run has printed its report")
        self.check_more(where, status, out, err, new)
        self.go_on(where)

    def check_more(self, where, status, out, err, new):
        """Nothing runs that is not recorded, unless that was said."""
        if os.path.exists("marks/a") and not new and \
           not any(w in err for w in NOT_KEPT):
            wrong.append(f"{where}: a step ran, and no run is recorded")

    def go_on(self, where):
        status, out, err = matins("run", "-c", self.words[2], "r", "--json")
        report = parsed(out)
        lost = self.ledger.runs.get(self.ledger.last(), {})
        says = f"run {lost.get('generation')} of r, the one before this, was lost"
        if (lost.get("state") == "lost") != (says in err):
            wrong.append(f"{where}: of {lost} the next run says: {err}")
        if status or not report or err.count("warning") != err.count(says):
            wrong.append(f"{where}: the next run: {status}: {err}")
        if report and report["generation"] <= self.ledger.last():
            wrong.append(f"{where}: number {report['generation']} again")
        self.ledger.look(where + ", next")
        if report and not self.ledger.is_kept(report["generation"], out):
            wrong.append(f"{where}: the next run is not kept")


class First(Run):
    """The first run of a machine: folders are made."""

    def __init__(self):
        self.ledger = Ledger()

    def begin(self):
        super().begin()
        self.ledger = Ledger()
        shutil.rmtree(STATE, ignore_errors=True)


class Required(Run):
    words = ["run", "-c", "m.toml", "r", "--json", "--require-ledger"]

    def check_more(self, where, status, out, err, new):
        if os.path.exists("marks/a") and not new:
            wrong.append(f"{where}: a step ran, and no run is recorded")
        kept = [r for r in new if r["state"] == "finished" and
                r.get("sha256")]
        if status == 0 and not kept:
            wrong.append(f"{where}: status 0, and nothing is kept: {err}")


class Slot(Run):
    """A slot is run once, or once more where it was lost."""
    words = ["run", "-c", "m.toml", "r", "--json", "--slot"]

    def prepare(self):
        self.day = 0
        self.words = Slot.words + ["2025-01-01T00:00"]

    def begin(self):
        super().begin()
        self.day += 1
        self.slot = f"20{10 + self.day // 360:02}-{1 + self.day // 30 % 12:02}" \
                    f"-{1 + self.day % 28:02}T07:{self.day % 60:02}"
        self.words = Slot.words + [self.slot]

    def go_on(self, where):
        had = self.of_slot()
        status, out, err = matins(*self.words)
        self.ledger.look(where + ", next")
        now = self.of_slot()
        if status:
            wrong.append(f"{where}: the slot again: {status}: {err}")
        if len(now) != 1 or (had and had != now):
            wrong.append(f"{where}: the slot was run as {had}, then {now}")

    def of_slot(self):
        return [n for n, r in self.ledger.runs.items()
                if r.get("slot") == self.slot and r["state"] == "finished"]


class Notify(Run):
    """A run that tells somebody of its end."""
    words = ["run", "-c", "notify.toml", "r", "--json"]

    def begin(self):
        super().begin()
        with open("word", "a") as f:
            f.write("and more\n")


class Record(Run):
    """A recording is whole, or is refused."""
    words = ["run", "-c", "m.toml", "r", "--json", "--record", "tape"]

    def begin(self):
        super().begin()
        shutil.rmtree("tape", ignore_errors=True)

    def check_more(self, where, status, out, err, new):
        replayed, _, why = matins("run", "-c", "m.toml", "r", "--json",
                                  "--replay", "tape")
        if status == 0 and replayed:
            wrong.append(f"{where}: recorded, and not replayed: {why}")
        if replayed not in (0, 1, 2):
            wrong.append(f"{where}: replay: {replayed}: {why}")


class RecordAgain(Record):
    """A recording stays until the next one is whole."""
    file = "session.toml"
    words = ["run", "-c", file, "r", "--json", "--record", "tape"]

    def prepare(self):
        matins(*self.words)
        os.rename("tape", "tape.before")

    def begin(self):
        super().begin()
        shutil.copytree("tape.before", "tape")

    def check_more(self, where, status, out, err, new):
        status, _, err = matins("run", "-c", self.file, "r", "--json",
                                "--replay", "tape")
        if status:
            wrong.append(f"{where}: the recording is gone: {err}")
        left = [n for n in os.listdir("tape") if n[0] == "."]
        if left and ACTION != "KILL":
            wrong.append(f"{where}: left in the folder: {left}")


class Files:
    """A command that changes files, which go back to what they were."""
    folder = "golden"

    def __init__(self):
        matins("run", "-c", "m.toml", "r")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.prepare()
        for f in (self.folder, STATE):
            shutil.rmtree(f + ".before", ignore_errors=True)
            if os.path.isdir(f):
                shutil.copytree(f, f + ".before")

    def begin(self):
        for f in (self.folder, STATE):
            shutil.rmtree(f, ignore_errors=True)
            if os.path.isdir(f + ".before"):
                shutil.copytree(f + ".before", f)

    def expect(self, where, wanted, *words):
        status, out, err = matins(*words)
        if status not in wanted:
            wrong.append(f"{where}: {' '.join(words)}: {status}: "
                         f"{err or out[:200]}")
        return status


class GoldenRecord(Files):
    words = ["golden", "record", "-c", "m.toml", "r", "--report", "last"]

    def prepare(self):
        pass

    def check(self, where, status, out, err):
        """It is there, whole, or not there."""
        there = os.path.exists("golden/r.json")
        if status == 0 and not there:
            wrong.append(f"{where}: recorded, and there is no file")
        self.expect(where, (1,) if there else (0,), *self.words)
        self.expect(where, (0,), "golden", "check", "-c", "m.toml", "r")
        names = matins("golden", "list", "-c", "m.toml")[1].decode()
        if "json." in names:
            wrong.append(f"{where}: a part of a file is listed: {names}")


class GoldenAccept(Files):
    """The candidate of a check is in the state folder."""
    words = ["golden", "accept", "-c", "m.toml", "r"]

    def prepare(self):
        matins("golden", "record", "-c", "m.toml", "r")
        with open("word", "w") as f:
            f.write("other\n")
        matins("golden", "check", "-c", "m.toml", "r")

    def check(self, where, status, out, err):
        now = self.expect(where, (0, 1) if status else (0,),
                          "golden", "check", "-c", "m.toml", "r")
        if now:
            self.expect(where, (0,), "golden", "accept", "-c", "m.toml", "r")
            self.expect(where, (0,), "golden", "check", "-c", "m.toml", "r")


class Prune(Files):
    words = ["golden", "prune", "-c", "m.toml"]

    def prepare(self):
        matins("golden", "record", "-c", "m.toml", "r")
        with open("golden/r.json") as f:
            text = f.read()
        for n in range(3):
            with open(f"golden/old{n}.json", "w") as f:
                f.write(text.replace('"routine": "r"', f'"routine": "old{n}"'))

    def check(self, where, status, out, err):
        self.expect(where, (0,), *self.words)
        self.expect(where, (0,), "golden", "check", "-c", "m.toml", "r")
        if glob.glob("golden/old*"):
            wrong.append(f"{where}: not pruned: {glob.glob('golden/*')}")


class Schedule(Files):
    """The crontab of a mount namespace, and what is kept of the schedule."""
    words = ["schedule", "add", "r", "-c", "m.toml", "--at", "07:00",
             "--with", "cron"]

    def prepare(self):
        if not os.path.ismount("/var/spool/cron/crontabs"):
            sys.exit("this would change the crontab of the machine")

    def begin(self):
        super().begin()
        subprocess.run(["crontab", "-"], input=b"# mine\n", check=True)

    def check(self, where, status, out, err):
        lines = self.lines()
        if len(lines) != 1 and (lines or not status):
            wrong.append(f"{where}: {status}, and {lines}")
        listed = matins("schedule", "list")[1].decode()
        if lines and not listed.startswith("r "):
            wrong.append(f"{where}: nothing lists {lines}: {listed}")
        if status:
            # a schedule that is listed is removed first, as add says
            again, _, why = matins(*self.words)
            if again and "remove" not in why:
                wrong.append(f"{where}: again: {why}")
            if again:
                self.expect(where, (0,), "schedule", "remove", "r", "-c",
                            "m.toml")
                self.expect(where, (0,), *self.words)
            if len(self.lines()) != 1:
                wrong.append(f"{where}: then {self.lines()}")
        self.expect(where, (0,), "schedule", "remove", "r", "-c", "m.toml")
        if self.crontab() != "# mine\n":
            wrong.append(f"{where}: the crontab is {self.crontab()!r}")

    @staticmethod
    def crontab():
        return subprocess.run(["crontab", "-l"], capture_output=True,
                              check=False).stdout.decode()

    def lines(self):
        return [w for w in self.crontab().splitlines()
                if not w.startswith("#")]


SCENARIOS = {"run": Run, "first": First, "required": Required, "slot": Slot,
             "notify": Notify, "record": Record,
             "record-again": RecordAgain, "golden-record": GoldenRecord,
             "golden-accept": GoldenAccept, "prune": Prune,
             "schedule": Schedule}


def main():
    trials = 0
    s = SCENARIOS[SCENARIO]()
    for n in range(1, 2000, STEP * COARSE):
        s.begin()
        if os.path.exists("tried"):
            os.unlink("tried")
        status, out, err = matins(
            *s.words, prefix=(FAIL, "tried", "changes", ACTION, str(n), "--"))
        if not os.path.exists("tried"):
            break
        trials += 1
        if status == 99 or (status >= 128 and ACTION != "KILL"):
            wrong.append(f"{ACTION} {n}: status {status}: {err}")
        s.check(f"{ACTION} {n}", status, out, err)
    if os.environ.get("VERBOSE"):
        print(f"{trials} trials", file=sys.stderr)
    if trials * COARSE < 3:
        wrong.append("nothing was tried")
    for line in wrong[:20]:
        print(line)


main()
