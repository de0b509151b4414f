#!/usr/bin/env python3
"""Checks what `ridge plan ... --json` prints against docs/schema/plan.json, and what holds between its numbers.

Usage: check_plan_schema.py RIDGE ROOT
"""
import copy
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_schema import problems  # noqa: E402

# (words after `ridge plan`, exit code)
QUERIES = [
    ("serve --model llama3.1-8b --request-rate 20 --devices h100-sxm,l40s,mi300x --ttft 1s --tpot 40ms", 0),
    ("serve --model llama3.1-8b --request-rate 20 --devices h100-sxm,mi300x --ttft 1s --vendor-share 60%", 0),
    ("serve --model llama3.1-8b --gpus 8 --devices h100-sxm --tpot 30ms", 0),
    ("serve --model llama3.1-8b --request-rate 20 --devices tpu-v6e", 0),
    ("train --model llama3.1-8b --gpus 64 --devices tpu-v6e", 0),
    ("serve --model llama3.3-70b --request-rate 20 --devices h100-sxm --tpot 1ms", 2),
    ("serve --model llama3.3-70b --request-rate 20 --devices h100-sxm --budget $1k", 2),
    ("train --model llama3.1-8b --tokens 1T --days 30 --devices h100-sxm,mi300x", 0),
    ("train --model llama3.1-8b --gpus 64 --devices h100-sxm --space full", 0),
    ("train --model llama3.1-70b --tokens 15T --days 1 --gpus 512 --devices h100-sxm", 2),
    ("train --model llama3.1-405b --gpus 8 --devices h100-sxm", 2),
]
DAMAGES = [
    lambda d: d.pop("plans"), lambda d: d.update(feasible="yes"), lambda d: d["plans"][0].pop("gpus"),
    lambda d: d["plans"][0].update(power_w=1), lambda d: d.update(more=1), lambda d: d.update(schema="ridge.plan/2"),
]


def run(ridge, root, words, expected):
    command = [ridge, "plan", *words.split(), "--json", "--data", str(root / "data")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != expected:
        sys.exit(f"{words}: exit {done.returncode} instead of {expected}\n{done.stdout[-500:]}{done.stderr}")
    return json.loads(done.stdout, parse_constant=lambda name: sys.exit(f"{words}: {name} is not JSON"))


def rules(words, d):
    """What has to hold between the numbers of an answer."""
    if d["feasible"] != bool(d["plans"]):
        yield "feasible means that there are plans"
    if not d["feasible"] and not d["nearest"] and not d["losers"]:
        yield "an impossible goal says what comes closest"
    for plan in d["plans"]:
        if d["kind"] == "serve" and plan["gpus"] < plan["replicas"] * plan["gpus_per_replica"]:
            yield "a plan has the devices of its replicas"
        if d["kind"] == "train" and plan["tp"] * plan["pp"] * plan["cp"] * plan["dp"] != plan["gpus"]:
            yield "degrees multiply to the devices"
        limit = d["goal"].get("tpot_s")
        if limit and plan.get("tpot_p95_s") and plan["tpot_p95_s"] > limit * 1.001:
            yield "95 % of the requests hold the limit"
        days = d["goal"].get("days")
        if days and plan["duration_days"]["mid"] > days:
            yield "a plan ends in time"
    ranks = [plan["rank"] for plan in d["plans"]]
    if ranks != sorted(ranks):
        yield "plans stand in the order of their ranks"
    if d["statistics"]["evaluated"] == 0:
        yield "something is evaluated"


def main():
    ridge, root = sys.argv[1], pathlib.Path(sys.argv[2])
    schema = json.loads((root / "docs/schema/plan.json").read_text())
    failed = False
    first = None
    for words, expected in QUERIES:
        document = run(ridge, root, words, expected)
        first = first or document
        for problem in [*problems(document, schema, schema), *rules(words, document)]:
            print(f"{words}: {problem}")
            failed = True
    for damage in DAMAGES:
        broken = copy.deepcopy(first)
        damage(broken)
        if not list(problems(broken, schema, schema)):
            print("a damaged document passes the schema")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
