#!/usr/bin/env python3
"""The files that `ridge emit` writes for pools and for replicas, started: engines are `ridge emulate` behind a stand-in that
checks what it is given, routers of pools are stand-ins that take the real routers' flags, that of replicas is nginx itself where
there is one, and requests answer through the one address.

Usage: pools_test.py RIDGE

What the router of vLLM's production stack does with pools (a prompt with max_tokens 1 to a server of prompts, then the
request to a server of tokens) and what SGLang's does (both at once) is done here too; unknown flags end a stand-in.
"""
import argparse
import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

RIDGE = sys.argv[1]
NGINX = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
PLAN = "--model llama3.1-8b --device h100-sxm --gpus 1 --isl 400 --osl 20 --concurrency 8"

ENGINE = r"""#!/usr/bin/env bash
# vllm serve, python3 -m sglang.launch_server: says what it was given, answers at its port.
echo "$0 $*" >> "$GIVEN"
while [ $# -gt 0 ]; do
  case $1 in --port) port=$2 ;; esac
  shift
done
exec "$RIDGE" emulate --model llama3.1-8b --device h100-sxm --port "$port"
"""


def free_ports(count):
    """A run of ports that nobody listens at."""
    for base in range(20000 + os.getpid() % 5000, 60000, 16):
        taken = False
        for port in range(base, base + count):
            with socket.socket() as probe:
                taken = taken or probe.connect_ex(("127.0.0.1", port)) == 0
        if not taken:
            return base
    raise AssertionError("no free ports")


# ---------------------------------------------------------------------------------------------------------------------
# The routers: run as `pools_test.py route vllm|sglang FLAGS...`
def ask(url, path, body):
    request = urllib.request.Request(url + path, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    return urllib.request.urlopen(request, timeout=60)


def route(kind, words):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    if kind == "vllm":
        for flag in ("--service-discovery", "--static-backends", "--static-models", "--static-model-labels", "--routing-logic",
                     "--prefill-model-labels", "--decode-model-labels"):
            parser.add_argument(flag, required=True)
        given = parser.parse_args(words)
        assert given.service_discovery == "static" and given.routing_logic == "disaggregated_prefill_orchestrated", given
        urls, labels = given.static_backends.split(","), given.static_model_labels.split(",")
        assert len(urls) == len(labels) == len(given.static_models.split(",")), given
        prefill = [u for u, label in zip(urls, labels) if label == given.prefill_model_labels]
        decode = [u for u, label in zip(urls, labels) if label == given.decode_model_labels]
    else:
        parser.add_argument("--pd-disaggregation", action="store_true", required=True)
        parser.add_argument("--prefill", nargs="+", action="append", required=True)
        parser.add_argument("--decode", action="append", required=True)
        given = parser.parse_args(words)
        assert all(len(one) == 2 and one[1].isdigit() for one in given.prefill), given.prefill
        prefill, decode = [one[0] for one in given.prefill], given.decode
    turn = [0]
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format, *args):
            pass

        def answer(self, source):
            self.send_response(source.status)
            self.send_header("Content-Type", source.headers["Content-Type"])
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            while data := source.read1(65536):
                self.wfile.write(data)

        def do_GET(self):
            try:
                with urllib.request.urlopen(decode[0] + self.path, timeout=60) as source:
                    self.answer(source)
            except OSError:  # an engine that does not know the page, or is not up
                self.send_error(503)

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                turn[0] += 1
                number = turn[0]
            first = dict(body, max_tokens=1, stream=False)
            first.pop("stream_options", None)
            with ask(prefill[number % len(prefill)], self.path, first) as source:
                source.read()
            with ask(decode[number % len(decode)], self.path, body) as source:
                self.answer(source)

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    Server((given.host, given.port), Handler).serve_forever()


# ---------------------------------------------------------------------------------------------------------------------
def wait_for(url, processes):
    for _ in range(600):
        for process in processes:
            assert process.poll() is None, f"{process.args} ended with {process.returncode}"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"nobody answers at {url}")


def bench(url, requests=24):
    done = subprocess.run([RIDGE, "bench", url, "--json", "--isl", "400", "--osl", "20", "--concurrency", "8", "--requests",
                           str(requests), "--warmup", "1"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["measured"]
    assert measured["finished"] == requests and measured["failed"] == 0, measured["errors"]


def generated(url):
    with urllib.request.urlopen(url + "/metrics", timeout=10) as page:
        text = page.read().decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("vllm:generation_tokens_total"))


def stand_ins(folder):
    """Programs of the engines and routers in a folder of their own, first in the path."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "hostname").write_text("#!/bin/sh\necho 127.0.0.1\n")
    (programs / "vllm").write_text(ENGINE)
    (programs / "vllm-router").write_text(f'#!/bin/sh\nexec {sys.executable} {os.path.abspath(__file__)} route vllm "$@"\n')
    (programs / "python3").write_text(
        f'#!/usr/bin/env bash\ncase "$2" in\n  sglang.launch_server) exec vllm "$@" ;;\n'
        f'  sglang_router.launch_router) exec {sys.executable} {os.path.abspath(__file__)} route sglang "${{@:3}}" ;;\nesac\n'
        f'echo "nobody stands in for $*" >&2; exit 1\n')
    for file in programs.iterdir():
        file.chmod(0o755)
    return dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", RIDGE=RIDGE, GIVEN=str(folder / "given"))


def start(script, environment, *words, **settings):
    return subprocess.Popen(["bash", str(script), *map(str, words)], env=dict(environment, **{k: str(v) for k, v in settings.items()}),
                            cwd=script.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def end(processes):
    for process in processes:
        process.terminate()
    for process in processes:
        process.communicate(timeout=30)


def pools(engine, folder):
    """One server of prompts, two of tokens, a router: all answer, and all work is where it belongs."""
    environment = stand_ins(folder)
    out = folder / "files"
    subprocess.run([RIDGE, "emit", "--for", engine, *PLAN.split(), "--disaggregate", "--pools", "1P2D", "--out", str(out)],
                   check=True, stdout=subprocess.DEVNULL)
    base = free_ports(8)
    started = [start(out / "prefill.sh", environment, PORT=base), start(out / "decode.sh", environment, PORT=base + 2)]
    try:
        for port in (base, base + 2, base + 3):
            wait_for(f"http://127.0.0.1:{port}/health", started)
        started.append(start(out / "router.sh", environment, LISTEN=base + 6))
        wait_for(f"http://127.0.0.1:{base + 6}/v1/models", started)
        bench(f"http://127.0.0.1:{base + 6}")
        tokens = [generated(f"http://127.0.0.1:{base + port}") for port in (0, 2, 3)]
        # A token of each of the 25 prompts came from the first, all answers from the others, in turn.
        assert tokens[0] == 25 and tokens[1] + tokens[2] >= 24 * 20 and min(tokens[1:]) >= 12 * 20, tokens
        given = (folder / "given").read_text().splitlines()
        assert len(given) == 3, given
        roles = {"vllm": ("kv_producer", "kv_consumer"), "sglang": ("--disaggregation-mode prefill", "--disaggregation-mode decode")}
        counts = [sum(role in line for line in given) for role in roles[engine]]
        assert counts == [1, 2], given
        # Whoever loses a server of tokens ends, and says so.
        pid = subprocess.run(["pgrep", "-P", str(started[1].pid)], text=True, stdout=subprocess.PIPE, check=True).stdout.split()[0]
        os.kill(int(pid), 9)
        started[1].wait(timeout=30)
        assert started[1].returncode not in (0, None), started[1].returncode
    finally:
        end(started)


def replicas(folder):
    """Two servers of one script: the list of endpoints answers at both, and nginx in front of them shares the work out."""
    environment = stand_ins(folder)
    out = folder / "files"
    subprocess.run([RIDGE, "emit", "--for", "vllm", *PLAN.replace("--gpus 1", "--gpus 2 --tp 1").split(), "--out", str(out)],
                   check=True, stdout=subprocess.DEVNULL)
    script = next(out.glob("*.sh"))
    base = free_ports(4)
    started = [start(script, environment, PORT=base, ENDPOINTS=out / "endpoints.txt")]
    try:
        for port in (base, base + 1):
            wait_for(f"http://127.0.0.1:{port}/health", started)
        listed = (out / "endpoints.txt").read_text().split()
        assert listed == [f"http://127.0.0.1:{base}", f"http://127.0.0.1:{base + 1}"], listed
        for url in listed:
            bench(url, 8)
        if NGINX is None:
            print("no nginx: the router of replicas is not started")
            return
        before = [generated(url) for url in listed]
        environment["PATH"] += ":" + os.path.dirname(NGINX)
        started.append(start(out / "router.sh", environment, out / "endpoints.txt", LISTEN=base + 2))
        wait_for(f"http://127.0.0.1:{base + 2}/v1/models", started)
        bench(f"http://127.0.0.1:{base + 2}")
        tokens = [generated(url) - had for url, had in zip(listed, before)]
        assert min(tokens) > 100 and sum(tokens) >= 24 * 20, tokens  # whoever has fewer open requests gets the next
    finally:
        end(started)


if __name__ == "__main__":
    if sys.argv[1] == "route":
        route(sys.argv[2], sys.argv[3:])
    else:
        RIDGE = os.path.abspath(RIDGE)
        for name, check in (("vllm", lambda f: pools("vllm", f)), ("sglang", lambda f: pools("sglang", f)), ("replicas", replicas)):
            with tempfile.TemporaryDirectory() as made:
                check(pathlib.Path(made))
            print(name, "answers")
