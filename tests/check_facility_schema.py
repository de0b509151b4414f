#!/usr/bin/env python3
"""Checks what `ridge facility`, `ridge emit --check` and `ridge doctor` print with --json against docs/schema, and what
holds between their numbers.

Usage: check_facility_schema.py RIDGE ROOT
"""
import copy
import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_schema import problems  # noqa: E402

HEALTHY = "data/facility/examples/healthy-dgx-h100.facts.toml"
SICK = "data/facility/examples/sick-dgx-h100.facts.toml"
# (schema, words, exit code)
QUERIES = [
    ("facility", "facility --system dgx-h100 --nodes 127", 0),
    ("facility", "facility --system dgx-h100 --gpus 512 --model llama3.1-70b --tp 8 --global-batch 512 --dataset 60TB", 0),
    ("facility", "facility --system dgx-b200 --gpus 4096 --topology dragonfly-plus --oversubscription 2", 3),
    ("facility", "facility --system rack-gb200-nvl72 --racks 8 --cooling direct-liquid", 0),
    ("facility", "facility --system dgx-h100 --gpus 64 --model llama3.3-70b --kind serve --rack-power 42kW", 0),
    ("facility", "facility --device mi300x --gpus 8", 0),
    ("facility", "facility --system dgx-h100 --site-power 1MW --rack-power 20kW --floor-load 100kg/m2", 3),
    ("doctor", f"doctor --facts {HEALTHY}", 0),
    ("doctor", f"doctor --facts {HEALTHY} --facts {SICK}", 3),
]
PLAN = "--model llama3.3-70b --device h200-sxm --gpus 8 --tp 2 --precision fp8"


def run(ridge, root, words, expected):
    done = subprocess.run([ridge, *words.split(), "--json", "--data", str(root / "data")], capture_output=True, text=True,
                          cwd=root)
    if done.returncode != expected:
        sys.exit(f"{words}: exit {done.returncode} instead of {expected}\n{done.stdout[-500:]}{done.stderr}")
    return json.loads(done.stdout, parse_constant=lambda name: sys.exit(f"{words}: {name} is not JSON"))


def facility_relations(d):
    racks = d["racks"]
    yield racks["per_rack"] * racks["racks"] >= racks["systems"], "racks hold all systems"
    yield math.isclose(racks["peak_w"], racks["devices_power_w"] + racks["network_power_w"]), "the peak is a sum"
    yield math.isclose(racks["facility_w"], racks["peak_w"] * racks["pue"]), "PUE"
    network = d["network"]
    if network:
        yield network["switches"] == sum(tier["switches"] for tier in network["tiers"]), "switches add up"
        yield network["cables"] == sum(run["cables"] for run in network["runs"]), "cables add up"


def main(ridge, root):
    failures = []
    documents = {}
    for name, words, code in QUERIES:
        schema = json.loads((root / "docs" / "schema" / f"{name}.json").read_text())
        document = run(ridge, root, words, code)
        documents[name] = (schema, document)
        failures += [f"{words}: {p}" for p in problems(document, schema, schema)[:10]]
        if name == "facility":
            failures += [f"{words}: {what}" for holds, what in facility_relations(document) if not holds]
    schema = json.loads((root / "docs" / "schema" / "emit.json").read_text())
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([ridge, "emit", "--for", "slurm", *PLAN.split(), "--out", out], check=True, capture_output=True)
        for words, code, same in [(f"emit --check {out}/job.sbatch", 0, None),
                                  (f"emit --check {out}/job.sbatch {PLAN}", 0, True),
                                  (f"emit --check {out}/job.sbatch {PLAN.replace('--tp 2', '--tp 4')}", 3, False)]:
            document = run(ridge, root, words, code)
            documents["emit"] = (schema, document)
            failures += [f"{words}: {p}" for p in problems(document, schema, schema)[:10]]
            if document["same"] is not same:
                failures.append(f"{words}: same is {document['same']}")
    # The check itself: a document with one thing wrong is refused.
    for name, (schema, document) in documents.items():
        for key in list(document):
            broken = copy.deepcopy(document)
            del broken[key]
            if not problems(broken, schema, schema):
                failures.append(f"{name} without {key} passes")
        broken = dict(copy.deepcopy(document), surprise=1)
        if not problems(broken, schema, schema):
            failures.append(f"{name} with a key that nobody knows passes")
    print("\n".join(failures) if failures else "facility, emit and doctor print what their schemas say")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve()))
