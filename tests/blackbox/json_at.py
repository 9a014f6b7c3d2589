#!/usr/bin/env python3
"""Compare values inside a JSON file; the rules stand at json_is in lib.sh.

    json_at.py FILE PATH WANT [PATH WANT]...
    json_at.py --get FILE PATH
"""
import json
import re
import sys

ABSENT = object()


def exact(text):
    # loaded on first use: most documents have no fraction
    import decimal

    return decimal.Decimal(text)


def load(text):
    return json.loads(text, parse_float=exact)


def at(value, path):
    part = r"([^.\[\]]+)|\[(-?\d+)\]|\[(\w+)=([^\]]*)\]"
    for name, index, key, want in re.findall(part, path):
        if key:
            if not isinstance(value, list):
                return ABSENT
            value = next((v for v in value if at(v, key) == want), ABSENT)
        elif index:
            if not isinstance(value, list):
                return ABSENT
            try:
                value = value[int(index)]
            except IndexError:
                return ABSENT
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return ABSENT
    return value


def same(value, want):
    if want == "absent":
        return value is ABSENT
    if want == "present":
        return value is not ABSENT
    if value is ABSENT:
        return False
    if want.startswith("!"):
        return not same(value, want[1:])
    if want.startswith("~"):
        return isinstance(value, str) and re.search(want[1:], value) is not None
    if re.fullmatch(r"#\d+", want):
        return isinstance(value, (str, list, dict)) and len(value) == int(want[1:])
    if isinstance(value, str) and value == want:
        return True
    try:
        parsed = load(want)
    except ValueError:
        return False
    return type(value) is type(parsed) and value == parsed


def text(value):
    if value is ABSENT:
        return "(absent)"
    return json.dumps(value, default=str)[:2000]


def main(argv):
    get = argv[:1] == ["--get"]
    argv = argv[1:] if get else argv
    try:
        with open(argv[0], encoding="utf-8") as f:
            document = load(f.read())
    except (OSError, ValueError) as e:
        print(f"{argv[0]}: no JSON document: {e}")
        return 1
    if get:
        value = at(document, argv[1])
        if value is ABSENT:
            return 1
        print(value if isinstance(value, str) else text(value))
        return 0
    bad = 0
    for path, want in zip(argv[1::2], argv[2::2], strict=True):
        value = at(document, path)
        if not same(value, want):
            print(f"{path}: got {text(value)}, wanted {want}")
            bad = 1
    return bad


sys.exit(main(sys.argv[1:]))
