"""What the attacks share: the program, a running server, questions that make sense, and a list of what did not hold."""
import http.client
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXIT_CODES = {0, 1, 2, 3}  # fine, bad input, refused, a check failed


class Findings:
    """Failures as sentences; an attack goes on after the first."""

    def __init__(self):
        self.failures = []
        self.checks = 0

    def check(self, what, held, seen=""):
        self.checks += 1
        if not held:
            text = f"{what}: {str(seen)[:400]}"
            self.failures.append(text)
            print("FAILED " + text, flush=True)
        return held


class Ridge:
    def __init__(self, program):
        self.program = program

    def run(self, *words, timeout=60, cwd=None, env=None, stdin=None):
        start = time.time()
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=timeout, cwd=cwd,
                              env={**os.environ, "NO_COLOR": "1", **(env or {})}, stdin=stdin or subprocess.DEVNULL)
        done.seconds = time.time() - start
        return done


class Server:
    def __init__(self, program, *words, env=None, cwd=None):
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--quiet", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, **(env or {})}, cwd=cwd)
        self.port = int(self.process.stdout.readline().split("//")[1].split("/")[0].rsplit(":", 1)[1])

    def ask(self, method, path, body=None, headers=None, timeout=60, source="127.0.0.1"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout, source_address=(source, 0))
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def post(self, path, value, **more):
        status, headers, body = self.ask("POST", path, value if isinstance(value, (bytes, str)) else json.dumps(value), **more)
        return status, headers, json.loads(body)

    def raw(self, data, timeout=10):
        """Bytes as they are; what comes back until the server closes or says nothing more."""
        import socket
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            s.sendall(data)
            s.settimeout(timeout)
            out = b""
            try:
                while chunk := s.recv(65536):
                    out += chunk
            except TimeoutError:
                pass
            return out

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
        return 0

    def alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


DEVICES = ["h100-sxm", "h200-sxm", "b200-sxm-180", "a100-sxm-80", "mi300x", "l40s", "rtx4090", "gaudi3", "h20-96"]
MODELS = ["llama3.1-8b", "llama3.3-70b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b", "qwen3-8b"]


def infer(rng):
    """A question of `estimate infer` that may well have an answer."""
    tp = rng.choice([1, 1, 2, 4, 8])
    return {"kind": "infer", "model": rng.choice(MODELS), "device": rng.choice(DEVICES), "gpus": tp, "tp": tp, "isl": int(16 * 2000 ** rng.random()),
            "osl": int(1 + 2000 ** rng.random()), "concurrency": int(1000 ** rng.random()), "precision": rng.choice(["bf16", "fp8", "bf16"]),
            "engine": rng.choice(["vllm", "sglang", "trtllm"])}


def numbers(value, path=""):
    """Every number of a JSON document with where it stands."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from numbers(inner, f"{path}/{i}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value
