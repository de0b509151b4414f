"""Attacks the program for a while and prints figures: run.py RIDGE [--seconds 45] [--seed 1] [--only flags,files,...].

Five attacks share the time: garbage in every flag over HTTP, mutated files on the command line, properties of random questions
and of pairs of them, heavy clients beside a light one, and searches that are killed and go on. `make attack` runs it for half an
hour, `ctest -R attack` for three quarters of a minute. The seed is printed: the same one asks the same questions."""
import argparse
import concurrent.futures
import json
import math
import multiprocessing
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import properties
from common import DEVICES, EXIT_CODES, MODELS, ROOT, Findings, Ridge, Server, infer, numbers

GARBAGE = ["", "0", "-1", "1e308", "-1e308", "nan", "inf", "1e-320", "99999999999999999999", "0x10", "1,5", "1.5", "½", "١٢", "\x00", "\x1b[2J", "' OR 1=1", "../../etc/passwd",
           "/dev/zero", "x" * 5000, "{}", "[1]", "true", "--help", "-", "=", "a=b", "1GB", "1 GB/s", "$1", "100%", "1s", "1:2", "0/0", "zzz", "h100", "NVIDIA", "CHN", "🚀", "%n%s", "${HOME}",
           "1e9", "1e7", "65536", "2.0000001", "on-off:1ns,1ns", "gamma:1e300", "dense:layers=1e9", "moe:", "null"]
# No number, no quantity, no name of anything: whichever flag gets one refuses it.
NONSENSE = ["zzz", "1x2y", "nan", "-inf", "1e308", "-1", "0x10", "½", "١٢", "\x1b[2J", "' OR 1=1", "%n%s", "🚀", "${HOME}", "banana", "a=b", "moe:", "on-off:1ns,1ns", "gamma:1e300", "$-5", "5parsecs", "x" * 5000]
# Counts whose products are 0 or negative in 32 bits.
POWERS = [1, 2, 1024, 32768, 65536, 131072, 1048576, 16777216, 2147483647]
COUNTS = {"gpus", "tp", "pp", "dp", "ep", "cp", "vp", "etp", "replicas", "batch", "micro_batch", "global_batch", "isl", "osl", "concurrency", "requests", "prompts", "samples", "seq_length", "draft_tokens"}
FREE = {"set", "text"}  # KEY=VALUE of which there are thousands, and sentences
SEEDS = [("estimate", {"kind": "infer", "model": "llama3.1-8b", "device": "h100-sxm", "gpus": 2, "isl": 1000, "osl": 100, "concurrency": 8}),
         ("estimate", {"kind": "train", "model": "llama3.1-8b", "device": "h100-sxm", "gpus": 64}),
         ("estimate", {"kind": "infer", "model": "llama3.1-8b", "device": "h100-sxm", "gpus": 16, "disaggregate": True}),
         ("estimate", {"kind": "rl", "model": "qwen2.5-7b", "device": "h100-sxm", "gpus": 16}),
         ("estimate", {"kind": "fit", "device": "h100-sxm", "isl": "1k"}),
         ("estimate", {"kind": "diffusion", "model": "flux.1-dev", "device": "h100-sxm"}),
         ("simulate", {"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "requests": 100}),
         ("cost", {"kind": "rent", "device": "h100-sxm", "gpus": 8}), ("cost", {"kind": "own", "device": "h100-sxm", "gpus": 8}),
         ("cost", {"kind": "risk", "device": "h100-sxm", "gpus": 8, "draws": 1000}), ("cost", {"kind": "decide", "device": "h100-sxm", "gpus": 8}),
         ("goodput", {"gpus": 1024, "model": "llama3.1-70b", "device": "h100-sxm", "duration": "30days", "trials": 20}),
         ("facility", {"system": "dgx-h100", "gpus": 64}), ("check", {"text": "H200 has 4.8 TB/s of memory bandwidth"}),
         ("plan", {"kind": "serve", "model": "llama3.1-8b", "request_rate": 5, "devices": "h100-sxm,l40s"}),
         ("plan", {"kind": "train", "model": "llama3.1-8b", "gpus": 8, "devices": "h100-sxm"})]
ALLOWED = {200, 400, 404, 422, 503}


def flags_of(ridge, verb):
    """Names of the flags of a verb, from its help."""
    text = ridge.run("help", verb).stdout
    return sorted({word.split("=")[0].rstrip(",") for line in text.splitlines() if line.lstrip().startswith("--") for word in line.split()[:1]})


def flags(ridge, found, until, rng, seconds):
    """Garbage in every flag: answered or refused, never a crash, a NaN or an infinity."""
    server = Server(ridge.program)
    known = {verb: flags_of(ridge, verb) for verb in {verb for verb, _ in SEEDS}}
    asked = refused = taken = 0
    slowest = 0
    statuses = {}
    try:
        while time.time() < until:
            verb, seed = rng.choice(SEEDS)
            if rng.random() < 0.5 and known[verb]:
                key = rng.choice(known[verb]).lstrip("-").replace("-", "_")
                nonsense = rng.choice(NONSENSE)
                status, _, body = server.ask("POST", f"/v1/{verb}", json.dumps({**seed, key: nonsense}), timeout=30)
                asked += 1
                refused += status != 200
                taken += status == 200 and key not in FREE
                found.check(f"{verb} {seed} with {key}: {nonsense[:20]!r} is refused", status in (400, 404) or key in FREE, (status, body[:200]))
                continue
            value = dict(seed)
            counts = sorted(COUNTS & {flag.lstrip("-").replace("-", "_") for flag in known[verb]})
            products = bool(counts) and rng.random() < 0.4
            if products:
                value.update({key: rng.choice(POWERS) for key in rng.sample(counts, min(len(counts), rng.choice([2, 3, 4])))})
            for _ in range(0 if products else rng.choice([1, 1, 2, 3])):
                key = rng.choice(known[verb]).lstrip("-").replace("-", "_") if rng.random() < 0.7 and known[verb] else rng.choice(list(value))
                value[key] = rng.choice([rng.choice(GARBAGE), rng.choice(GARBAGE), rng.choice([0, -1, 1e308, 1e9, 10**30, 1.5, True, None, [], ["a"], {"a": 1}])])
            value.setdefault("time_limit", "2s")
            start = time.time()
            try:
                status, _, body = server.ask("POST", f"/v1/{verb}", json.dumps(value), timeout=30)
            except OSError as error:
                found.check(f"{verb} {value} is answered", False, error)
                break
            slowest = max(slowest, time.time() - start)
            asked += 1
            refused += status != 200
            statuses[status] = statuses.get(status, 0) + 1
            found.check(f"{verb} {value} is answered with a status of ours", status in ALLOWED, (status, body[:200]))
            try:
                document = json.loads(body, parse_constant=lambda word: float("nan"))
                bad = [(where, number) for where, number in numbers(document) if not math.isfinite(number)]
                found.check(f"{verb} {value} holds no infinity", not bad, bad[:3])
            except ValueError as error:
                found.check(f"{verb} {value} is answered in JSON", False, (error, body[:200]))
        found.check("the server is still there", server.alive())
        found.check(f"no question took more than 6 s", slowest < 6, slowest)
    finally:
        server.stop()
    return f"{asked} questions with garbage, {refused} refused, {taken} that had to be refused taken, slowest {slowest:.2f} s, {statuses}"


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randrange(1, 30)]
        elif kind == 2:
            data[at:at] = rng.choice([b"-1", b"1e308", b"\"", b"}", b"[[[[", b"\n", b"\x00", b"nan", b"99999999999999999999", b",,,,", b"\xff"])
        elif kind == 3:
            data[at:at] = data[:rng.randrange(1, 200)]
        elif kind == 4:
            digits = [i for i, c in enumerate(data) if 48 <= c <= 57]
            if digits:
                data[rng.choice(digits)] = rng.choice(b"0123456789")
        else:
            del data[at:]
    return bytes(data)


def files(ridge, found, until, rng, seconds):
    """Files with bytes changed: read or refused by name, never a crash."""
    tried = 0
    codes = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = folder / "seed.sqlite"
        train = ["plan", "train", "--model", "llama3.1-8b", "--gpus", "8", "--devices", "h100-sxm", "--global-batch", "64"]
        ridge.run(*train, "--results", results)
        seeds = [(results.read_bytes(), ".sqlite", lambda f: [*train, "--results", f, "--resume"]), (results.read_bytes(), ".sqlite", lambda f: ["plan", "merge", f]),
                 ((ROOT / "examples/my-model/config.json").read_bytes(), ".json", lambda f: ["estimate", "infer", "--model", f, "--device", "h100-sxm"]),
                 ((ROOT / "examples/my-prices.csv").read_bytes(), ".csv", lambda f: ["show", "prices", "--prices", f, "--limit", "1"]),
                 ((ROOT / "examples/chat-70b.toml").read_bytes(), ".toml", lambda f: ["plan", f, "--devices", "h100-sxm", "--time-limit", "3s"]),
                 ((ROOT / "examples/measurements.csv").read_bytes(), ".csv", lambda f: ["validate", "--cases", f]),
                 ((ROOT / "data/devices/h100-sxm.toml").read_bytes(), ".toml", lambda f: ["show", "devices", "--catalogue", f, "--limit", "1"])]
        while time.time() < until:
            data, ending, line = rng.choice(seeds)
            victim = folder / f"mutated{ending}"
            victim.write_bytes(mutated(data, rng))
            kept = victim.read_bytes()
            try:
                done = ridge.run(*line(victim), timeout=30)
            except subprocess.TimeoutExpired:
                found.check(f"{line('FILE')} ends", False, kept[:200])
                continue
            tried += 1
            codes[done.returncode] = codes.get(done.returncode, 0) + 1
            held = found.check(f"{line('FILE')} ends with a code of ours", done.returncode in EXIT_CODES, (done.returncode, done.stderr[-300:]))
            if not held:
                (pathlib.Path(tempfile.gettempdir()) / f"ridge-attack-{tried}{ending}").write_bytes(kept)
            if done.returncode == 1:
                found.check(f"{line('FILE')} names the file or what is wrong with the question", "mutated" in done.stderr or ": " in done.stderr, done.stderr)
    return f"{tried} mutated files, exit codes {codes}"


def pairs(ridge, found, until, rng, seconds):
    """Properties of random questions."""
    server = Server(ridge.program)
    try:
        return properties.check_all(server, found, until, rng)
    finally:
        server.stop()


def ask_cheaply(server, until, rng, tell):
    """A process of its own: beside eighty other threads of one interpreter a client waits for its turn to look at its answers."""
    times = []
    wrong = []
    while time.time() < until:
        question = infer(rng)
        start = time.time()
        status, _, body = server.ask("POST", "/v1/estimate", json.dumps(question), source="127.0.4.1")
        times.append(time.time() - start)
        if status not in (200, 422):
            wrong.append((status, body[:200]))
        time.sleep(0.02)
    tell.send((times, wrong))


def flood(ridge, found, until, rng, seconds):
    """Heavy clients from many addresses and one that asks cheap questions: its 99th percentile, and the server's memory."""
    server = Server(ridge.program)
    settles = min(3, seconds / 5)
    heard, tell = multiprocessing.Pipe(False)
    cheap = multiprocessing.get_context("fork").Process(target=lambda: (time.sleep(settles), ask_cheaply(server, until, rng, tell)), daemon=True)
    cheap.start()
    stop = threading.Event()
    statuses = {}
    slowest = [0.0] * 64

    def heavy(i):
        while not stop.is_set():
            start = time.time()
            value = {"model": rng.choice(MODELS[:2]), "device": "h100-sxm", "gpus": 2, "workload": "chat", "request_rate": 20, "requests": 2000000, "time_limit": "5s"}
            try:
                status = server.ask("POST", "/v1/simulate", json.dumps(value), timeout=40, source=f"127.0.3.{1 + i}")[0]
            except OSError as error:
                status = type(error).__name__
            statuses[status] = statuses.get(status, 0) + 1
            if not stop.is_set():
                slowest[i] = max(slowest[i], time.time() - start)

    def trickle():
        while not stop.is_set():
            try:
                server.raw(b"POST /v1/estimate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{", timeout=3)
            except OSError:
                pass

    clients = [threading.Thread(target=heavy, args=(i,), daemon=True) for i in range(64)] + [threading.Thread(target=trickle, daemon=True) for _ in range(16)]
    for client in clients:
        client.start()
    time.sleep(settles)
    memory = []
    try:
        while time.time() < until:
            memory.append(server.memory())
            time.sleep(0.1)
        times, wrong = heard.recv() if heard.poll(30) else ([], ["no word of them"])
        found.check("a cheap question is answered beside 64 heavy clients", times and not wrong, wrong[:3])
        found.check("the server is still there", server.alive())
    finally:
        stop.set()
        code = server.stop()
    found.check("it ends under load", code == 0, code)
    found.check("no request is answered later than a second after its 30", max(slowest) <= 31, max(slowest))
    times.sort()
    p99 = times[min(len(times) - 1, int(0.99 * len(times)))] if times else 0
    half = len(memory) // 2
    growth = max(memory[half:]) / max(memory[:half]) - 1 if half > 0 else 0
    return (f"{len(times)} cheap questions beside 64 heavy clients, median {1e3 * times[len(times) // 2]:.1f} ms, p99 {1e3 * p99:.1f} ms; heavy ones {statuses}, slowest {max(slowest):.1f} s; "
            f"memory {max(memory) / 1e6:.0f} MB at most, most of the second half over most of the first {100 * growth:+.1f} %")


def kills(ridge, found, until, rng, seconds):
    """A search that is killed and goes on answers as one that was not."""
    line = ["plan", "train", "--model", "llama3.1-70b", "--gpus", "512", "--devices", "h100-sxm,b200-sxm-180", "--space", "full", "--json"]

    def answer(text):
        document = json.loads(text)
        document.pop("statistics", None)
        return document

    whole = ridge.run(*line, timeout=300)
    if not found.check("the search that is killed has an answer", whole.returncode == 0, whole.stderr):
        return ""
    killed = rounds = 0
    with tempfile.TemporaryDirectory() as name:
        while time.time() < until:
            results = pathlib.Path(name) / f"{rounds}.sqlite"
            rounds += 1
            for attempt in range(4):
                process = subprocess.Popen([ridge.program, *line, "--results", str(results), *(["--resume"] if attempt else [])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    process.wait(0.05 + rng.random() * max(0.5, whole.seconds))
                    break
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    killed += 1
            last = ridge.run(*line, "--results", results, "--resume", timeout=300)
            if found.check("a killed search goes on", last.returncode == 0, last.stderr):
                found.check("to the same answer", answer(last.stdout) == answer(whole.stdout))
    return f"{killed} kills, {rounds} searches that went on to the same answer"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ridge")
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="flags,files,pairs,flood,kills")
    arguments = parser.parse_args()
    attacks = [{"flags": flags, "files": files, "pairs": pairs, "flood": flood, "kills": kills}[name] for name in arguments.only.split(",")]
    ridge = Ridge(str(pathlib.Path(arguments.ridge).resolve()))
    print(f"seed {arguments.seed}", flush=True)
    found = Findings()
    for attack in attacks:
        seconds = arguments.seconds / len(attacks)
        start = time.time()
        figures = attack(ridge, found, start + seconds, random.Random(arguments.seed), seconds)
        print(f"{attack.__name__}: {figures} ({time.time() - start:.1f} s)", flush=True)
    print(f"{found.checks} checks, {len(found.failures)} failed")
    sys.exit(1 if found.failures else 0)


main()
