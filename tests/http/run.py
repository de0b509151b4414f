"""Asks a running `ridge serve` what nobody should ask, and checks that it answers cleanly and goes on: run.py RIDGE."""
import http.client
import json
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INFER = {"kind": "infer", "model": "llama3.3-70b", "device": "h200-sxm", "gpus": 2, "isl": 1000, "osl": 250, "concurrency": 32}
SIMULATE = {"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 20}
failures = []


def check(what, held, seen=""):
    if not held:
        failures.append(f"{what}: {str(seen)[:300]}")
        print(f"FAILED {what}: {str(seen)[:300]}")


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--quiet"], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split("//")[1].split("/")[0].rsplit(":", 1)[1])

    def ask(self, method, path, body=None, headers=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def post(self, path, value):
        status, headers, body = self.ask("POST", path, value if isinstance(value, (bytes, str)) else json.dumps(value))
        return status, headers, json.loads(body)


def answers(server):
    status, headers, body = server.post("/v1/estimate", INFER)
    check("an estimate is answered", status == 200 and body["output_tokens_per_s"]["mid"] > 0, body)
    for name in ("X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "X-Frame-Options"):
        check(f"every answer has {name}", name in headers, headers)
    check("nothing from elsewhere is allowed", "default-src 'none'" in headers["Content-Security-Policy"], headers)
    check("a catalogue entry is answered", b"H200" in server.ask("GET", "/v1/catalogue?id=h200-sxm")[2])
    document = json.loads(server.ask("GET", "/v1/openapi.json")[2])
    for path, methods in document["paths"].items():  # what the description promises exists, and nothing else is allowed
        if "{" in path:
            continue
        for method, operation in methods.items():
            if method == "get":
                query = operation.get("x-example", "")
                if operation.get("x-slow"):
                    continue
                status, _, body = server.ask("GET", path + query)
            else:
                example = operation["requestBody"]["content"]["application/json"]["example"]
                status, _, body = server.ask("POST", path, json.dumps(example))
            check(f"the example of {method} {path} works", status == 200, body)
        wrong = "POST" if "get" in methods else "GET"
        status, headers, _ = server.ask(wrong, path, "{}" if wrong == "POST" else None)
        check(f"{wrong} {path} is 405 with Allow", status == 405 and "Allow" in headers, (status, headers))


def refusals(server):
    bad = {
        "no JSON": b"{", "no object": b"[1,2]", "a bare text": b'"x"', "nothing": b"", "no UTF-8": b"\xff\xfe{}", "deep": b"[" * 100000,
        "an unknown key": {**INFER, "modle": "x"}, "an unknown model": {**INFER, "model": "no-such-model"}, "an unknown device": {**INFER, "device": "h999"},
        "an object as value": {**INFER, "gpus": {"a": 1}}, "a negative count": {**INFER, "gpus": -1}, "an absurd count": {**INFER, "gpus": 10**30},
        "a text as number": {**INFER, "isl": "many"}, "an option in kind": {"kind": "--help"}, "a switch with a value": {**INFER, "explain": "yes"},
        "a fraction of a device": {**INFER, "gpus": 1.5}, "infinite input": {**INFER, "isl": 1e308},
    }
    for what, value in bad.items():
        status, _, body = server.post("/v1/estimate", value)
        check(f"{what} is refused with a message", status in (400, 404, 422) and body["error"]["message"], (status, body))
    status, _, body = server.post("/v1/simulate", {"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 1, "requests": 10**9})
    check("too many simulated requests are refused", status == 400, body)
    status = server.ask("POST", "/v1/estimate", b"x" * (2 << 20))[0]
    check("a huge body is 413", status == 413, status)
    for path in ("/v1/none", "/none.js", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v1/jobs/none"):
        status, _, body = server.ask("GET", path)
        check(f"{path} is 404", status == 404 and b"root:" not in body, (status, body))
    check("PUT is refused", server.ask("PUT", "/v1/estimate", "{}")[0] == 405)
    for host, expected in {"example.org": 421, "127.evil.example": 421, "127.0.0.1.example": 421, "127.1": 421, "128.0.0.1": 421, "[::2]": 421, "": 421,
                           "localhost": 200, "localhost:8080": 200, "127.9.8.7:1": 200, "[::1]:8080": 200}.items():
        status = server.ask("GET", "/", headers={"Host": host})[0]
        check(f"the host {host!r} is answered {expected}", status == expected, status)
    status, _, body = server.post("/v1/simulate", {**SIMULATE, "arrivals": "on-off:1ns,1ns"})
    check("bursts of a nanosecond are refused", status == 400, (status, body))


def files(server):
    """No text of a request reaches the file system."""
    secret = ROOT / "tests/http/run.py"
    for verb, value in [("estimate", {**INFER, "model": str(secret)}), ("estimate", {**INFER, "device": "/etc/passwd.toml"}), ("estimate", {**INFER, "html": "/tmp/x.html"}),
                        ("estimate", {**INFER, "catalogue": "/etc/passwd"}), ("estimate", {**INFER, "plan": "/etc/passwd"}), ("estimate", {**INFER, "data": "/tmp"}),
                        ("simulate", {"workload": "/etc/passwd"}), ("plan", {"kind": "/etc/passwd"}), ("plan", {"kind": "x.toml"}), ("plan", {"kind": "merge"})]:
        status, _, body = server.post(f"/v1/{verb}", value)
        check(f"{verb} {value} names a file and is refused", status in (400, 404, 422) and "root:" not in json.dumps(body), (status, body))
    for query in ("rows=/tmp/ridge-rows.csv", "svg=/tmp/ridge.svg", "cases=/etc/passwd", "report=/tmp/r.md", "gate", "update"):
        status, _, body = server.ask("GET", f"/v1/validate?{query}")
        check(f"validate?{query} is refused", status == 400, (status, body))
    check("mlperf import is refused", server.ask("GET", "/v1/mlperf?kind=import")[0] == 400)
    for text in ("/etc/passwd", str(ROOT / "README.md"), "-", "--bundled"):
        status, _, body = server.post("/v1/check", {"text": text})
        check(f"the text {text!r} is judged as a text", status == 200 and body["documents"][0]["document"] == "argument" and not body["documents"][0]["findings"], (status, body))
    status, _, body = server.post("/v1/check", {"text": "H200 has 4.8 TB/s of memory bandwidth"})
    check("a claim is judged", status == 200 and body["documents"][0]["findings"][0]["verdict"] == "right", body)


def heads(server):
    for path in ("/", "/app.js", "/v1/catalogue?kind=fabrics"):
        get, head = server.ask("GET", path), server.ask("HEAD", path)
        drop = lambda headers: {k: v for k, v in headers.items() if k != "Date"}
        check(f"HEAD {path} has the headers of GET and no body", drop(get[1]) == drop(head[1]) and get[0] == head[0] and head[2] == b"", (get[:2], head[:2]))
    tag = server.ask("GET", "/")[1].get("ETag")
    check("a page that is known is 304", server.ask("GET", "/", headers={"If-None-Match": tag})[0] == 304)


def ask_from(address, port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20, source_address=(address, 0))
    try:
        connection.request("POST", "/v1/estimate", json.dumps(INFER))
        return connection.getresponse().status
    except OSError as error:
        return error
    finally:
        connection.close()


class Trickle(threading.Thread):
    """A request of which a byte comes now and then: never idle, never done."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.lasted = port, None
        self.start()

    def run(self):
        begin = time.time()
        try:
            with socket.create_connection(("127.0.0.1", self.port)) as s:
                s.sendall(b"POST /v1/estimate HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
                while time.time() - begin < 60:
                    s.sendall(b"a")
                    s.settimeout(1)
                    try:
                        if s.recv(100) == b"":
                            break
                    except TimeoutError:
                        pass
        except OSError:
            pass
        self.lasted = time.time() - begin


def crowds(server):
    slow = socket.create_connection(("127.0.0.1", server.port))
    slow.sendall(b"POST /v1/estimate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 12000 else 12000, hard))
    many = []
    for _ in range(10000):
        try:
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", server.port))
            many.append(s)
        except OSError:
            break
    ended = set()
    deadline = time.time() + 20
    while time.time() < deadline and len(ended) < len(many) - 600:
        for s in many:
            if s in ended:
                continue
            try:
                if s.recv(100) == b"":
                    ended.add(s)
            except BlockingIOError:
                pass
            except OSError:
                ended.add(s)
        # Whoever comes from elsewhere is served meanwhile: one address has no more than its share.
        status = ask_from("127.0.0.2", server.port)
        check("during a crowd from one address others are served", status == 200, status)
        time.sleep(0.2)
    check(f"of {len(many)} connections from one address all but its share are closed", len(ended) >= len(many) - 600, len(ended))
    for s in many:
        s.close()
    status = None
    deadline = time.time() + 20
    while status != 200 and time.time() < deadline:
        try:
            status = server.post("/v1/estimate", INFER)[0]
        except OSError:
            time.sleep(0.2)
    check(f"after {len(many)} connections it serves", status == 200, status)
    slow.settimeout(25)
    try:
        closed = slow.recv(1000)
    except OSError:
        closed = None
    check("a client that sends nothing more is cut off", closed is not None and b"200 OK" not in closed, closed)
    slow.close()


def cpu_seconds(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def jobs(server):
    long = {"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 20, "requests": 2000000, "async": True}
    status, _, body = server.post("/v1/simulate", long)
    check("a job starts with 202", status == 202 and body["job"], body)
    path = f"/v1/jobs/{body['job']}"
    deadline = time.time() + 20
    share = 0
    while share == 0 and time.time() < deadline:
        status, _, body = server.ask("GET", path)
        share = json.loads(body).get("progress", 0)
        check("a job says that it runs", status == 202, (status, body))
        time.sleep(0.05)
    check("a job says how far it is", 0 < share < 1, share)
    check("a job can be ended", server.ask("DELETE", path)[0] == 200)
    check("an ended job is gone", server.ask("GET", path)[0] == 404)
    before = cpu_seconds(server)
    time.sleep(1)
    check("an ended job uses no more CPU", cpu_seconds(server) - before < 0.3, cpu_seconds(server) - before)


server = Server(sys.argv[1])
trickle = Trickle(server.port)
try:
    for part in (answers, refusals, files, heads, jobs, crowds):
        start = time.time()
        part(server)
        print(f"{part.__name__}: {time.time() - start:.1f} s")
    trickle.join(30)
    check("a request that trickles in is cut off", trickle.lasted is not None and trickle.lasted < 25, trickle.lasted)
    check("it still runs", server.process.poll() is None)
finally:
    server.process.send_signal(signal.SIGINT)
    try:
        code = server.process.wait(15)
    except subprocess.TimeoutExpired:
        server.process.kill()
        code = "killed"
check("Ctrl-C ends it with 0", code == 0, code)
sys.exit(1 if failures else 0)
