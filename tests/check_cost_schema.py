#!/usr/bin/env python3
"""Checks what `ridge cost ... --json` and `ridge goodput --json` print against docs/schema/{cost,goodput}.json, and what
holds between its numbers.

Usage: check_cost_schema.py RIDGE ROOT
"""
import copy
import json
import pathlib
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_schema import problems  # noqa: E402

WORK = "--model llama3.1-8b --device h100-sxm --concurrency 32"
# (words after `ridge`, exit code, what has to hold of the document)
QUERIES = [
    ("cost rent --lease-month '$9200' --gpus 8", 0, lambda d: abs(d["usd_per_gpu_hour"] - 1.5753424657534247) < 1e-12),
    ("cost rent --price '$3.39' --throughput 4000", 0, lambda d: abs(d["usd_per_million_tokens"] - 0.2354166667) < 1e-9),
    ("cost rent --price '$1.42' --model gpt3-175b --device h100-sxm --precision fp8 --mfu 39.5% --seq-length 2048 --gpus 128 "
     "--tokens 300B", 0, lambda d: abs(d["usd_per_million_tokens"] / 0.5427 - 1) < 0.01 and abs(d["run"]["household_years"] - 19) < 0.3),
    ("cost rent --price '$1.42' --model llama3.1-405b --device h100-sxm --mfu 54% --seq-length 8192 --gpus 2304 --tokens 15T", 0,
     lambda d: abs(d["usd_per_million_tokens"] / 1.9476 - 1) < 0.01 and abs(d["run"]["household_years"] / 3398 - 1) < 0.02),
    ("cost own --device h100-sxm", 0, lambda d: abs(d["usd_per_gpu_hour"] - 1.42) < 0.01 and 1760 < d["energy"]["utility_w_per_gpu"] < 1800),
    (f"cost own {WORK} --utilization 50%", 0, lambda d: d["usd_per_million_tokens_predicted"]["mid"] == d["usd_per_million_tokens"]),
    (f"cost managed {WORK}", 0, lambda d: d["usd_per_gpu_hour"] > 0),
    ("cost api --model llama3.3-70b --isl 4000 --osl 250", 0, lambda d: d["usd_per_gpu_hour"] is None),
    (f"cost rent {WORK} --spot", 0, lambda d: any(line["line"] == "preemptions" for line in d["waterfall"])),
    (f"cost compare {WORK}", 0, lambda d: len(d["ways"]) == 7),
    ("cost compare --device tpu-v5e", 0, lambda d: d["ways"][0]["cost"] is None and "unknown" in d["ways"][0]["unknown"]),
    ("cost devices", 0, lambda d: any(w["scenario"] == "compute to buy" and w["device"] == "gaudi3-oam" for w in d["winners"])),
    (f"cost break-even {WORK}", 0, lambda d: 0 < d["own_over_rent_utilization"] < 1),
    ("cost decide --device gb200-nvl72 --against h100-sxm", 0, lambda d: 1.55 < d["against"]["tco_ratio"] < 1.65),
    ("cost decide --device gb200-nvl72 --against h100-sxm --model llama3.1-405b --gpus 2304 --tokens 15T", 0,
     lambda d: d["against"]["tco_ratio"] > 1.65 and d["against"]["speedup"] > 1.2
     and any(line["line"] == "failures" for line in d["against"]["lines"])),
    (f"cost risk own {WORK} --draws 2000", 0, lambda d: d["usd_per_million_tokens"]["low"] < d["middle_of_inputs"] < d["usd_per_million_tokens"]["high"]),
    ("cost risk rent --device h100-sxm --draws 500", 0, lambda d: d["usd_per_useful_gpu_hour"]["mid"] > 0),
    (f"cost power-cap {WORK}", 0, lambda d: d["points"][-1]["cap_w"] == 700 and d["points"][0]["tokens_per_s"] < d["points"][-1]["tokens_per_s"]),
    ("goodput --gpus 16384 --model llama3.1-405b --record llama3-405b --tier tectonic --calendar '54 days'", 0,
     lambda d: abs(d["interruptions"] - 419) < 5 and d["goodput"] > 0.9 and abs(d["closed_form"]["goodput"] / d["goodput"] - 1) < 0.005),
    ("goodput --gpus 100000 --model llama3.1-405b --practice manual --duration '3 days' --spares 0 --trials 20", 2, lambda d: not d["ends"]),
    ("goodput --gpus 512 --checkpoint-size '1 TB' --duration '10 days' --price '$2' --strategy async --trials 50", 0,
     lambda d: d["lost_usd"] > 0 and d["run_usd"] > 512 * 240 * 2),
]
# What has to be refused, with its exit code and a word of the message.
REFUSALS = [
    ("cost rent --price '-$3'", 1, "--price"),
    ("cost rent --price nan --gpus 1", 1, "--price"),
    ("cost rent --price '$50000'", 1, "--price"),
    ("cost rent", 2, "unknown"),
    ("cost own --device tpu-v5e", 2, "unknown"),
    ("cost own --device h100-sxm --region atlantis", 1, "there is no region"),
    ("cost own --device h100-sxm --pue 0.8", 1, "--pue"),
    ("cost own --device h100-sxm --utilization 700%", 1, "--utilization"),
    ("cost own --device h100-sxm --profile hyperscalar", 1, "hyperscaler"),
    ("cost rent --price '$2' --lease-month '$9200'", 1, "--lease-month"),
    ("cost steal", 1, "own"),
    ("goodput --gpus 64 --model llama3.1-8b", 2, "--duration"),
    ("goodput --gpus 64 --model llama3.1-8b --duration '10 days' --rate gpu=-4", 1, "--rate"),
    ("goodput --gpus 64 --model llama3.1-8b --duration '10 days' --strategy asinc", 1, "async"),
]
DAMAGES = [lambda d: d.pop("usd_per_gpu_hour"), lambda d: d.update(usd_per_month="much"), lambda d: d.update(extra=1),
           lambda d: d.update(schema="ridge.cost/2"), lambda d: d["waterfall"][0].pop("line")]


def run(ridge, root, words):
    return subprocess.run([ridge, *shlex.split(words), "--data", str(root / "data")], capture_output=True, text=True)


def waterfall_rule(d):
    total = sum(line["usd_per_gpu_hour"] for line in d["waterfall"])
    return not d["waterfall"] or abs(total - d["usd_per_useful_gpu_hour"]) < 1e-9 * abs(total)


def main(ridge, root):
    schemas = {name: json.loads((root / "docs" / "schema" / f"{name}.json").read_text()) for name in ("cost", "goodput")}
    failed = False

    def complain(words, text):
        nonlocal failed
        print(f"{words}: {text}")
        failed = True

    for words, expected, holds in QUERIES:
        done = run(ridge, root, words + " --json")
        if done.returncode != expected:
            complain(words, f"exit {done.returncode} instead of {expected}: {done.stderr}")
            continue
        document = json.loads(done.stdout, parse_constant=lambda name: sys.exit(f"{words}: {name} is not JSON"))
        verb = words.split()[0]
        schema = schemas[verb]
        if verb == "cost":
            kind = {"break-even": "break_even", "power-cap": "power_cap"}.get(document["kind"], document["kind"])
            rule = schema["$defs"].get(kind, schema["$defs"]["one"])
        else:
            rule = schema["$defs"]["goodput"]
        for problem in problems(document, rule, schema)[:10]:
            complain(words, problem)
        if not holds(document):
            complain(words, "what has to hold does not: " + done.stdout[:1500])
        if "waterfall" in document and not waterfall_rule(document):
            complain(words, "the waterfall does not add up")
        if run(ridge, root, words + " --json").stdout != done.stdout:
            complain(words, "a second run prints something else")
    for words, expected, word in REFUSALS:
        done = run(ridge, root, words)
        if done.returncode != expected or word not in done.stderr:
            complain(words, f"exit {done.returncode} instead of {expected}, or no {word!r} in: {done.stderr}")
    good = json.loads(run(ridge, root, QUERIES[0][0] + " --json").stdout)
    for i, damage in enumerate(DAMAGES):
        bad = copy.deepcopy(good)
        damage(bad)
        if not problems(bad, schemas["cost"]["$defs"]["one"], schemas["cost"]):
            complain(f"damage {i}", "the schema lets it pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
