"""What holds for every question: laws of one answer, and of two that differ in one thing."""
import json
import math
import time

from common import infer, numbers


def ask(server, verb, question):
    status, _, body = server.ask("POST", f"/v1/{verb}", json.dumps(question))
    return json.loads(body) if status == 200 else None


def mid(value):
    return value["mid"] if isinstance(value, dict) and "mid" in value else value


def rate(answer):
    return mid(answer["output_tokens_per_s"]) if answer and answer.get("output_tokens_per_s") else None


SHARES = {"mfu", "hfu", "goodput", "probability", "share", "utilization", "kv_share"}


def laws_of_one(found, question, answer):
    for where, number in numbers(answer):
        keys = where.split("/")  # "/mfu/mid" is a share by its first key
        found.check(f"{question}: {where} is a number", math.isfinite(number), number)
        measured = any("usd" in key or key.endswith(("_bytes", "_s", "_w", "_j")) for key in keys)
        if measured and not any(word in where for word in ("error", "gain", "change", "elasticity", "saving", "difference")):
            found.check(f"{question}: {where} is not negative", number >= 0, number)
        if any(key in SHARES or key.endswith("_probability") for key in keys):
            found.check(f"{question}: {where} is a share", -1e-12 <= number <= 1 + 1e-9, number)
    for name, value in answer.items():
        if isinstance(value, dict) and {"low", "mid", "high"} <= value.keys() and all(isinstance(value[k], (int, float)) for k in ("low", "mid", "high")):
            found.check(f"{question}: {name} is in order", value["low"] <= value["mid"] <= value["high"], value)
    memory = answer.get("memory_bytes")
    if isinstance(memory, dict) and "total" in memory:
        parts = sum(v for k, v in memory.items() if k != "total" and isinstance(v, (int, float)))
        found.check(f"{question}: memory parts add up", abs(parts - memory["total"]) <= 1e-6 * memory["total"], memory)


def never_faster_than_the_bound(server, found, rng):
    question = infer(rng)
    predicted, bound = rate(ask(server, "estimate", question)), rate(ask(server, "estimate", {**question, "engine": "ideal"}))
    if predicted and bound:
        found.check(f"{question} is no faster than the datasheet", predicted <= bound * (1 + 1e-9), (predicted, bound))


def more_bandwidth_is_never_slower(server, found, rng):
    question = infer(rng)
    slow, fast = rate(ask(server, "estimate", {**question, "set": ["device.hbm_bandwidth=1TB/s"]})), rate(ask(server, "estimate", {**question, "set": ["device.hbm_bandwidth=9TB/s"]}))
    if slow and fast:
        found.check(f"{question} gains from bandwidth", fast >= slow * (1 - 1e-9), (slow, fast))


def longer_contexts_are_never_faster(server, found, rng):
    question = {**infer(rng), "concurrency": 1}
    short, long = ask(server, "estimate", question), ask(server, "estimate", {**question, "isl": question["isl"] * 2})
    if short and long and mid(short.get("prefill_s")) and mid(long.get("prefill_s")):
        found.check(f"{question}: twice the prompt takes no less", mid(long["prefill_s"]) >= mid(short["prefill_s"]) * (1 - 1e-9), (short["prefill_s"], long["prefill_s"]))
    if rate(short) and rate(long):
        found.check(f"{question}: twice the context is no faster", rate(long) <= rate(short) * (1 + 1e-9), (rate(short), rate(long)))


def narrower_weights_are_smaller(server, found, rng):
    question = infer(rng)
    wide, narrow = ask(server, "estimate", {**question, "precision": "bf16"}), ask(server, "estimate", {**question, "precision": "fp8"})

    def weights(answer):
        return [n for where, n in numbers(answer or {}) if where == "/memory_bytes/weights"]
    if weights(wide) and weights(narrow):
        found.check(f"{question}: weights of 8 bits are no larger than of 16", weights(narrow)[0] <= weights(wide)[0] * (1 + 1e-9), (weights(narrow), weights(wide)))
    bounds = [rate(ask(server, "estimate", {**question, "engine": "ideal", "precision": format})) for format in ("bf16", "fp8")]
    if all(bounds):
        found.check(f"{question}: the datasheet is no slower in 8 bits than in 16", bounds[1] >= bounds[0] * (1 - 1e-9), bounds)


def dearer_is_dearer(server, found, rng):
    price = round(0.5 + 5 * rng.random(), 2)
    question = {"kind": "rent", "device": rng.choice(["h100-sxm", "mi300x", "a100-sxm-80"]), "gpus": rng.choice([1, 8, 64])}
    cheap, dear = ask(server, "cost", {**question, "price": price}), ask(server, "cost", {**question, "price": price * 2})

    def total(answer):
        return [n for where, n in numbers(answer) if where.endswith("usd_per_useful_gpu_hour")]
    if cheap and dear and total(cheap):
        found.check(f"{question}: twice the rent costs more", total(dear)[0] > total(cheap)[0], (total(cheap), total(dear)))


def training_uses_no_more_than_there_is(server, found, rng):
    question = {"kind": "train", "model": rng.choice(["llama3.1-8b", "llama3.1-70b", "mixtral-8x7b"]), "device": rng.choice(["h100-sxm", "b200-sxm-180", "mi300x", "a100-sxm-80"]),
                "gpus": rng.choice([8, 64, 512])}
    answer = ask(server, "estimate", question)
    if answer:
        laws_of_one(found, question, answer)


def goodput_is_a_share(server, found, rng):
    question = {"gpus": rng.choice([64, 1024, 16384, 100000]), "model": "llama3.1-70b", "device": "h100-sxm", "duration": f"{rng.choice([1, 30, 120])}days", "trials": 20, "seed": rng.randrange(1000)}
    answer = ask(server, "goodput", question)
    if answer:
        laws_of_one(found, question, answer)


def plans_are_probable(server, found, rng):
    question = {"kind": "serve", "model": rng.choice(["llama3.1-8b", "qwen3-8b"]), "request_rate": rng.choice([1, 5, 20]), "isl": int(16 * 200 ** rng.random()), "osl": int(1 + 300 * rng.random()),
                "devices": rng.choice(["h100-sxm", "l40s,mi300x"])}
    answer = ask(server, "plan", question)
    for plan in (answer or {}).get("plans", []):
        laws_of_one(found, question, plan)


def one_answer(server, found, rng):
    question = infer(rng)
    answer = ask(server, "estimate", question)
    if answer:
        laws_of_one(found, question, answer)


LAWS = [one_answer, one_answer, never_faster_than_the_bound, never_faster_than_the_bound, more_bandwidth_is_never_slower, longer_contexts_are_never_faster, narrower_weights_are_smaller, dearer_is_dearer,
        training_uses_no_more_than_there_is, goodput_is_a_share, plans_are_probable]


def check_all(server, found, until, rng):
    before = found.checks
    asked = 0
    while time.time() < until:
        LAWS[asked % len(LAWS)](server, found, rng)
        asked += 1
    return f"{asked} random questions or pairs, {found.checks - before} checks"
