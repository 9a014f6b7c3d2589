"""
Every rule of [golden] by every verb in every form.

    golden_rules.py MATINS

Prints TAP lines without a plan. Each rule has three reports: the accepted one,
one that differs only in what the rule covers, and one that differs beyond.
"""
import json
import os
import subprocess
import sys

import jsonpatch

matins = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
FORMS = ["text", "unified", "json", "patch", "md", "html"]
NOTHING = {"text": "", "unified": "", "patch": "[]\n",
           "json": '{"same":true,"entries":[],"dropped":0}\n',
           "md": "no differences\n"}
ID = "123e4567-e89b-12d3-a456-4266141740%02d"
ROWS = [{"id": 1, "v": 1}, {"id": 2, "v": 2}]
# name, rule, accepted, covered, beyond (None: nothing is), its path below data
RULES = [
    ("none", '', 1, 1, 2, ""),
    ("ignore", 'ignore = ["data.x"]', 1, 2, None, ""),
    ("ignore, with $", 'ignore = ["$.step_results[step_name=a].data.x.y"]',
     {"y": 1, "z": 1}, {"y": 2, "z": 1}, {"y": 2, "z": 2}, ".z"),
    ("match int", 'match = { "data.x" = "int" }', 1, 25, 1.5, ""),
    ("match string", 'match = { "data.x" = "string" }', "a", "b", 1, ""),
    ("match uuid", 'match = { "data.x" = "uuid" }', ID % 1, ID % 2, "x", ""),
    ("match time", 'match = { "data.x" = "time" }', "2026-11-22",
     "2025-01-01T10:00:00Z", "now", ""),
    ("match hash", 'match = { "data.x" = "hash" }', "0f3c0f3c",
     "sha256:abcdef0123", "0f3", ""),
    ("match /regex/", r'match = { "data.x" = "/^v[0-9]+$/" }', "v1", "v22",
     "w1", ""),
    ("arrays set", 'arrays = { "data.x" = "set" }', [1, 2], [2, 1, 1], [2],
     "[0]"),
    ("arrays multiset", 'arrays = { "data.x" = "multiset" }', [1, 2, 2],
     [2, 1, 2], [2, 1], "[2]"),
    ("arrays key", 'arrays = { "data.x" = "key:id" }', ROWS, ROWS[::-1],
     [ROWS[1], {"id": 1, "v": 7}], "[id=1].v"),
    ("tolerance", 'tolerance = { "data.x" = 0.5 }', 1, 1.5, 1.51, ""),
    ("tolerance in %", 'tolerance = { "data.x" = "10%" }', 100, 110, 111, ""),
    ("embedded_json", '', '{"a": [1, 2]}', '{"a":[1,2]}', '{"a":[1,3]}',
     ".a[1]"),
    ("embedded_json false", 'embedded_json = false', '{"a": 1}', '{"a": 1}',
     '{"a":1}', ""),
    ("embedded_json list", 'embedded_json = ["data.x"]', '{"a": 1}',
     '{"a":1}', '{"a":2}', ".a"),
]


def call(*words, answers=None):
    run = [matins, "golden", *words]
    if answers:
        run = [sys.executable, here + "/on_terminal.py", answers, *run]
    return subprocess.run(run, capture_output=True, text=True, check=False)


def ok(holds, title, r=None):
    print("ok" if holds else "not ok", "-", title)
    if not holds and r:
        print("#", r.args, r.returncode, (r.stdout + r.stderr)
              .replace("\n", "\n# "))


def write(name, x):
    with open(name, "w", encoding="utf-8") as f:
        json.dump({"schema": "matins-report/1", "routine": "r", "summary": "s",
                   "step_results": [{"step_name": "a", "step_type": "x",
                                     "state": "ok", "output": "o",
                                     "data": {"x": x}}]}, f)


def accepted(folder):
    with open(folder + "/r.json", encoding="utf-8") as f:
        return json.load(f)["report"]


def inside(v):
    """Texts that hold JSON are that JSON, whatever their spelling."""
    if isinstance(v, dict):
        return {k: inside(x) for k, x in v.items()}
    if isinstance(v, list):
        return [inside(x) for x in v]
    return json.loads(v) if isinstance(v, str) and v[:1] == "{" else v


def check_rule(title, rule, beyond, path):
    def report(name):
        return ["r", "-c", "rules.toml", "--report", name]

    r = call("record", *report("old.json"))
    ok(r.returncode == 0, f"{title}: record", r)
    before = open("golden/r.json", "rb").read()
    for form in FORMS:
        for verb in ("check", "diff"):
            r = call(verb, *report("covered.json"), "--format", form)
            ok(r.returncode == 0 and r.stdout == NOTHING.get(form, r.stdout)
               and "<details" not in r.stdout and
               "matches nothing" not in r.stderr,
               f"{title}: {verb} --format {form}: what it covers", r)
    if beyond is None:
        return
    whole = "$.step_results[step_name=a].data.x" + path
    for form in FORMS:
        for verb in ("check", "diff"):
            r = call(verb, *report("beyond.json"), "--format", form)
            hint = "to accept: matins golden accept r -c rules.toml"
            shows = (whole in r.stdout.replace("\\", "")
                     if form != "patch" else '"op":"test"' in r.stdout)
            ok(r.returncode == 1 and shows and
               (hint in r.stdout + r.stderr) == (verb == "check") and
               (form in ("text",) or hint not in r.stdout),
               f"{title}: {verb} --format {form}: what it does not", r)
            if form == "patch":
                got = jsonpatch.apply_patch(accepted("golden"),
                                            json.loads(r.stdout))
    ok(open("golden/r.json", "rb").read() == before,
       f"{title}: check and diff write no golden file")
    call("record", *report("beyond.json"), "--dir", "new")
    if not rule.startswith(("arrays", "tolerance")):
        ok(inside(got) == inside(accepted("new")),
           f"{title}: the patch leads there, output included")
    r = call("reject", "r", "-c", "rules.toml", "--path", "$.nothing")
    ok(r.returncode == 1, f"{title}: reject --path of nothing", r)
    r = call("reject", "r", "-c", "rules.toml", "--path", whole)
    ok(r.returncode == 0 and "rejected: 1 of 1" in r.stderr,
       f"{title}: reject --path", r)
    r = call("accept", "r", "-c", "rules.toml")
    ok(r.returncode == 1, f"{title}: what was rejected is not accepted", r)
    call("check", *report("beyond.json"))
    r = call("review", "r", "-c", "rules.toml", answers="n")
    ok(r.returncode == 0 and open("golden/r.json", "rb").read() == before,
       f"{title}: review: no", r)
    env = os.environ.pop("CI", None)
    os.environ["CI"] = "1"
    r = call("review", "r", "-c", "rules.toml", answers="y")
    ok(r.returncode == 1 and open("golden/r.json", "rb").read() == before,
       f"{title}: review writes nothing in CI", r)
    r = call("record", *report("beyond.json"), "--dir", "ci")
    ok(r.returncode == 1 and not os.path.exists("ci/r.json"),
       f"{title}: record writes nothing in CI", r)
    del os.environ["CI"]
    if env is not None:
        os.environ["CI"] = env
    r = call("review", "r", "-c", "rules.toml", answers="y")
    ok(r.returncode == 0, f"{title}: review: yes", r)
    r = call("check", *report("beyond.json"))
    ok(r.returncode == 0, f"{title}: what a review took is accepted", r)
    with open("golden/r.json", "wb") as f:
        f.write(before)
    call("check", *report("beyond.json"))
    os.environ["CI"] = "1"
    r = call("accept", "r", "-c", "rules.toml", "--path", whole)
    del os.environ["CI"]
    ok(r.returncode == 0, f"{title}: accept --path, in CI", r)
    r = call("check", *report("beyond.json"))
    ok(r.returncode == 0, f"{title}: what was accepted is the same", r)


for title, rule, old, covered, beyond, path in RULES:
    for name, x in (("old", old), ("covered", covered), ("beyond", beyond)):
        write(name + ".json", x)
    with open("rules.toml", "w", encoding="utf-8") as f:
        f.write(f"[golden]\n{rule}\n[routines.r]\nsteps = []\n")
    check_rule(title, rule, beyond, path)
    for folder in ("golden", "new"):
        if os.path.exists(folder + "/r.json"):
            os.remove(folder + "/r.json")
