#!/usr/bin/env python3
"""Checks what `ridge simulate --json` prints against docs/schema/simulate.json, and what holds between its numbers.

Usage: check_simulate_schema.py RIDGE ROOT
"""
import copy
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_schema import problems  # noqa: E402

QUERIES = [
    "--model llama3.1-8b --device h100-sxm --workload chat --request-rate 10 --requests 500 --ttft 500ms --tpot 40ms",
    "--model llama3.1-8b --device h100-sxm --isl 1000 --osl 250 --concurrency 64 --requests 500",
    "--model llama3.1-8b --device l40s --workload code --offline --requests 300 --batching prefill-first",
    "--model llama3.1-8b --device h100-sxm --workload mixed --request-rate 5 --requests 300 --replicas 2",
    "--model llama3.1-8b --device l40s --workload chat --ttft 1s --tpot 60ms --find-rate",
    "--model llama3.1-8b --device h100-sxm --workload agent --request-rate 3 --requests 300 --disaggregate 1P2D",
    "--model llama3.1-8b --device l40s --workload chat --request-rate 50 --requests 2000",
    "--model llama3.1-8b --device rtx4090 --gpus 1 --workload summarise --request-rate 0.1 --requests 300",
    "--model llama3.1-8b --device tpu-v6e --workload chat --request-rate 2 --requests 300",
]
DAMAGES = [
    lambda d: d.pop("overloaded"), lambda d: d.update(overloaded="no"), lambda d: d["ttft_s"].pop("p95"),
    lambda d: d.update(ttft=1), lambda d: d["query"].update(router="luck"), lambda d: d.update(schema="ridge.simulate/2"),
    lambda d: d["timeline"][0].pop("queue"),
]


def run(ridge, root, words):
    command = [ridge, "simulate", *words.split(), "--json", "--data", str(root / "data")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def rules(d):
    left = d["finished"] + d["too_long"] + d["rejected"] + d["timed_out"]
    if left != d["arrived"]:
        yield f"{d['arrived']} arrived and {left} left"
    if d["finished"] and abs(d["output_tokens_per_s"]["mid"] * d["makespan_s"] / d["output_tokens"] - 1) > 1e-9:
        yield "the rate times the time is not the tokens"
    for key in ("ttft_s", "tpot_s", "itl_s", "e2e_s", "wait_s"):
        if d[key]:
            figures = [d[key][q]["mid"] for q in ("p50", "p90", "p95", "p99", "max")]
            if figures != sorted(figures):
                yield f"the percentiles of {key} do not grow: {figures}"
    if d["good"] > d["finished"]:
        yield "more are good than finished"


def main(ridge, root):
    schema = json.loads((root / "docs" / "schema" / "simulate.json").read_text())
    failed = False

    def complain(words, text):
        nonlocal failed
        print(f"simulate {words}: {text}")
        failed = True

    for words in QUERIES:
        first = json.loads(run(ridge, root, words))
        again = json.loads(run(ridge, root, words))
        for problem in problems(first, schema, schema)[:10]:
            complain(words, problem)
        for problem in rules(first):
            complain(words, problem)
        first.pop("statistics")
        again.pop("statistics")
        if first != again:
            complain(words, "two runs differ outside of statistics")
    document = json.loads(run(ridge, root, QUERIES[0]))
    for i, damage in enumerate(DAMAGES):
        broken = copy.deepcopy(document)
        damage(broken)
        if not problems(broken, schema, schema):
            complain("", f"the schema takes damage {i}")
    overloaded = json.loads(run(ridge, root, QUERIES[6]))
    if not overloaded["overloaded"]:
        complain(QUERIES[6], "is not said to be overloaded")
    never = json.loads(run(ridge, root, QUERIES[7]))
    if never["too_long"] == 0:
        complain(QUERIES[7], "what can never fit is not counted")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
