#!/usr/bin/env python3
"""ridge bench against ridge emulate says what ridge simulate says; hostile servers are errors of their requests.

Usage: loop_test.py RIDGE hostile|escapes|modes|agrees
"""
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

RIDGE = sys.argv[1]
PLAN = "--model llama3.1-8b --device h100-sxm"
# Long enough for percentiles, short enough for a test; several kinds of arrival, prefixes and conversations.
WORKLOADS = [
    # A request that comes 0.1 ms later may miss a step, and those after it with it: of 100 the p99 is one that did or did not.
    "--isl 500 --osl 40 --request-rate 20 --requests 500",
    "--isl 2000 --osl 20 --request-rate 6 --arrivals constant --requests 40",
    # Of several equal clients simulate() sends at the same instant what servers get one after the other: the next step then
    # takes one prompt or all of them.
    "--isl 300 --osl 60 --concurrency 1 --requests 40",
    "--isl 1024 --osl 32 --prefix-hit 50% --request-rate 10 --arrivals gamma:2 --requests 60",
    "--workload TRACE",
]
TRIES = 4


def run(words, **more):
    return subprocess.run([RIDGE] + words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=120, **more)


class Emulator:
    """A server of its own for a while."""

    def __init__(self, words, **more):
        self.process = subprocess.Popen([RIDGE, "emulate", "--port", "0"] + words, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, **more)
        line = self.process.stdout.readline()
        found = re.match(r"(http://[\d.]+:\d+)/v1", line)
        assert found, line + self.process.stderr.read()
        self.url = found[1]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out = self.process.communicate(timeout=20)[0]
        assert self.process.returncode == 0, self.process.returncode
        return out


def agrees(tmp):
    trace = os.path.join(tmp, "trace.csv")
    with open(trace, "w", encoding="utf-8") as file:
        file.write("arrival_s,isl,osl\n")
        for i in range(60):
            file.write(f"{i * 0.07:.3f},{100 + 37 * (i % 11)},{10 + 3 * (i % 7)}\n")
    problems = []
    for workload in WORKLOADS:
        words = PLAN.split() + workload.replace("TRACE", trace).split()
        expected = json.loads(run(["simulate", "--json"] + words).stdout)
        off = []
        for _ in range(TRIES):  # a machine with other things to do delays both sides: the best of some tries counts
            server = Emulator(PLAN.split())
            got = run(["bench", server.url, "--json", "--warmup", "2"] + words)
            assert got.returncode in (0, 3), got.stderr
            server.end()
            measured = json.loads(got.stdout)["measured"]
            assert measured["failed"] == 0 and measured["finished"] == measured["sent"], measured["errors"]
            assert measured["tokens_counted"] == "server"
            off = []
            for figure in ("ttft", "tpot"):
                for q in ("p50", "p90", "p95", "p99"):
                    have, want = measured[figure][q + "_s"], expected[figure + "_s"][q]["mid"]
                    if abs(have - want) > max(0.03 * want, 0.002):
                        off.append(f"{workload}: {figure} {q} is {1e3 * have:.2f} ms, simulated {1e3 * want:.2f}")
            print(workload, "agrees" if not off else off)
            if not off:
                break
        problems += off
    assert not problems, problems


def escapes(_tmp):
    """What a server says moves no cursor and writes no title, on the terminal or in the page."""
    evil = "\x1b]0;gone\x07\x1b[2J\x9b31m<script>alert(1)</script>"
    error = b"data: " + json.dumps({"error": {"message": evil}}).encode() + b"\n\n"
    answers = {"model": (json.dumps({"data": [{"id": evil}]}).encode(), GOOD.encode()),
               "long model": (json.dumps({"data": [{"id": "m" * 3000000}]}).encode(), GOOD.encode()),
               "error": (b'{"data":[{"id":"m"}]}', error), "bytes": (b'{"data":[{"id":"m"}]}', b"\x1b[2J\x9b\0\x07" * 40)}
    for what, (models, stream) in answers.items():
        listener = socket.create_server(("127.0.0.1", 0))
        count = [0]

        def serve(connection):
            with connection:
                head = connection.recv(65536)
                page = models if head.startswith(b"GET /v1/models") else stream
                if head.startswith(b"POST"):
                    count[0] += 1
                    if what == "error" and count[0] == 1:
                        page = GOOD.encode()  # the warm-up, so that errors come into the report
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(page) + page)

        def accept():
            while True:
                try:
                    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        page = os.path.join(_tmp, "page.html")
        got = subprocess.run([RIDGE, "bench", f"http://127.0.0.1:{listener.getsockname()[1]}", "--isl", "20", "--osl", "2", "--concurrency", "1",
                              "--requests", "3", "--warmup", "1", "--stall-timeout", "2s", "--html", page], capture_output=True, timeout=60, check=False)
        listener.close()
        seen = got.stdout + got.stderr
        assert got.returncode in (0, 2), (what, got.returncode)
        assert not any(byte in seen for byte in (b"\x1b", b"\x07", b"\0", b"\xc2\x9b")) and len(seen) < 5000, (what, seen[:500])
        if os.path.exists(page):
            assert b"<script>alert" not in open(page, "rb").read(), what


GOOD = ('data: {"choices":[{"index":0,"text":" a","finish_reason":null}]}\n\n'
        'data: {"choices":[{"index":0,"text":" b","finish_reason":"length"}]}\n\ndata: [DONE]\n\n')


def hostile_server():
    """Answers the first request well, then each in another bad way."""
    listener = socket.create_server(("127.0.0.1", 0))
    ways = ["stall", "reset", "garbage", "json", "redirect", "endless", "cut", "busy", "empty", "error", "headers"]
    count = [0]
    lock = threading.Lock()

    def serve(connection):
        with connection:
            data = b""
            while b"\r\n\r\n" not in data:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            head, body = data.split(b"\r\n\r\n", 1)
            length = re.search(rb"content-length: *(\d+)", head, re.I)
            while length and len(body) < int(length[1]):
                body += connection.recv(65536)
            assert b"secret-key" not in head.split(b"\r\n")[0]
            stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            if head.startswith(b"GET /v1/models"):
                connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b'{"data":[{"id":"m"}]}')
                return
            if not head.startswith(b"POST"):
                connection.sendall(b"HTTP/1.1 404 no\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                return
            with lock:
                number = count[0]
                count[0] += 1
            way = "good" if number == 0 else ways[(number - 1) % len(ways)]
            first = GOOD.split("\n\n")[0].encode() + b"\n\n"
            if way == "good":
                connection.sendall(stream + GOOD.encode())
            elif way == "stall":
                connection.sendall(stream + first)
                time.sleep(8)
            elif way == "reset":
                connection.sendall(stream + first)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            elif way == "garbage":
                connection.sendall(stream + b"<html>" + bytes(range(256)) + b"\n\n")
            elif way == "json":
                connection.sendall(stream + b'data: {"choices":[{"text":\n\n')
            elif way == "redirect":
                connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/v1\r\nContent-Length: 0\r\n"
                                   b"Connection: close\r\n\r\n")
            elif way == "endless":
                connection.sendall(stream)
                try:
                    while True:
                        connection.sendall(first * 50)
                except OSError:
                    pass
            elif way == "cut":
                connection.sendall(stream + first)
            elif way == "busy":
                body = b'{"error":{"message":"slow down","code":429}}'
                connection.sendall(b"HTTP/1.1 429 Too Many\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            elif way == "empty":
                connection.sendall(stream + b"data: [DONE]\n\n")
            elif way == "error":
                connection.sendall(stream + b'data: {"error":{"message":"out of memory"}}\n\n')
            elif way == "headers":
                connection.sendall(b"not http at all\r\n\r\n")

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}", len(ways)


def hostile(_tmp):
    listener, url, ways = hostile_server()
    start = time.time()
    environment = dict(os.environ, RIDGE_API_KEY="secret-key")
    got = run(["bench", url, "--json", "--isl", "20", "--osl", "2", "--request-rate", "20", "--arrivals", "constant",
               "--requests", str(ways), "--warmup", "1", "--stall-timeout", "2s"], env=environment)
    took = time.time() - start
    assert got.returncode in (0, 2), (got.returncode, got.stderr)
    assert took < 30, took
    assert "secret-key" not in got.stdout + got.stderr
    measured = json.loads(got.stdout)["measured"]
    kinds = {kind: entry["count"] for kind, entry in measured["errors"].items()}
    expected = {"stalled": 1, "connection cut": 1, "broken stream": 2, "redirect": 1, "never ends": 1, "cut short": 1,
                "HTTP 429": 1, "empty answer": 1, "server error": 1, "transfer": 1}
    assert kinds == expected, kinds
    listener.close()

    # A server that is not there, keys that are wrong, limits that hold.
    gone = run(["bench", url, "--isl", "20", "--osl", "2", "--requests", "2"])
    assert gone.returncode == 2 and "no connection" in gone.stderr, gone.stderr
    server = Emulator(PLAN.split() + ["--max-in-system", "2"], env=dict(os.environ, RIDGE_EMULATE_KEY="right"))
    words = ["bench", server.url, "--json", "--isl", "200", "--osl", "20", "--offline", "--requests", "12", "--warmup", "1"]
    refused = run(words, env=dict(os.environ, RIDGE_API_KEY="wrong"))
    assert refused.returncode == 2 and "401" in refused.stderr, refused.stderr
    limited = run(words, env=dict(os.environ, RIDGE_API_KEY="right"))
    measured = json.loads(limited.stdout)["measured"]
    assert measured["errors"]["HTTP 429"]["count"] > 0 and measured["finished"] >= 2, measured["errors"]
    server.end()

    # Who hangs up while it waits for its turn, or for a whole answer, leaves the queue.
    server = Emulator(PLAN.split() + ["--max-num-seqs", "1"])
    port = int(server.url.rsplit(":", 1)[1])
    held = []
    for i in range(20):
        body = json.dumps({"prompt": f"a {i}", "max_tokens": 4000, "stream": i % 2 == 0}).encode()
        held.append(socket.create_connection(("127.0.0.1", port)))
        held[-1].sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def metric(name, label=""):
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            text = s.makefile().read()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name) and label in line)

    def settles(name, value):
        until = time.time() + 10
        while metric(name) != value and time.time() < until:
            time.sleep(0.05)
        assert metric(name) == value, (name, metric(name))

    settles("vllm:num_requests_waiting", 19)
    for s in held:
        s.close()
    settles("vllm:num_requests_waiting", 0)
    settles("vllm:num_requests_running", 0)
    assert metric("vllm:request_success_total", "abort") == 20
    server.end()

    # What is written can be read: vLLM's shape, a row of evidence, an overlay learned from it. Conversations work.
    server = Emulator(PLAN.split())
    folder = _tmp
    result = os.path.join(folder, "result.json")
    overlay = os.path.join(folder, "mine.toml")
    done = run(["bench", server.url, "--isl", "200", "--osl", "20", "--concurrency", "2", "--requests", "8",
                "--save-result", result, "--learn", overlay] + PLAN.split())
    assert done.returncode in (0, 3), done.stderr
    assert "Learned from 1 row" in done.stdout, done.stdout
    with open(result, encoding="utf-8") as file:
        saved = json.load(file)
    assert saved["completed"] == 8 and saved["total_output_tokens"] == 160, saved
    again = run(["simulate", "--calibration", overlay, "--isl", "200", "--osl", "20", "--concurrency", "2"] + PLAN.split())
    assert again.returncode == 0, again.stderr
    talk = run(["bench", server.url, "--chat", "--json", "--workload", "conversation", "--request-rate", "4",
                "--requests", "12"])
    measured = json.loads(talk.stdout)["measured"]
    assert measured["failed"] == 0 and measured["finished"] == 12, measured["errors"]
    server.end()


class TlsFront:
    """TLS before a server, with a certificate of its own for 127.0.0.1 and another that nobody signed."""

    def __init__(self, folder, port):
        self.certificate = os.path.join(folder, "own.pem")
        key = os.path.join(folder, "own.key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", self.certificate, "-days", "2", "-subj", "/CN=loop test",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, args=(context, port), daemon=True).start()

    def accept(self, context, port):
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(context, raw, port), daemon=True).start()

    @staticmethod
    def serve(context, raw, port):
        try:
            with context.wrap_socket(raw, server_side=True) as front, socket.create_connection(("127.0.0.1", port)) as back:
                threading.Thread(target=TlsFront.copy, args=(back, front), daemon=True).start()
                TlsFront.copy(front, back)
        except OSError:  # who does not trust the certificate hangs up
            pass

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def modes(folder):
    """TLS, the highest rate, a suite that is learned from, a watch that sees a drift; and keys that nobody sees."""
    server = Emulator(PLAN.split())
    port = int(server.url.rsplit(":", 1)[1])
    front = TlsFront(folder, port)
    few = ["--isl", "64", "--osl", "8", "--concurrency", "2", "--requests", "6", "--warmup", "1"]
    distrusted = run(["bench", front.url] + few)
    assert distrusted.returncode == 2 and "TLS" in distrusted.stderr, distrusted.stderr
    trusted = run(["bench", front.url, "--json", "--ca-file", front.certificate] + few)
    measured = json.loads(trusted.stdout)["measured"]
    assert measured["finished"] == 6 and measured["failed"] == 0, measured["errors"]
    other_name = run(["bench", front.url.replace("127.0.0.1", "localhost"), "--ca-file", front.certificate] + few)
    assert other_name.returncode == 2 and "TLS" in other_name.stderr, other_name.stderr

    # Reading late is measured: never 0, and the same in what is printed.
    client = measured["client"]
    assert 0 < client["receive_delay"]["p99_s"] < 1, client
    assert client["receive_delay"]["count"] >= 6, client

    # The highest rate that holds a limit: it holds, and 1.05 times as much was tried and did not.
    found = run(["bench", server.url, "--json", "--isl", "2000", "--osl", "4", "--ttft", "150ms",
                 "--find-rate", "--requests", "40", "--warmup", "1"])
    assert found.returncode == 0, found.stderr
    answer = json.loads(found.stdout)
    rate = answer["load"]["requests_per_s"]
    assert 4 < rate < 200, answer["load"]
    assert answer["measured"]["ttft"]["p95_s"] <= 0.150, answer["measured"]["ttft"]

    # A key is in no output, file or list of processes.
    key = "sk-very-secret-0123456789"
    saved = os.path.join(folder, "saved.json")
    page = os.path.join(folder, "page.html")
    process = subprocess.Popen([RIDGE, "bench", server.url, "--isl", "64", "--osl", "30", "--concurrency", "2",
                                "--requests", "20", "--save-result", saved, "--html", page],
                               env=dict(os.environ, RIDGE_API_KEY=key), text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    seen = 0
    while process.poll() is None:
        listed = subprocess.run(["ps", "axww", "-o", "pid,args"], text=True, stdout=subprocess.PIPE, check=True).stdout
        seen += str(process.pid) in listed
        assert key not in listed
        time.sleep(0.05)
    out, err = process.communicate()
    assert seen > 0 and process.returncode == 0, err
    for text in (out, err, open(saved, encoding="utf-8").read(), open(page, encoding="utf-8").read()):
        assert key not in text
    server.end()

    # A suite against a server at twice the pace of the plan: what is learned from it is about twice as fast, too.
    fast = Emulator(PLAN.split() + ["--speed", "2"])
    overlay = os.path.join(folder, "learned.toml")
    suite = run(["bench", fast.url, "--json", "--suite", "--isl", "128", "--osl", "16", "--warmup", "1", "--learn", overlay]
                + PLAN.split())
    assert suite.returncode in (0, 3), suite.stderr
    points = json.loads(suite.stdout)["points"]
    assert len(points) == 4, len(points)
    assert len({(p["load"]["concurrency"], p["measured"]["input_tokens"]) for p in points}) == 4, points
    before = json.loads(run(["simulate", "--json", "--isl", "128", "--osl", "16", "--concurrency", "1", "--requests", "20"]
                            + PLAN.split()).stdout)
    after = json.loads(run(["simulate", "--json", "--isl", "128", "--osl", "16", "--concurrency", "1", "--requests", "20",
                            "--calibration", overlay] + PLAN.split()).stdout)
    ratio = after["tpot_s"]["p50"]["mid"] / before["tpot_s"]["p50"]["mid"]
    assert 0.4 < ratio < 0.75, ratio

    # A watch says that a server at twice the pace is not what the plan says, and since when; with --metrics-only, too.
    watch = subprocess.Popen([RIDGE, "bench", fast.url, "--watch", "300ms", "--isl", "64", "--osl", "16"] + PLAN.split(),
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    quiet = subprocess.Popen([RIDGE, "bench", fast.url, "--watch", "300ms", "--metrics-only"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(8)
    for one in (watch, quiet):
        one.send_signal(signal.SIGINT)
    out, err = watch.communicate(timeout=20)
    assert watch.returncode == 3 and re.search(r"TPOT is 0\.\d+ times the plan's since \d{4}-", out), (out, err)
    out, err = quiet.communicate(timeout=20)
    assert re.search(r"TTFT [\d.]+ m?s  TPOT [\d.]+ m?s", out), (out, err)
    fast.end()


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as folder_:
        {"hostile": hostile, "escapes": escapes, "modes": modes, "agrees": agrees}[sys.argv[2]](folder_)
    print("ok")
