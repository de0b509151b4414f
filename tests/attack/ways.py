"""The same questions by every way there is: ways.py RIDGE [--questions 300] [--lines 60] [--seed 1].

HTTP, the C library (by ctypes) and the Python module are asked every question, the command line the first `--lines` of them,
since each of those is a process. All answers must be the same numbers; refusals must be refusals everywhere. `make attack` asks
10,000 and as many lines."""
import argparse
import ctypes
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import time

from common import DEVICES, Findings, Server, infer


def question(rng):
    """A verb and its flags: mostly estimates, some of everything that answers at once."""
    kind = rng.randrange(10)
    if kind < 6:
        return "estimate", infer(rng)
    if kind == 6:
        return "estimate", {"kind": "train", "model": rng.choice(["llama3.1-8b", "llama3.1-70b", "mixtral-8x7b"]), "device": rng.choice(["h100-sxm", "b200-sxm-180", "mi300x"]),
                            "gpus": rng.choice([8, 64, 512]), "global_batch": rng.choice([64, 512])}
    if kind == 7:
        return "cost", {"kind": rng.choice(["own", "rent"]), "device": rng.choice(DEVICES), "gpus": rng.choice([1, 8, 64]), "utilization": round(rng.random(), 2)}
    if kind == 8:
        return "goodput", {"gpus": rng.choice([64, 1024, 16384]), "model": "llama3.1-70b", "device": "h100-sxm", "duration": f"{rng.choice([1, 30])}days", "trials": 10, "seed": rng.randrange(1000)}
    return "simulate", {"model": "llama3.1-8b", "device": rng.choice(["h100-sxm", "l40s"]), "workload": rng.choice(["chat", "code"]), "requests": 50, "seed": rng.randrange(1000),
                        "request_rate": rng.choice([1, 5])}


def words(verb, flags):
    line = [verb] + ([flags["kind"]] if "kind" in flags else [])
    return line + [f"--{key.replace('_', '-')}={value}" for key, value in flags.items() if key != "kind"] + ["--json"]


def numbers_alone(document):
    """Without what names the asker or speaks to it (a change is --tp 8, "tp": 8 or tp=8), and how long a search took."""
    if isinstance(document, dict):
        return {k: numbers_alone(v) for k, v in document.items() if k not in ("command", "next", "again", "statistics", "change", "assumptions", "why", "reason")}
    if isinstance(document, list):
        return [numbers_alone(v) for v in document]
    return document


def told(document):
    """Whether it is an answer, be it "does not fit", and the answer."""
    return bool(document) and "error" not in document, document


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        self.c.ridge_open.restype = ctypes.c_void_p
        self.c.ridge_open.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        self.c.ridge_call.restype = ctypes.c_void_p
        self.c.ridge_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)]
        self.c.ridge_free.argtypes = [ctypes.c_void_p]
        self.session = self.c.ridge_open(None, None)

    def ask(self, verb, flags):
        code = ctypes.c_int(0)
        text = self.c.ridge_call(self.session, verb.encode(), json.dumps(flags).encode(), ctypes.byref(code))
        try:
            return told(json.loads(ctypes.string_at(text)))
        finally:
            self.c.ridge_free(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ridge")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    ridge = pathlib.Path(arguments.ridge).resolve()
    found = Findings()
    rng = random.Random(arguments.seed)
    library = ridge.parent / "libridgeline.so"
    if not library.exists():
        sys.exit(f"{library} is not built")
    c = Library(library)
    python = None
    if (ridge.parent / "python").is_dir():
        sys.path.insert(0, str(ridge.parent / "python"))
        try:
            import ridgeline
            python = ridgeline
        except ImportError as error:  # built for another Python, or NumPy is not there
            print(f"Python is not asked: {error}")
    server = Server(str(ridge))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    start = time.time()
    answered = refused = lines = 0
    try:
        for i in range(arguments.questions):
            verb, flags = question(rng)
            fine, answer = c.ask(verb, flags)
            answered += fine
            refused += not fine
            ways = {}
            connection.request("POST", f"/v1/{verb}", json.dumps(flags))
            reply = connection.getresponse()
            body = json.loads(reply.read())
            ways["HTTP"] = told(body)
            if python:
                try:
                    ways["Python"] = told(python.call(verb, **flags).to_dict())
                except python.Refused as no:
                    ways["Python"] = told(no.answer.to_dict() if no.answer else None)
                except python.BadInput:
                    ways["Python"] = (False, None)
            if i < arguments.lines:
                done = subprocess.run([ridge, *words(verb, flags)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
                ways["the command line"] = told(json.loads(done.stdout) if done.stdout else None)
                lines += 1
            for way, (held, said) in ways.items():
                if found.check(f"{verb} {flags}: {way} answers if C does", held == fine, (held, fine, str(said)[:200])) and fine:
                    found.check(f"{verb} {flags}: {way} says the same as C", numbers_alone(said) == numbers_alone(answer))
    finally:
        server.stop()
    print(f"{arguments.questions} questions by HTTP, C{' and Python' if python else ''}, {lines} of them by the command line: {answered} answered, {refused} refused, "
          f"{time.time() - start:.1f} s; {found.checks} checks, {len(found.failures)} failed")
    sys.exit(1 if found.failures else 0)


main()
