"""
Compares random reports under each kind of rule with `golden diff --format
patch`, applies each patch to the golden file of the old one by another
implementation of RFC 6902 (jsonpatch), and checks the result.

    patches.py SEED COUNT MATINS

Prints the first case that goes wrong, and ends with 1.
"""
import json
import random
import shutil
import subprocess
import sys

import jsonpatch

seed, count, matins = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
r = random.Random(seed)
SCALARS = [None, True, False, 0, 1, -2, 1.5, 10**29 + 1, "", "a", "a b",
           "x\ny\nz", "é\u202e", "a/b~c", '{"n":1}', "[1,2]", '{"n": 2}']
KEYS = ["a", "b", "c", "a/b", "~", "", "x y", "id"]


def value(depth=0):
    kind = r.random()
    if depth > 3 or kind < 0.5:
        return r.choice(SCALARS)
    if kind < 0.75:
        return [value(depth + 1) for _ in range(r.randint(0, 5))]
    return {r.choice(KEYS): value(depth + 1) for _ in range(r.randint(0, 5))}


def changed(v):
    if r.random() < 0.15:
        return value(2)
    if isinstance(v, list):
        v = [changed(x) if r.random() < 0.4 else x for x in v]
        if r.random() < 0.4:
            v.insert(r.randint(0, len(v)), value(2))
        if v and r.random() < 0.4:
            del v[r.randrange(len(v))]
        if r.random() < 0.1:
            r.shuffle(v)
    elif isinstance(v, dict):
        v = {k: changed(x) if r.random() < 0.4 else x for k, x in v.items()}
        if r.random() < 0.3:
            v[r.choice("defg")] = value(2)
        if v and r.random() < 0.3:
            del v[r.choice(list(v))]
    return v


def step(name):
    return {"step_name": name, "state": "ok", "data": value(),
            "step_type": r.choice(["mcp-client", "script"]),
            "output": "\n".join(r.choices("abc", k=r.randint(0, 4)))}


def report(steps):
    return {"schema": "matins-report/1", "routine": "r", "summary": "s",
            "step_results": steps}


def pair():
    old = [step(x) for x in r.sample("abcdef", r.randint(0, 5))]
    new = [{**s, "data": changed(s["data"])} if r.random() < 0.6 else s
           for s in old]
    new = [{**s, "output": "d"} if r.random() < 0.3 else s for s in new]
    if r.random() < 0.4 and new:
        del new[r.randrange(len(new))]
    if r.random() < 0.4:
        new.insert(r.randint(0, len(new)), step(r.choice("ghijk")))
    if r.random() < 0.3:
        r.shuffle(new)
    return report(old), report(new)


RULES = [
    "", "embedded_json = false", 'ignore = ["data..a", "$.summary"]',
    'embedded_json = ["data..a"]',
    'match = { "data..a" = "int", "data..b" = "string" }',
    'match = { "data..*" = "/^a/" }',
    'arrays = { "data" = "set", "data..*" = "set" }',
    'arrays = { "data" = "multiset", "data..*" = "multiset" }',
    'arrays = { "data" = "key:id", "data..*" = "key:id" }',
    'tolerance = { "data..*" = 1 }', 'tolerance = { "data..*" = "50%" }',
]


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def same_sets(a, b, rule, is_set):
    """Elements in any order; in a set also more than once."""
    if is_set:
        return (all(any(same(x, y, rule) for y in b) for x in a) and
                all(any(same(x, y, rule) for x in a) for y in b))
    left = list(b)
    for x in a:
        at = [i for i, y in enumerate(left) if same(x, y, rule)]
        if not at:
            return False
        del left[at[0]]
    return not left


def same(a, b, rule):
    """Is it the same value, as far as the rule says?"""
    if "(ignored)" in (a, b):
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        return all(same(a.get(k, "(ignored)" if "ignore" in rule else None),
                        b.get(k, "(ignored)" if "ignore" in rule else None),
                        rule) and ("ignore" in rule or (k in a) == (k in b))
                   for k in {*a, *b})
    if isinstance(a, list) and isinstance(b, list):
        if "arrays" in rule:
            return same_sets(a, b, rule, '"set"' in rule)
        return len(a) == len(b) and all(map(same, a, b, [rule] * len(a)))
    if isinstance(a, str) and isinstance(b, str):
        if a[:1] + b[:1] in ("{{", "[[") and rule != RULES[1]:
            return same(json.loads(a), json.loads(b), rule)
        return a == b
    if is_number(a) and is_number(b) and "tolerance" in rule:
        return abs(a - b) <= (abs(a) / 2 if "%" in rule else 1)
    return type(a) is type(b) and a == b


def golden(*words):
    return subprocess.run([matins, "golden", *words, "-c", "rules.toml"],
                          capture_output=True, check=False)


def view(folder):
    with open(folder + "/r.json", encoding="utf-8") as f:
        return json.load(f)


def write(name, doc):
    with open(name, "w", encoding="utf-8") as f:
        json.dump(doc, f)


def try_case(old, new, rule):
    """Returns the patch, and what is wrong."""
    for folder in ("was", "is"):
        shutil.rmtree(folder, ignore_errors=True)
    with open("rules.toml", "w", encoding="utf-8") as f:
        f.write(f"[golden]\n{rule}\n[routines.r]\nsteps = []\n")
    write("old.json", old)
    write("new.json", new)
    golden("record", "r", "--report", "old.json", "--dir", "was")
    golden("record", "r", "--report", "new.json", "--dir", "is")
    run = golden("diff", "r", "--report", "new.json", "--dir", "was",
                 "--format", "patch")
    was, wanted = view("was"), view("is")["report"]
    try:
        got = jsonpatch.apply_patch(was["report"], json.loads(run.stdout))
    except (jsonpatch.JsonPatchException, ValueError) as e:
        return run, repr(e)
    if not same(got, wanted, rule):
        return run, f"the result is another: {got}"
    if run.returncode != (run.stdout != b"[]\n"):
        return run, f"status {run.returncode}: {run.stderr.decode()}"
    write("was/r.json", {**was, "report": got})
    again = golden("check", "r", "--report", "new.json", "--dir", "was")
    if again.returncode != 0:
        return run, f"it differs still: {again.stdout.decode()}"
    return run, None


for case in range(count):
    old, new = pair()
    rule = RULES[case % len(RULES)]
    run, why = try_case(old, new, rule)
    if why:
        print(f"seed {seed}, case {case}, {rule or 'no rule'}: {why}")
        print(json.dumps(old), json.dumps(new), run.stdout.decode(), sep="\n")
        sys.exit(1)
print(f"{count} patches applied")
