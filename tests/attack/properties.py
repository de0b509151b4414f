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
    question.update({"seq_length": rng.choice([4096, 32768, 131072]), "recompute": rng.choice(["none", "selective", "full"]), "engine": rng.choice(["megatron-lm", "fsdp", "deepspeed", "llmq"])})
    answer = ask(server, "estimate", question)
    bound = ask(server, "estimate", {**question, "engine": "ideal"})
    for one in (answer, bound):
        if one:
            laws_of_one(found, question, one)
    steps = [mid(one["step_time_s"]) if one and one.get("step_time_s") else None for one in (answer, bound)]  # each with the fastest layout of its own
    if all(steps):
        found.check(f"{question} is no faster than the datasheet", steps[0] >= steps[1] * (1 - 1e-9), steps)


def experts_shared_out_are_no_faster_than_the_datasheet(server, found, rng):
    ranks = rng.choice([8, 16, 32, 64])
    question = {"kind": "infer", "model": rng.choice(["deepseek-v3", "qwen3-235b-a22b", "kimi-k2"]), "device": rng.choice(["h100-sxm", "h200-sxm", "b200-sxm-180", "mi300x"]), "gpus": ranks, "dp": ranks,
                "ep": ranks, "isl": rng.choice([200, 2000]), "osl": rng.choice([1, 100, 1000]), "concurrency": ranks * rng.choice([1, 16, 128]), "precision": "fp8", "engine": rng.choice(["sglang", "vllm"])}
    answer, bound = ask(server, "estimate", question), ask(server, "estimate", {**question, "engine": "ideal"})
    if answer:
        laws_of_one(found, question, answer)
    if rate(answer) and rate(bound):
        found.check(f"{question} is no faster than the datasheet", rate(answer) <= rate(bound) * (1 + 1e-9), (rate(answer), rate(bound)))
        for of in ("ttft_s", "tpot_s"):
            if mid(answer.get(of)) and mid(bound.get(of)):
                found.check(f"{question}: {of} is no shorter than the datasheet's", mid(answer[of]) >= mid(bound[of]) * (1 - 1e-9), (answer[of], bound[of]))


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


def step_of(answer):
    return mid(answer["step_s"]) if answer and answer.get("step_s") else None


def reinforcement_learning_takes_its_time(server, found, rng):
    placement = rng.choice(["colocated", "one-step-off", "async"])
    question = {"kind": "rl", "model": rng.choice(["qwen2.5-7b", "llama3.1-8b"]), "device": rng.choice(["h100-sxm", "h200-sxm", "mi300x"]), "gpus": rng.choice([16, 32, 64]), "placement": placement,
                "prompts": rng.choice([16, 64, 128]), "samples": rng.choice([4, 8]), "answer_tokens": rng.choice([300, 800]), "answer_most": rng.choice([4096, 8192]),
                "algorithm": rng.choice(["grpo", "dapo", "ppo"])}
    answer = ask(server, "estimate", question)
    if not answer or not step_of(answer):
        return
    laws_of_one(found, question, answer)
    for more in ({"prompts": question["prompts"] * 4}, {"answer_tokens": question["answer_tokens"] * 3}):
        other = step_of(ask(server, "estimate", {**question, **more}))
        if other:
            found.check(f"{question}: a step with {more} takes no less", other >= step_of(answer) * (1 - 1e-9), (step_of(answer), other))


def pictures_take_their_time(server, found, rng):
    question = {"kind": "diffusion", "model": rng.choice(["flux.1-dev", "sdxl"]), "device": rng.choice(["h100-sxm", "a100-sxm-80", "l40s", "mi300x"]), "steps": rng.choice([4, 20, 50]),
                "resolution": rng.choice([512, 1024]), "batch": rng.choice([1, 4])}
    answer = ask(server, "estimate", question)
    if not answer:
        return
    laws_of_one(found, question, answer)

    def images(asked):
        seen = ask(server, "estimate", asked)
        return mid(seen["images_per_s"]) if seen and seen.get("images_per_s") else None
    plain = images(question)
    for more in ({"steps": question["steps"] * 2}, {"resolution": question["resolution"] * 2}):
        other = images({**question, **more})
        if plain and other:
            found.check(f"{question}: {more} is no faster", other <= plain * (1 + 1e-9), (plain, other))
    trained = {"kind": "train", "model": question["model"], "device": question["device"], "gpus": rng.choice([8, 64])}
    answer = ask(server, "estimate", trained)
    if answer:
        laws_of_one(found, trained, answer)


def pools_are_no_faster_than_the_datasheet(server, found, rng):
    question = {**infer(rng), "gpus": 16, "disaggregate": True}
    answer = ask(server, "estimate", question)
    if not answer:
        return
    laws_of_one(found, question, answer)
    bound = rate(ask(server, "estimate", {**question, "engine": "ideal"}))
    if rate(answer) and bound:
        found.check(f"{question} is no faster than the datasheet", rate(answer) <= bound * (1 + 1e-9), (rate(answer), bound))


def requests_are_served_or_not(server, found, rng):
    question = {"model": rng.choice(["llama3.1-8b", "qwen3-8b"]), "device": rng.choice(["h100-sxm", "mi300x", "l40s"]), "workload": rng.choice(["chat", "agent"]), "request_rate": rng.choice([0.5, 2, 10, 50]),
                "requests": 200, "ttft": "1s", "tpot": "50ms", "seed": rng.randrange(1000)}
    answer = ask(server, "simulate", question)
    if not answer:
        return
    laws_of_one(found, question, answer)
    for name, value in answer.items():
        if isinstance(value, dict) and {"p50", "p90", "p99"} <= value.keys():
            found.check(f"{question}: percentiles of {name} are in order", mid(value["p50"]) <= mid(value["p90"]) <= mid(value["p99"]), value)


ESTATE = """[estate]
start = "2026-12"
months = 1
confidence = "60%"
[[site]]
id = "north"
country = "DE"
power = "300 kW"
electricity = "${kwh}/kWh"
[[offer]]
kind = "buy"
device = "h100-sxm"
site = "north"
price = "${price}/GPU"
life_years = 4
residual = "10%"
cost_of_capital = "8%"
[[service]]
id = "chat"
model = "llama3.1-8b"
isl = 1000
osl = 200
rate = {rate}
"""


def estates_cost_what_they_cost(server, found, rng):
    """Cheapest of all: a dearer price, dearer electricity or more requests never make the whole cheaper."""
    plain = {"kwh": round(0.05 + 0.2 * rng.random(), 3), "price": rng.randrange(20000, 40000), "rate": rng.randrange(5, 60)}

    def asked(values):
        answer = ask(server, "plan", {"kind": "fleet", "text": ESTATE.format(**values), "time_limit": "25s"})
        usable = answer and answer.get("found") and not answer.get("statistics", {}).get("stopped")
        return answer if usable else None
    first = asked(plain)
    if not first:
        return
    laws_of_one(found, plain, {key: value for key, value in first.items() if key not in ("marginal_values", "without")})
    key = rng.choice(list(plain))
    dearer = asked({**plain, key: plain[key] * 2})
    if dearer:
        found.check(f"an estate of {plain} with twice the {key} is no cheaper", dearer["cost_usd"] >= first["cost_usd"] * (1 - 0.011), (first["cost_usd"], dearer["cost_usd"]))  # 1 % is the solver's


LAWS = [one_answer, one_answer, never_faster_than_the_bound, never_faster_than_the_bound, more_bandwidth_is_never_slower, longer_contexts_are_never_faster, narrower_weights_are_smaller, dearer_is_dearer,
        training_uses_no_more_than_there_is, goodput_is_a_share, plans_are_probable, reinforcement_learning_takes_its_time, pictures_take_their_time, pools_are_no_faster_than_the_datasheet,
        experts_shared_out_are_no_faster_than_the_datasheet, requests_are_served_or_not]
LONG_LAWS = [estates_cost_what_they_cost]  # half a minute each on a busy machine


def check_all(server, found, until, rng):
    before = found.checks
    asked = 0
    laws = LAWS + (LONG_LAWS if until - time.time() > 60 else [])
    while time.time() < until:
        laws[asked % len(laws)](server, found, rng)
        asked += 1
    return f"{asked} random questions or pairs, {found.checks - before} checks"
