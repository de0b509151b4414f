#!/usr/bin/env python3
"""Checks what `ridge check ... --json` prints against docs/schema/check.json, and that nothing else ends well.

Usage: check_claims_schema.py RIDGE ROOT
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_schema import problems  # noqa: E402

FILES = "tests/transcripts/files/"
QUERIES = [
    (["B200 at $3.39/h and 4000 tok/s costs $0.42 per 1M tokens"], 3),
    (["The H200 has 4.8 TB/s of memory bandwidth"], 0),
    (["Nothing to see here"], 2),
    ([FILES + "review.md"], 3),
    ([FILES + "claims.toml", FILES + "review.md"], 3),
    (["--bundled"], 3),
]
HOSTILE = [b"\0\1\2 H200 4.8 TB/s", b"\xff\xfe" * 5000, b"|" * 100000, b"9" * 100000, b"H200 " * 50000, b""]


def run(ridge, root, words):
    return subprocess.run([ridge, "--data", str(root / "data"), "check", *words, "--json"], cwd=root, capture_output=True)


def main(ridge, root):
    schema = json.loads((root / "docs" / "schema" / "check.json").read_text())
    found = []
    for words, code in QUERIES:
        done = run(ridge, root, words)
        if done.returncode != code:
            found.append(f"{words}: exit {done.returncode} instead of {code}: {done.stderr.decode()}")
            continue
        document = json.loads(done.stdout)
        found += [f"{words}: {p}" for p in problems(document, schema, schema)]
        for audit in document["documents"]:
            if sum(audit["counts"].values()) != len(audit["findings"]):
                found.append(f"{words}: the counts do not add up")
        broken = json.loads(done.stdout)
        broken["documents"][0]["verdict"] = "right"
        if not problems(broken, schema, schema):
            found.append("an unknown key passes the schema")
    with tempfile.TemporaryDirectory() as folder:
        for i, data in enumerate(HOSTILE):
            path = pathlib.Path(folder) / f"hostile{i}.txt"
            path.write_bytes(data)
            for words in ([str(path)], ["--annotate", str(path)]):
                done = run(ridge, root, words)
                if done.returncode not in (0, 1, 3):
                    found.append(f"hostile {i}: exit {done.returncode}")
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
