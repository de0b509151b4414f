#!/usr/bin/env python3
"""Checks what `ridge estimate ... --json` prints against docs/schema/estimate.json, and what holds between its numbers.

Usage: check_estimate_schema.py RIDGE ROOT
"""
import copy
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_schema import problems  # noqa: E402

# (words after `ridge estimate`, exit code)
QUERIES = [
    ("infer --model llama3.3-70b --device h200-sxm --gpus 2 --precision fp8 --isl 1000 --osl 250 --concurrency 64 --explain", 0),
    ("infer --model deepseek-r1 --device b200-sxm-180 --gpus 8 --ep 8 --offline", 0),
    ("infer --model llama3.1-8b --device h100-sxm --batch 1 --engine ideal --explain", 0),
    ("infer --model qwen3-8b --device mi300x --prefill --isl 8k --batch 4 --explain", 0),
    ("infer --model llama3.1-8b --system dgx-h200 --batch 8", 0),
    ("infer --model llama3.1-405b --device b200-sxm-180 --gpus 1 --precision nvfp4", 2),
    ("infer --model llama3.1-8b --device h100-sxm --tp 3", 2),
    ("infer --model llama3.1-8b --device h100-sxm --ep 2", 2),
    ("infer --model llama3.1-8b --device a100-sxm-80 --precision fp8", 2),
    ("infer --model llama3.1-8b --device h100-sxm --tp 2 --gpus 3", 2),
    ("infer --model llama3.1-8b --device h100-sxm --pp 64", 2),
    ("compare --model llama3.1-8b --device h100-sxm,h200-sxm,a100-sxm-80 --precision bf16,fp8 --tp 1,3", 0),
    ("compare --model llama3.1-8b --device mi300x --tp 1,2 --prefill", 0),
    ("compare --model llama3.1-405b --device h100-sxm,l40s --gpus 1", 2),
    ("fit --device h100-sxm,b200-sxm-180", 0),
    ("fit --model deepseek-v3 --device h200-sxm", 0),
    ("techniques --model llama3.1-8b --device h100-sxm --concurrency 16", 0),
    ("infer --model llama3.3-70b --device h100-sxm --gpus 1 --cpu-offload-gb 80 --batch 1", 0),
    ("diffusion --model flux.1-dev --device h100-sxm --steps 28 --batch 2", 0),
    ("diffusion --model sdxl-unet --device rtx4090 --resolution 1024x768", 0),
    ("diffusion --model flux.1-dev --device rtx4090", 2),
    ("train --model llama3.1-70b --device h100-sxm --gpus 512 --tokens 15T --scale weak --from 128 --to 2048", 0),
    ("train --model deepseek-v3 --device h800-sxm --gpus 2048 --precision fp8 --tp 1 --pp 16 --ep 64 --global-batch 15360 "
     "--seq-length 4096 --micro-batch 1", 0),
    ("train --model llama3.1-405b --system meta-roce-h100 --gpus 8192 --tp 8 --pp 16 --seq-length 8192 --global-batch 2048 "
     "--reduction nvls --rank-order tp-cp-ep-pp-dp --data-rate 2GB/s", 0),
    ("train --model qwen3-30b-a3b --device h100-sxm --gpus 64 --ep 8 --imbalance 1.3 --capacity 1.2 --precision fp8-block "
     "--wide-layers 4 --offload-optimizer", 0),
    ("rl --model qwen2.5-7b --device h100-sxm --gpus 16 --prompts 64 --samples 8 --answer-tokens 800 --steps 100", 0),
    ("rl --model qwen3-8b --device h200-sxm --gpus 16 --placement async --staleness 0.5 --prompts 32 --answer-lengths "
     "512:0.5,2048:0.5", 0),
    ("rl --model llama3.1-8b --device h100-sxm --gpus 16 --algorithm ppo --critic-gpus 4 --prompts 32 --verifier-seconds 2", 0),
    ("rl --model llama3.1-405b --device h100-sxm --gpus 8 --prompts 32", 2),
    ("train --model llama3-70b --device h100-sxm --gpus 8 --tp 1 --pp 1 --sharding zero3", 2),
    ("train --model llama3.1-8b --device h100-sxm --gpus 64 --tp 1 --pp 1 --micro-batch 1 --global-batch 100", 2),
]
DAMAGES = [
    lambda d: d.pop("fits"), lambda d: d.update(fits="yes"), lambda d: d.update(ttft_s=0.1),
    lambda d: d.update(ttft=1), lambda d: d["memory_bytes"].pop("weights"), lambda d: d["tpot_s"].pop("low"),
    lambda d: d.update(bottleneck="luck"), lambda d: d.update(schema="ridge.estimate/2"),
]


def run(ridge, root, words, expected):
    command = [ridge, "estimate", *words.split(), "--json", "--data", str(root / "data")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != expected:
        sys.exit(f"{words}: exit {done.returncode} instead of {expected}\n{done.stdout[-500:]}{done.stderr}")
    return json.loads(done.stdout, parse_constant=lambda name: sys.exit(f"{words}: {name} is not JSON"))


def intervals(value):
    """All {low, mid, high} in the document."""
    if isinstance(value, dict):
        if set(value) == {"low", "mid", "high"}:
            yield value
        for element in value.values():
            yield from intervals(element)
    elif isinstance(value, list):
        for element in value:
            yield from intervals(element)


def infer_rules(d):
    """What has to hold between the numbers of an answer."""
    if d["fits"] != (d["reason"] is None):
        yield "reason is there if and only if it does not fit"
    if not d["fits"]:
        if d["output_tokens_per_s"] is not None:
            yield "what cannot run has no throughput"
        return
    memory = d["memory_bytes"]
    parts = sum(v for k, v in memory.items() if k != "total")
    if abs(parts - memory["total"]) > 1e-9 * memory["total"]:
        yield "the parts of memory do not add up"
    if d["output_tokens_per_s"]:
        if abs(d["tokens_per_s_per_gpu"]["mid"] * d["query"]["gpus"] / d["output_tokens_per_s"]["mid"] - 1) > 1e-9:
            yield "tokens per GPU times GPUs is not the deployment's"
        if abs(d["tokens_per_s_per_user"]["mid"] * d["tpot_s"]["mid"] - 1) > 1e-9:
            yield "a user's rate is not 1 / TPOT"
        terms = sum(d["terms_s"]["decode"].values())
        if abs(terms / d["decode_step_s"]["mid"] - 1) > 1e-9:
            yield "the terms of a decode step do not add up"


def train_rules(d):
    if d["fits"] != (d["reason"] is None):
        yield "reason is there if and only if it does not fit"
    if not d["fits"]:
        return
    for terms in ("terms_s", "work_terms_s"):
        if abs(sum(d[terms].values()) / d["step_time_s"]["mid"] - 1) > 1e-9:
            yield f"{terms} do not add up to the step"
    query = d["query"]
    tokens = query["global_batch"] * query["seq_length_tokens"]
    if abs(d["tokens_per_s"]["mid"] * d["step_time_s"]["mid"] / tokens - 1) > 1e-9:
        yield "tokens per second times the step are not the tokens of a batch"
    if query["tp"] * query["pp"] * query["cp"] * query["dp"] != query["gpus"]:
        yield "the degrees do not make the devices"
    if len(d["memory_bytes"]) != query["pp"]:
        yield "not every stage has its memory"
    if query["tokens"] and abs(d["gpu_hours"]["mid"] / (d["days"]["mid"] * 24 * query["gpus"]) - 1) > 1e-9:
        yield "GPU-hours are not days times GPUs"


def diffusion_rules(d):
    if d["fits"] != (d["reason"] is None):
        yield "reason is there if and only if it does not fit"
    if not d["fits"]:
        return
    if abs(sum(d["terms_s"].values()) / d["batch_latency_s"]["mid"] - 1) > 1e-9:
        yield "the terms of a call do not add up"
    if abs(d["image_s"]["mid"] * d["images_per_s"]["mid"] - 1) > 1e-9:
        yield "images per second is not one over the time of an image"
    same = [p for p in d["sweep"] if all(p[k] == d["query"][k] for k in ("steps", "width_pixels", "height_pixels", "batch"))]
    if len(same) != 1 or same[0]["image_s"] != d["image_s"]:
        yield "the sweep does not hold the question itself"
    longer = [p for p in d["sweep"] if p["steps"] == 2 * d["query"]["steps"]]
    ratio = longer[0]["batch_latency_s"]["mid"] / d["batch_latency_s"]["mid"]
    if not 1.5 < ratio <= 2:
        yield f"twice the steps take {ratio} times as long"


def compare_rules(d):
    ranked = [p for p in d["plans"] if p["rank"] is not None]
    if any(not p["answer"]["fits"] for p in ranked) or any(p["answer"]["fits"] for p in d["plans"][len(ranked):]):
        yield "what cannot run has a rank, or stands before what can"
    places = [p["rank"] for p in ranked]
    if places != sorted(places) or (places and places[0] != 1):
        yield f"ranks are out of order: {places}"


def rl_rules(d):
    """Phases of shared devices add up to the step; pools apart take the longer; idle shares are shares."""
    if not d["fits"]:
        return []
    found = []
    step, phases = d["step_s"]["mid"], d["phases_s"]
    total = sum(p["mid"] for p in phases.values())
    if d["placement"] == "colocated" and d["trainers"] == d["gpus"] and abs(total / step - 1) > 1e-6:
        found.append(f"phases add up to {total}, the step is {step}")
    if d["placement"] != "colocated" and not step <= total * (1 + 1e-9):
        found.append(f"the step of {step} is longer than all phases, {total}")
    if max(s["start_s"] + s["seconds"] for s in d["timeline"]) > step * (1 + 1e-9):
        found.append("the timeline ends after the step")
    for key in ("trainers_idle_share", "generators_idle_share", "tail_share"):
        if d[key] is not None and not -1e-9 <= d[key] <= 1:
            found.append(f"{key} is {d[key]}")
    return found


RULES = {"rl": rl_rules, "infer": infer_rules, "train": train_rules, "diffusion": diffusion_rules, "compare": compare_rules, "fit": lambda d: [], "techniques": lambda d: []}


def main(ridge, root):
    schema = json.loads((root / "docs" / "schema" / "estimate.json").read_text())
    failed = False

    def complain(words, text):
        nonlocal failed
        print(f"estimate {words}: {text}")
        failed = True

    for words, expected in QUERIES:
        document = run(ridge, root, words, expected)
        if not any(option["$ref"].endswith(document["kind"]) for option in schema["anyOf"]):
            complain(words, f"the schema does not list kind {document['kind']}")
        rule = schema["$defs"][document["kind"]]
        for problem in problems(document, rule, schema)[:10]:
            complain(words, problem)
        for interval in intervals(document):
            if not interval["low"] <= interval["mid"] <= interval["high"]:
                complain(words, f"an interval is out of order: {interval}")
        for problem in RULES[document["kind"]](document):
            complain(words, problem)
    good = run(ridge, root, *QUERIES[0])
    for i, damage in enumerate(DAMAGES):
        bad = copy.deepcopy(good)
        damage(bad)
        if not problems(bad, schema["$defs"]["infer"], schema):
            complain("", f"damage {i} passes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
