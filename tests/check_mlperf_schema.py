#!/usr/bin/env python3
"""Checks what `ridge mlperf ... --json` prints against docs/schema/mlperf.json, and what holds between its numbers.

Usage: check_mlperf_schema.py RIDGE ROOT
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_schema import problems  # noqa: E402

# (words after `ridge mlperf`, definition of the document, definition of its rows or None)
QUERIES = [
    ("table --benchmark deepseek-r1 --round v5.1", "rows", "group"),
    ("table --benchmark llama2-70b --per watt --stat best", "rows", "group"),
    ("table --benchmark llama2-70b --per dollar --by accelerator,weights", "rows", "group"),
    ("table --benchmark llama31_405b --per system --by accelerator,size", "rows", "group"),
    ("table --benchmark deepseek-r1 --round v5.1 --rows", "rows", "result"),
    ("trend --benchmark llama2-70b --scenario Offline", "rows", None),
    ("compare coupling", "rows", None),
    ("compare generations", "rows", None),
    ("compare scenarios", "rows", None),
    ("compare elasticity", "rows", None),
    ("compare virtualised", "rows", None),
    ("compare b200-sxm-180gb h200-sxm-141gb", "rows", None),
    ("rules", "rows", None),
    ("rules count-in-name", "rows", None),
    ("explain i5.1-390", "explain", None),
    ("explain --benchmark deepseek-r1 --round v5.1", "rows", None),
    ("explain t5.0-100", "explain", None),
    ("explain --benchmark llama31_405b", "rows", None),
    ("import", "import", None),
]


def main(ridge, root):
    schema = json.loads((root / "docs" / "schema" / "mlperf.json").read_text())
    failed = []
    for words, document_rule, row_rule in QUERIES:
        command = [ridge, "mlperf", *words.split(), "--json", "--data", str(root / "data")]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{words}: exit {done.returncode}\n{done.stderr}")
        document = json.loads(done.stdout)
        failed += [f"{words}: {p}" for p in problems(document, schema, schema)]
        failed += [f"{words}: {p}" for p in problems(document, schema["$defs"][document_rule], schema)]
        if row_rule:
            for row in document["rows"]:
                failed += [f"{words}: {p}" for p in problems(row, schema["$defs"][row_rule], schema)]
        if document_rule == "rows" and not document["rows"]:
            failed.append(f"{words}: there are no rows")
        if row_rule == "group":
            failed += [f"{words}: {row} is out of order" for row in document["rows"]
                       if not row["low"] <= row["value"] * (1 + 1e-12) or not row["value"] <= row["high"] * (1 + 1e-12)]
        if document_rule == "explain":
            best = max(a["predicted"]["mid"] for a in document["attempts"])
            if document["predicted"]["mid"] != best:
                failed.append(f"{words}: the prediction is not the best attempt")
    for line in failed[:20]:
        print(line)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
