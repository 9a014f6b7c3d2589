#!/usr/bin/env python3
"""Print what compare.sh has found: table.py RESULTS PROBES.TSV USER...

One letter for each user: E escaped, . blocked, ? it said nothing, - cannot be
tried; then how many of each, and how many ordinary programs still work.
"""

import collections
import os
import sys

COLUMNS = (("none", "none"), ("matins", "ours"), ("bwrap", "bwrap"),
           ("firejail", "fjail"), ("srt", "srt"), ("off", "off"),
           ("namespaces", "no-ns"), ("landlock", "no-ll"),
           ("landlock-abi=1", "abi1"), ("landlock-abi=4", "abi4"),
           ("listener", "no-li"), ("idmap", "no-id"), ("seccomp", "no-sc"))
LETTER = {"escaped": "E", "blocked": ".", "error": "?", "na": "-"}


def read(path):
    rows = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                cells = line.rstrip("\n").split("\t")
                rows[cells[0]] = cells
    return rows


def main():
    folder, table, users = sys.argv[1], sys.argv[2], sys.argv[3:]
    got = {(name, user): read(f"{folder}/{name}.probes.{user}")
           for name, _ in COLUMNS for user in users}
    with open(table, encoding="utf-8") as f:
        probes = [line.rstrip("\n").split("\t") for line in f
                  if line.strip() and line[0] != "#"]
    print()
    print("E escaped  . blocked  ? said nothing  - cannot be tried; as "
          + ", ".join(users))
    print("off: isolate = off; no-ns, no-ll, …: ours with namespaces, "
          "Landlock, a listener, id maps, filters hidden; abi: of Landlock")
    print(f"{'':20}" + "".join(f"{label:>6}" for _, label in COLUMNS))
    for row in probes:
        cells = ("".join(LETTER.get(got[name, user].get(row[0], [0, "na"])[1],
                                    "?") for user in users)
                 for name, _ in COLUMNS)
        known = " (not promised)" if "known" in row[3] else ""
        print(f"{row[0]:20}" + "".join(f"{c:>6}" for c in cells)
              + "  " + row[6] + known)
    for user in users:
        print(f"\nas {user}:")
        print(f"{'':12}{'blocked':>8}{'escaped':>8}{'nothing':>8}"
              f"{'n.a.':>6}{'   blocked of what works outside':>20}"
              "   ordinary programs that work")
        outside = {i for i, r in got["none", user].items()
                   if r[1] == "escaped"}
        for name, label in COLUMNS:
            rows = got[name, user]
            n = collections.Counter(r[1] for r in rows.values())
            held = sum(1 for i in outside if rows.get(i, "  ")[1] == "blocked")
            programs = read(f"{folder}/{name}.ordinary.{user}")
            same = sum(r[1] == "same" for r in programs.values())
            can = sum(r[1] not in ("na", "broken") for r in programs.values())
            print(f"{label:12}{n['blocked']:8}{n['escaped']:8}{n['error']:8}"
                  f"{n['na']:6}{held:15} of {len(outside):3}"
                  + (f"{same:18} of {can}" if programs else ""))


main()
