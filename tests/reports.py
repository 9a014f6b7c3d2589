#!/usr/bin/python3
"""Validate every report that the black-box tests produced; speaks TAP.

The reports lie in the folder $REPORTS, where lib.sh keeps them. They are
checked against the published schemas in golden/schema/ by python3-jsonschema,
which shares no code with the program.
"""
import json
import os
import pathlib
import sys

import jsonschema

TOP = pathlib.Path(__file__).resolve().parent.parent
SCHEMAS = TOP / "golden" / "schema"


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def validator(name):
    schema = load(SCHEMAS / name)
    jsonschema.Draft202012Validator.check_schema(schema)
    store = {}
    for path in SCHEMAS.glob("*.json"):
        other = load(path)
        store[path.name] = other
        if "$id" in other:
            store[other["$id"]] = other
    resolver = jsonschema.RefResolver.from_schema(schema, store=store)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def complaints(document, report, result):
    for error in report.iter_errors(document):
        yield f"{error.json_path}: {error.message[:300]}"
    for step in document.get("step_results", []):
        data = step.get("data")
        if isinstance(data, dict) and data.get("schema") == "mcp-client/1":
            for error in result.iter_errors(data):
                yield f"{step.get('step_name')}.data {error.json_path}: {error.message[:300]}"


def main():
    folder = pathlib.Path(os.environ.get("REPORTS", "build/release/reports"))
    files = sorted(folder.glob("*.json"))
    report = validator("matins-report-1.json")
    result = validator("mcp-client-1.json")
    failed = 0
    for n, path in enumerate(files, 1):
        try:
            bad = list(complaints(load(path), report, result))
        except ValueError as e:
            bad = [f"no JSON: {e}"]
        print(f"{'not ok' if bad else 'ok'} {n} - {path.name} is valid")
        for line in bad[:20]:
            print(f"# {line}")
        failed |= bool(bad)
    # A validator that accepts everything would make the above worthless.
    n = len(files) + 1
    wrong = {"schema": "matins-report/1", "step_results": [{"state": "fine"}]}
    caught = bool(list(report.iter_errors(wrong)))
    print(f"{'ok' if caught else 'not ok'} {n} - a wrong report is refused")
    print(f"{'ok' if files else 'not ok'} {n + 1} - there are reports to check")
    print(f"1..{n + 1}")
    return int(failed or not caught or not files)


if __name__ == "__main__":
    sys.exit(main())
