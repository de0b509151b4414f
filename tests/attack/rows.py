"""What an attack once found, each kept mended: rows.py RIDGE. One function for each row; it fails without its mend."""
import json
import os
import pathlib
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from common import ROOT, Findings, Ridge, Server

found = Findings()
check = found.check
sys.argv[1] = str(pathlib.Path(sys.argv[1]).resolve())
ridge = Ridge(sys.argv[1])
SIMULATE = {"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 20}
HEAVY = {**SIMULATE, "requests": 2000000}
TRAIN = ["plan", "train", "--gpus", "8", "--devices", "h100-sxm", "--global-batch", "64"]
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "torch_dtype": "bfloat16", "max_position_embeddings": 131072}

ESTATE = """[estate]
start = "2026-12"
months = 1
[[site]]
id = "north"
country = "DE"
power = "300 kW"
electricity = "$0.1/kWh"
[[offer]]
kind = "buy"
device = "h100-sxm"
site = "north"
price = "$30000/GPU"
life_years = 4
residual = "10%"
cost_of_capital = "8%"
"""


def threads_and_cross_site(server):
    for status, _, body in [server.ask("GET", "/v1/validate?threads=1000000"),
                            server.ask("POST", "/v1/plan", json.dumps({"kind": "train", "model": "llama3.1-8b", "gpus": 8, "threads": 1000000}))]:
        check("threads are not a client's to set", status == 400 and b"threads" in body, (status, body))
    done = ridge.run("plan", "train", "--model", "llama3.1-8b", "--gpus", "8", "--threads", "1000000")
    check("a million threads are refused with the limit", done.returncode == 1 and "at most 256" in done.stderr, done.stderr)
    done = ridge.run("validate", "--threads", "1000000")
    check("for validate too", done.returncode == 1 and "at most 256" in done.stderr, done.stderr)
    path = "/v1/catalogue?kind=fabrics"
    for headers, expected in [({}, 200), ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "same-site"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200),
                              ({"Sec-Fetch-Site": "none"}, 200), ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                              ({"Origin": f"http://127.0.0.1:{server.port}"}, 200)]:
        status = server.ask("GET", path, headers=headers)[0]
        check(f"asked with {headers} the answer is {expected}", status == expected, status)
    check("a page elsewhere may link here", server.ask("GET", "/", headers={"Sec-Fetch-Site": "cross-site"})[0] == 200)
    check("the server is still there", server.alive())


def results_know_what_they_were_made_with(folder):
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    results = folder / "z.sqlite"
    line = [*TRAIN, "--model", str(config), "--results", str(results)]
    first = ridge.run(*line)
    check("a search is kept", first.returncode == 0 and results.exists(), first.stderr)
    check("it goes on with the same", ridge.run(*line, "--resume").returncode == 0)
    for files in ([str(results)],):
        check("and is merged", ridge.run("plan", "merge", *files).returncode == 0, ridge.run("plan", "merge", *files).stderr)

    def refused(what, word, *more):
        for asked in ([*line, "--resume", *more], ["plan", "merge", str(results), *more]):
            done = ridge.run(*asked)
            check(f"{asked[1]} with another {what} is refused", done.returncode == 1 and word in done.stderr, (done.returncode, done.stderr))

    config.write_text(json.dumps({**CONFIG, "intermediate_size": 4096}))
    refused("config.json", "model")
    config.write_text(json.dumps(CONFIG))
    overlay = folder / "mine.toml"
    overlay.write_text('[[source]]\nid = "mine"\ntitle = "mine"\nwhere = "https://example.org"\ndate = "2026-01-01"\nkind = "estimate"\n')
    done = ridge.run(*line, "--resume", "--catalogue", str(overlay))
    check("another catalogue is refused", done.returncode == 1 and "catalogue" in done.stderr, done.stderr)
    done = ridge.run(*line, "--resume", "--as-of", "2026-01")
    check("another date is refused", done.returncode == 1 and "question" in done.stderr, done.stderr)
    data = folder / "data"
    shutil.copytree(pathlib.Path(__file__).resolve().parents[2] / "data", data)
    for part, word in {"calibration": "calibration", "prices": "prices", "economics": "economics", "engines": "engines"}.items():
        victim = sorted(p for p in (data / part).rglob("*") if p.is_file())[0]
        before = victim.read_bytes()
        victim.write_bytes(before + (b"\n" if victim.suffix == ".csv" else b"\n# changed\n"))
        done = ridge.run("--data", str(data), *line, "--resume")
        check(f"another {part} is refused", done.returncode == 1 and word in done.stderr, done.stderr)
        victim.write_bytes(before)
    check("and nothing else is", ridge.run("--data", str(data), *line, "--resume").returncode == 0)


def results_are_not_believed_blindly(folder):
    results = folder / "r.sqlite"
    line = [*TRAIN, "--model", "llama3.1-8b", "--results", str(results)]
    ridge.run(*line)
    kept = results.read_bytes()
    for sql in ("UPDATE found SET candidate = 9000000000000000000", "UPDATE about SET value = '9999999' WHERE key = 'groups'", "DELETE FROM found",
                "DELETE FROM found WHERE rowid % 2 = 0", "UPDATE found SET candidates = candidates + 1", "UPDATE done SET past = past * 1000",
                "UPDATE found SET violation = -1", "UPDATE found SET criterion_1 = criterion_1 * 0.5", "DROP TABLE found", "DELETE FROM about", "UPDATE about SET value = ''"):
        results.write_bytes(kept)
        with sqlite3.connect(results) as db:
            db.execute(sql)
        db.close()
        for asked in ([*line, "--resume"], ["plan", "merge", str(results)]):
            done = ridge.run(*asked)
            check(f"after {sql}, {asked[1]} refuses the file", done.returncode == 1 and str(results) in done.stderr, (done.returncode, done.stderr[:300]))
    results.write_bytes(kept[: len(kept) // 2])
    done = ridge.run(*line, "--resume")
    check("half a file is refused", done.returncode == 1 and str(results) in done.stderr, (done.returncode, done.stderr))
    results.write_bytes(b"")
    check("an empty file is begun", ridge.run(*line).returncode == 0)


def other_peoples_databases_stay(folder):
    mine = folder / "theirs.sqlite"
    with sqlite3.connect(mine) as db:
        db.execute("CREATE TABLE about (key TEXT, value TEXT)")
        db.execute("CREATE TABLE answer (x INTEGER)")
        db.execute("INSERT INTO about VALUES ('a', 'b')")
        db.execute("INSERT INTO answer VALUES (42)")
    db.close()
    before = mine.read_bytes()
    for line in ([*TRAIN, "--model", "llama3.1-8b", "--results", str(mine)], [*TRAIN, "--model", "llama3.1-8b", "--results", str(mine), "--resume"], ["plan", "merge", str(mine)]):
        done = ridge.run(*line)
        check(f"{line[1:2]} refuses somebody else's database", done.returncode == 1 and "another program" in done.stderr, (done.returncode, done.stderr))
        check("and leaves it as it was", mine.read_bytes() == before)
    if os.path.exists("/dev/full"):
        done = ridge.run(*TRAIN, "--model", "llama3.1-8b", "--results", str(folder / "nowhere" / "x.sqlite"))
        check("a folder that is not there is said", done.returncode == 1 and "no file of ridge" not in done.stderr, done.stderr)


def policy_words():
    serve = ["plan", "serve", "--model", "llama3.1-8b", "--request-rate", "5", "--devices", "h100-sxm,gb200-nvl72,h20-96,mi300x,l4", "--json"]

    def ranked(*more):
        done = ridge.run(*serve, *more)
        return [p["device"] for p in json.loads(done.stdout)["plans"]] if done.returncode == 0 else None, done

    for word in ("cn", "CHN", "China"):
        devices, done = ranked("--destination", word)
        check(f"--destination {word} leaves out what needs a licence", devices is not None and not any(d.startswith(("gb200", "b200", "h100", "h200")) for d in devices), (devices, done.stderr))
    for flag, word, hint in [("--destination", "CHM", "CHN"), ("--destination", "Chian", "China"), ("--destination", "zz", ""), ("--avoid-vendors", "NVIDA", "NVIDIA"),
                             ("--vendors", "NVIDA", "NVIDIA"), ("--avoid-vendors", "AMD,NVIDA", "NVIDIA"), ("--origin", "CM", "CN"), ("--origin", "US,ZZ", "CN"),
                             ("--engine", "zzz", ""), ("--purchase", "sopt", "spot"), ("--profile", "startupp", "startup"),
                             ("--fleet", "h1000:8", "h100"), ("--region", "Atlantis", "")]:
        devices, done = ranked(flag, word)
        check(f"{flag} {word} is refused", devices is None and done.returncode in (1, 2) and hint in done.stderr, (devices, done.returncode, done.stderr))
    for flag in ("--destination", "--avoid-vendors", "--vendors", "--origin", "--devices", "--region"):
        devices, done = ranked(flag, "")
        check(f"{flag} with a variable that is not set is refused", devices is None and done.returncode == 1 and flag in done.stderr, (devices, done.returncode, done.stderr))
    devices, _ = ranked("--avoid-vendors", "nvidia")
    check("--avoid-vendors nvidia avoids it", devices is not None and "mi300x" in devices and not any(d.startswith(("h100", "b200", "gb200")) for d in devices), devices)
    devices, _ = ranked("--origin", "CN", "--vendors", "NVIDIA")
    check("--origin and --vendors both hold", not devices, devices)


def one_client_does_not_shut_out_others(server):
    before = server.memory()
    stop = threading.Event()

    def greedy():
        while not stop.is_set():
            try:
                server.ask("POST", "/v1/simulate", json.dumps(HEAVY), timeout=8)
            except OSError:
                pass

    crowd = [threading.Thread(target=greedy, daemon=True) for _ in range(40)]
    for thread in crowd:
        thread.start()
    time.sleep(1.5)
    slowest = 0
    for verb, value in [("cost", {"kind": "rent", "device": "h100-sxm", "gpus": 8}), ("check", {"text": "H200 has 4.8 TB/s of memory bandwidth"}), ("goodput", {"gpus": 1024, "model": "llama3.1-70b", "duration": "30days", "device": "h100-sxm", "trials": 20})] * 3:
        start = time.time()
        status, _, body = server.post(f"/v1/{verb}", value)  # even of the same client
        slowest = max(slowest, time.time() - start)
        check(f"{verb} is answered while one client floods", status in (200, 422), (status, body))
    status = server.ask("GET", "/v1/mlperf?kind=rounds", source="127.0.0.7")[0]
    check("mlperf too", status != 503, status)
    start = time.time()
    status = server.post("/v1/simulate", {**SIMULATE, "requests": 200}, source="127.0.0.7")[0]
    check(f"another client's simulation has its turn ({time.time() - start:.1f} s)", status == 200 and time.time() - start < 20, status)
    check(f"short questions take no longer than a few seconds ({slowest:.2f} s)", slowest < 5, slowest)
    stop.set()
    for thread in crowd:
        thread.join(12)
    deadline = time.time() + 10
    while time.time() < deadline:
        used = cpu_seconds(server)
        time.sleep(0.5)
        if cpu_seconds(server) - used < 0.1:
            break
    check("nobody is left, nothing is computed", cpu_seconds(server) - used < 0.15, cpu_seconds(server) - used)
    check("memory does not stay", server.memory() < before + 300e6, (before, server.memory()))


def cpu_seconds(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def idle_connections_lock_nobody_out(server):
    import socket
    idle = []
    for _ in range(400):
        try:
            s = socket.create_connection(("127.0.0.1", server.port), timeout=5)
            idle.append(s)
        except OSError:
            break
    served = 0
    for _ in range(75):
        try:
            served += server.ask("GET", "/v1/catalogue?kind=fabrics", timeout=10)[0] == 200
        except OSError:
            pass
    check(f"behind {len(idle)} idle connections of the same address all are served", served == 75, served)
    for source in ("127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.4", "127.0.1.5"):
        for _ in range(220):
            try:
                idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=5, source_address=(source, 0)))
            except OSError:
                break
    try:
        status = server.ask("GET", "/v1/catalogue?kind=fabrics", source="127.0.2.1", timeout=10)[0]
    except OSError as error:
        status = error
    check("five addresses do not fill the server", status == 200, status)
    for s in idle:
        s.close()


def long_answers_block_nobody(server):
    """Three hundred questions for the whole price list from each of six addresses, whose answers nobody takes."""
    import socket
    before = server.memory()
    held = []
    slowest = 0
    for source in ("127.0.6.1", "127.0.6.2", "127.0.6.3", "127.0.6.4", "127.0.6.5", "127.0.6.6"):
        for _ in range(300):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.settimeout(5)
            try:
                s.bind((source, 0))
                s.connect(("127.0.0.1", server.port))
                s.sendall(b"GET /v1/catalogue?kind=prices HTTP/1.1\r\nHost: localhost\r\n\r\n")
            except OSError:
                pass
            held.append(s)
        start = time.time()
        try:
            status = server.ask("POST", "/v1/estimate", json.dumps({"kind": "infer", "model": "llama3.1-8b", "device": "h100-sxm", "isl": 1000 + len(held)}), source="127.0.6.9", timeout=20)[0]
        except OSError as error:
            status = error
        slowest = max(slowest, time.time() - start)
        check(f"behind {len(held)} answers that nobody takes another is answered", status == 200, status)
    check(f"and at once ({1e3 * slowest:.0f} ms)", slowest < 2, slowest)
    time.sleep(3)
    check("memory for them has a limit", server.memory() < before + 300e6, (before, server.memory()))
    for s in held:
        s.close()


def ten_thousand_connections(server):
    """Of one address, opened as fast as they come and never used: another address does not notice."""
    import socket
    kept = []
    opened = 0
    done = threading.Event()

    def greedy():
        nonlocal opened
        for _ in range(10000):
            try:
                kept.append(socket.create_connection(("127.0.0.1", server.port), timeout=5, source_address=("127.0.1.9", 0)))
                opened += 1
            except OSError:
                pass
            if len(kept) > 700:  # more than the server lets one address have
                kept.pop(0).close()
        done.set()

    crowd = threading.Thread(target=greedy, daemon=True)
    crowd.start()
    times = []
    refused = 0
    while not done.is_set() or len(times) < 50:
        start = time.time()
        try:
            refused += server.ask("GET", "/v1/catalogue?kind=fabrics", source="127.0.2.2", timeout=10)[0] != 200
        except OSError:
            refused += 1
        times.append(time.time() - start)
        time.sleep(0.01)
    crowd.join()
    for s in kept:
        s.close()
    times.sort()
    check(f"{opened} connections of one address leave another unharmed: {len(times)} questions, 99th percentile {1e3 * times[int(0.99 * len(times))]:.0f} ms", opened > 9000 and refused == 0 and times[int(0.99 * len(times))] < 1, (opened, refused, times[-1]))
    print(f"ten_thousand_connections: {opened} opened, {len(times)} questions of another address, {refused} refused, p99 {1e3 * times[int(0.99 * len(times))]:.1f} ms")


def work_has_limits(server):
    done = ridge.run("cost", "risk", "--device", "h100-sxm", "--gpus", "8", "--draws", "1e8")
    check("10^8 draws are refused with the limit", done.returncode == 1 and "1" in done.stderr and done.seconds < 5, (done.seconds, done.stderr))
    done = ridge.run("simulate", "--model", "llama3.1-8b", "--device", "h100-sxm", "--workload", "chat", "--mtbf", "40ms", timeout=60)
    check(f"a simulation whose engines fail faster than they answer ends ({done.seconds:.1f} s)", done.returncode == 2 and "no request was finished" in done.stderr, done.stderr)
    heavy = ["--model", "llama3.1-8b", "--device", "h100-sxm", "--workload", "chat", "--request-rate", "20", "--requests", "1e8"]
    for line, code in [(["simulate", *heavy], 0), (["plan", "serve", "--model", "llama3.3-70b", "--request-rate", "5", "--osl", "1e6"], None),
                       (["goodput", "--gpus", "16384", "--model", "llama3.1-70b", "--device", "h100-sxm", "--duration", "90days", "--trials", "1e6"], 2),
                       (["cost", "risk", "--device", "h100-sxm", "--gpus", "8", "--draws", "1e7"], None),
                       (["plan", "serve", "--model", "largest", "--request-rate", "500", "--gpus", "64"], None), (["validate"], None)]:
        done = ridge.run(*line, "--time-limit", "1s", timeout=120)
        check(f"{' '.join(line[:2])} ends by its time limit ({done.seconds:.1f} s)", done.seconds < 6 and done.returncode in (0, 2) and (code is None or done.returncode == code), (done.seconds, done.returncode, done.stderr[-300:]))
    done = ridge.run("simulate", *heavy, "--memory-limit", "1MB", timeout=120)
    check("and by its memory limit", done.seconds < 6, done.seconds)
    for value in ("0s", "-1s", "1", "1e300s", "inf", "soon"):
        check(f"--time-limit {value} is refused", ridge.run("show", "fabrics", f"--time-limit={value}").returncode == 1)
    for what, path, value in [("plan", "/v1/plan", {"kind": "serve", "model": "llama3.3-70b", "request_rate": 5, "osl": 1000000, "time_limit": "2s"}),
                              ("reinforcement learning", "/v1/estimate", {"kind": "rl", "model": "qwen2.5-7b", "device": "h100-sxm", "gpus": 64, "prompts": 20000, "samples": 100, "answer_tokens": 20000, "answer_most": "4M", "time_limit": "1s"}),
                              ("simulate", "/v1/simulate", {**HEAVY, "time_limit": "1s"})]:
        start = time.time()
        status, _, body = server.post(path, value)
        check(f"{what} over HTTP keeps the time it is given ({time.time() - start:.1f} s)", time.time() - start < 8 and status in (200, 422), (status, str(body)[:200]))
    status, _, body = server.post("/v1/cost", {"kind": "risk", "device": "h100-sxm", "gpus": 8, "draws": 100000000})
    check("draws over HTTP have a limit that is said", status == 400 and "at most" in body["error"]["message"], body)


def short_questions_that_are_none(server):
    """A million trials of goodput count as short until they have run: four clients with four each keep nobody waiting."""
    million = {"gpus": 16384, "model": "llama3.1-70b", "device": "h100-sxm", "duration": "90days", "trials": 1000000}
    crowd = [threading.Thread(target=lambda i=i: server.post("/v1/goodput", {**million, "seed": i}, source=f"127.0.5.{i % 4 + 1}"), daemon=True) for i in range(16)]
    for thread in crowd:
        thread.start()
    time.sleep(1)
    start = time.time()
    status, _, body = server.post("/v1/cost", {"kind": "rent", "device": "h100-sxm", "gpus": 8}, source="127.0.5.9")
    check(f"a short question of another has its turn among them ({time.time() - start:.1f} s)", status == 200 and time.time() - start < 6, (status, str(body)[:200]))
    for thread in crowd:
        thread.join(60)


def jobs_have_owners(server):
    status, _, body = server.post("/v1/simulate", {**HEAVY, "async": True})
    job = body["job"]
    check("a job is known by 128 random bits", status == 202 and len(job) == 32, body)
    check("another client has no such job", server.ask("GET", f"/v1/jobs/{job}", source="127.0.0.9")[0] == 404)
    check("nor may it end it", server.ask("DELETE", f"/v1/jobs/{job}", source="127.0.0.9")[0] == 404)
    listed = json.loads(server.ask("GET", "/v1/jobs")[2])["jobs"]
    check("its owner sees it in the list, with its age", any(j["job"] == job and j["age_s"] >= 0 for j in listed), listed)
    check("its owner may end it", server.ask("DELETE", f"/v1/jobs/{job}")[0] == 200)
    ids = [server.post("/v1/simulate", {**HEAVY, "async": True})[0] for _ in range(20)]
    check("one client does not get all jobs", 503 in ids and 202 in ids, ids)
    status = server.post("/v1/simulate", {**SIMULATE, "requests": 100, "async": True}, source="127.0.0.9")[0]
    check("another still gets one", status == 202, status)
    for j in json.loads(server.ask("GET", "/v1/jobs")[2])["jobs"]:
        server.ask("DELETE", f"/v1/jobs/{j['job']}")


def hosts_and_paths(server):
    def status_of(data):
        answer = server.raw(data + b"Connection: close\r\n\r\n")
        return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else answer[:80]

    for host, expected in {"[::1]evil.com": 421, "localhost:@evil.com": 421, "localhost:80@evil.com": 421, "localhost:": 421, "LOCALHOST": 200, "LocalHost:8080": 200,
                           "localhost, evil.com": 421, "user@localhost": 421, "[::1]": 200, "127.0.0.1:99999": 421}.items():
        seen = status_of(f"GET / HTTP/1.1\r\nHost: {host}\r\n".encode())
        check(f"the host {host!r} is answered {expected}", seen == expected, seen)
    for pair in (("localhost", "evil.com"), ("evil.com", "localhost"), ("localhost", "localhost")):
        seen = status_of(f"GET / HTTP/1.1\r\nHost: {pair[0]}\r\nHost: {pair[1]}\r\n".encode())
        check(f"the hosts {pair} are refused", seen in (400, 421), seen)
    keys = "&".join(f"k{i}=1" for i in range(2000))
    start = time.time()
    seen = status_of(f"GET /v1/catalogue?{keys} HTTP/1.1\r\nHost: localhost\r\n".encode())
    check(f"2,000 keys are answered ({time.time() - start:.1f} s)", seen in (400, 413, 414, 431) and time.time() - start < 5, seen)
    for path in ("/%00", "/index.html%00", "/%00/v1/jobs", "/app%00.js"):
        seen = status_of(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n".encode())
        check(f"{path} is no page", seen in (400, 404), seen)


def garbage_in_flags():
    """The rows of the table; tests/cli/garbage_test.cpp asks every flag of every verb."""
    infer = ["estimate", "infer", "--model", "llama3.1-8b", "--device", "h100-sxm"]
    lines = {"cost": ["cost", "own", "--device", "h100-sxm", "--gpus", "8"], "estimate": infer, "simulate": ["simulate", *infer[2:]], "emit": ["emit", "--for", "vllm", *infer[2:], "--gpus", "1"],
             "goodput": ["goodput", "--gpus", "64", "--duration", "1day", "--trials", "5", "--device", "h100-sxm"], "facility": ["facility", "--system", "dgx-h100", "--gpus", "64"],
             "plan": ["plan", "serve", "--model", "llama3.1-8b", "--request-rate", "1", "--devices", "h100-sxm"], "bench": ["bench", "http://127.0.0.1:9", *infer[2:]],
             "emulate": ["emulate", "--port", "0", *infer[2:]], "mlperf": ["mlperf", "rules"], "show": ["show", "devices"], "validate": ["validate"], "doctor": ["doctor"],
             "measure": ["measure"], "catalogue": ["catalogue", "age"], "calibrate": ["calibrate"], "report": ["report", "mlperf"]}
    for verb, flag, value in [("cost", "--contract", "zzz"), ("cost", "--region", "Atlantis"), ("cost", "--offer", "zzz"), ("cost", "--provider", "zzz"), ("cost", "--against", "zzz"), ("cost", "--device", "-1"),
                              *[(verb, "--engine", "zzz") for verb in ("estimate", "simulate", "emit", "plan", "bench", "emulate", "goodput", "facility", "cost", "measure")],
                              *[(verb, "--engine-version", "banana") for verb in ("estimate", "simulate", "emit", "bench", "emulate", "goodput", "facility", "cost")],
                              ("simulate", "--prefill-device", "garbage"), ("bench", "--prefill-device", "garbage"), ("emulate", "--prefill-device", "garbage"), ("simulate", "--scale-idle", "zzz"),
                              ("simulate", "--kv-link", "zzz"), ("goodput", "--mfu", "zzz"), ("goodput", "--tier", "zzz"), ("goodput", "--rate", "gpu=zzz"), ("facility", "--kind", "zzz"), ("facility", "--rack", "zzz"),
                              ("facility", "--fabric", "zzz"), ("bench", "--watch", "zzz"), ("bench", "--warmup", "-1"), ("emulate", "--ports", "zzz"), ("emulate", "--host", "a b"), ("mlperf", "--per", "zzz"),
                              ("mlperf", "--benchmark", "zzz"), ("mlperf", "--division", "zzz"), ("show", "--vendor", "NVIDA"), ("show", "--provider", "zzz"), ("show", "--as-of", "zzz"), ("show", "--set", "zzz"),
                              ("validate", "--by", "zzz"), ("doctor", "--device", "zzz"), ("doctor", "--system", "zzz"), ("measure", "--only", "zzz"), ("measure", "--work", "zzz"), ("measure", "--phase", "zzz"),
                              ("catalogue", "--date", "zzz"), ("calibrate", "--group", "zzz"), ("report", "--lang", "zzz"), ("plan", "--shard", "zzz"), ("plan", "--threads", "zzz"), ("plan", "--explain", "zzz"),
                              ("plan", "--prices", "/no/such/list.csv"), ("emit", "--kind", "zzz"), ("emit", "--image", "a b;c"), ("emit", "--time", "$(id)")]:
        done = ridge.run(*lines[verb], f"{flag}={value}", timeout=30)
        check(f"{verb} {flag}={value} is refused by name", done.returncode == 1 and flag in done.stderr, (done.returncode, done.stdout[:100], done.stderr))


def the_bound_is_a_bound():
    """Eight cards over PCIe; tests/perf/bound_test.cpp asks thousands of others."""
    for device in ("l40s", "rtx4090"):
        for engine in ("vllm", "sglang", "trtllm"):
            rate = {}
            for asked in (engine, "ideal"):
                done = ridge.run("estimate", "infer", "--model", "llama3.1-8b", "--device", device, "--gpus", "8", "--tp", "8", "--isl", "4000", "--osl", "50", "--concurrency", "256", "--engine", asked, "--json")
                rate[asked] = json.loads(done.stdout)["output_tokens_per_s"]["mid"] if done.returncode == 0 else None
            check(f"{engine} on 8 x {device} is no faster than its datasheet", None not in rate.values() and rate[engine] <= rate["ideal"], rate)


def infinities():
    for line in (["facility", "--system", "dgx-h100", "--gpus", "64", "--spike", "1e308"], ["facility", "--system", "dgx-h100", "--gpus", "64", "--pue", "1e300"],
                 ["facility", "--system", "dgx-h100", "--gpus", "64", "--oversubscription", "1e300"], ["facility", "--system", "dgx-h100", "--gpus", "64", "--rack-power", "1e300W"],
                 ["cost", "own", "--device", "h100-sxm", "--gpus", "8", "--pue", "1e300"], ["estimate", "infer", "--model", "llama3.1-8b", "--device", "h100-sxm", "--isl", "1e300"],
                 ["plan", "serve", "--model", "llama3.1-8b", "--request-rate", "1e300"], ["cost", "rent", "--device", "h100-sxm", "--gpus", "8", "--price", "$1e300/hour"]):
        done = ridge.run(*line)
        check(f"{line} is refused", done.returncode == 1 and "inf" not in done.stdout, (done.returncode, done.stdout[:200], done.stderr))


def files_of_the_server(folder):
    (folder / "secret.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,374,44\n")
    server = Server(sys.argv[1], cwd=folder)
    try:
        status, _, body = server.post("/v1/simulate", {"model": "llama3.1-8b", "device": "h100-sxm", "workload": "secret.csv"})
        check("a file of the server's folder is not read", status == 400, (status, body))
        (folder / "config.json").write_text(json.dumps(CONFIG))
        (folder / "q.toml").write_text('[flags]\nmodel = "llama3.1-8b"\n')
        shutil.copy(pathlib.Path(__file__).resolve().parents[2] / "data/profiles/h200-sxm.toml", folder / "h200.toml")
        (folder / "llama3.1-8b-it").mkdir(exist_ok=True)  # a folder whose name means a model
        (folder / "llama3.1-8b-it" / "config.json").write_text(json.dumps({**CONFIG, "num_hidden_layers": 1}))
        infer = {"kind": "infer", "model": "llama3.1-8b", "device": "h100-sxm"}
        for verb, value in [("estimate", {**infer, "model": "config.json"}), ("estimate", {**infer, "model": "./config.json"}), ("estimate", {**infer, "device": "h200.toml"}),
                            ("estimate", {**infer, "model": str(folder)}), ("plan", {"kind": "q.toml"}), ("plan", {"kind": "merge", "id": "r.sqlite"}), ("simulate", {**SIMULATE, "workload": "./secret.csv"}),
                            ("estimate", {**infer, "html": "x.html"}), ("estimate", {**infer, "catalogue": "q.toml"}), ("estimate", {**infer, "plan": "q.toml"}), ("goodput", {"gpus": 8, "model": "config.json"}),
                            ("cost", {"kind": "own", "device": "h200.toml", "gpus": 8}), ("facility", {"system": "dgx-h100", "gpus": 64, "svg": "x.svg"})]:
            status, _, body = server.post(f"/v1/{verb}", value)
            check(f"{verb} {value} over HTTP reads and writes nothing", status in (400, 404), (status, body))
        status, _, body = server.post("/v1/check", {"text": "secret.csv"})
        check("a sentence is never a path", "374" not in json.dumps(body), body)
        for absurd in ("1e29", "9e14"):  # dollars a request: the solver asserted, and one request ended the server
            status, _, body = server.post("/v1/plan", {"kind": "fleet", "text": ESTATE + f'[[service]]\nid = "a"\nmodel = "llama3.1-8b"\nrate = 5\nvalue = "${absurd}"\n'})
            check(f"an estate with amounts of ${absurd} is answered", status in (200, 400), (status, str(body)[:200]))
        for model in ("config.json", str(folder), "secret.csv", "/etc/passwd"):
            for part in (f'[[service]]\nid = "a"\nmodel = "{model}"\nisl = 100\nosl = 10\nrate = 1\n', f'[[training]]\nid = "b"\nmodel = "{model}"\ntokens = "1B"\ndeadline = "2026-12"\n'):
                status, _, body = server.post("/v1/plan", {"kind": "fleet", "text": ESTATE + part})
                check(f"nor is the model of an estate: {part}", status == 400 and "there is no model" in body["error"]["message"], (status, str(body)[:200]))
        status, _, body = server.ask("GET", "/v1/catalogue?kind=models&id=config.json")
        check("nor is an id", status in (400, 404), (status, body[:200]))
        status, _, body = server.post("/v1/estimate", {**infer, "model": "llama3.1-8b-it"})
        same = server.post("/v1/estimate", infer)
        check("a name is looked up in the catalogue, not in the folder", status == 400 or body["output_tokens_per_s"] == same[2]["output_tokens_per_s"], (status, str(body)[:200]))
        check("nothing was written", not list(folder.glob("x.*")), list(folder.glob("x.*")))
    finally:
        server.stop()


def small_things(folder, server):
    done = ridge.run("plan", "serve", "--model", "llama3.1-8b", "--devices", "h100-sxm", "--workload", ROOT / "examples/trace.csv")
    check("a trace is no workload of a plan", done.returncode == 1 and "which `ridge simulate` plays" in done.stderr, done.stderr)
    done = ridge.run("report", "serve", "--model", "llama3.1-8b", "--device", "h100-sxm", "--requests", "20", "--pdf", folder / "x.pdf", env={"TMPDIR": "/nonexist"}, cwd=folder, timeout=120)
    check("a report is printed or refused where $TMPDIR is no folder, and its page does not stay behind", done.returncode in (0, 2) and not list(folder.glob("ridge-report-*")), (done.returncode, done.stderr, list(folder.glob("ridge-*"))))
    script = folder / "serve.sh"
    script.write_text(ridge.run("emit", "--for", "vllm", "--model", "llama3.1-8b", "--device", "h100-sxm", "--gpus", "2").stdout.replace("meta-llama/Llama-3.1-8B-Instruct", "99999999999999999999"))
    done = ridge.run("emit", "--check", script, "--json")
    check("a checkpoint that is called by a number is no number", done.returncode == 0 and json.loads(done.stdout)["plan"]["checkpoint"] == "99999999999999999999", (done.returncode, done.stderr[-200:], done.stdout[:300]))
    secret = folder / "token"
    secret.write_text("first\nsecond\n")
    for words, env in ((["--token-file", str(secret)], {}), ([], {"RIDGE_TOKEN": "first"})):
        locked = Server(sys.argv[1], *words, env=env)
        try:
            check("without its token nothing is answered", locked.ask("GET", "/v1/catalogue?kind=fabrics")[0] == 401)
            check("with it all is", locked.ask("GET", "/v1/catalogue?kind=fabrics", headers={"Authorization": "Bearer first"})[0] == 200)
            shown = pathlib.Path(f"/proc/{locked.process.pid}/cmdline").read_bytes()
            check("and ps does not show it", b"first" not in shown, shown)
        finally:
            locked.stop()
    for nothing in ("", "  ", "\n"):
        try:
            done = ridge.run("serve", "--port", "0", timeout=5, env={"RIDGE_TOKEN": nothing})
            check("a token that nobody filled in is no open door", done.returncode == 1 and "RIDGE_TOKEN" in done.stderr, done.stderr)
        except subprocess.TimeoutExpired:
            check("a token that nobody filled in is no open door", False, repr(nothing))
    done = ridge.run("serve", "--host", "0.0.0.0", "--port", "0", timeout=10)
    check("beyond this machine a token is needed", done.returncode == 1 and "RIDGE_TOKEN" in done.stderr, done.stderr)
    status, _, body = server.post("/v1/estimate", '{"kind": "infer",\n "model": "llama3.1-8b", "gpus": 1,\n "model": "llama3.3-70b"}')
    check("a key said twice is refused with both places", status == 400 and body["error"]["where"] == "body:3:2" and "body:2:2" in body["error"]["message"], body)
    for path in (folder / "no-such.json", folder / "no-such.toml"):
        for line in (["estimate", "infer", "--model", str(path), "--device", "h100-sxm"], ["plan", str(path)], ["show", "devices", "--catalogue", str(path)], ["show", "prices", "--prices", str(path)]):
            done = ridge.run(*line)
            check(f"{line[:2]} names the file that is not there", done.returncode == 1 and path.name in done.stderr, done.stderr)


def files_are_named(folder):
    """Whatever is wrong with a file, the message says which."""
    infer = ["estimate", "infer", "--model", "llama3.1-8b", "--device"]
    simulate = ["simulate", *infer[2:], "h100-sxm", "--workload"]
    lines = [(".json", ["estimate", "infer", "--device", "h100-sxm", "--model"]), (".toml", ["plan"]), (".toml", ["show", "fabrics", "--catalogue"]), (".csv", ["show", "prices", "--limit", "1", "--prices"]),
             (".toml", [*infer, "h100-sxm", "--calibration"]), (".toml", ["estimate", "infer", "--plan"]), (".toml", infer), (".toml", simulate), (".csv", simulate), (".jsonl", simulate),
             (".csv", ["validate", "--cases"]), (".csv", ["calibrate", "--overlay", folder / "o.toml", "--cases"]), (".toml", ["calibrate", "--profile"]), (".toml", ["check"]), (".csv", ["check"]),
             (".txt", ["doctor", "--facts"]), (".sh", ["emit", "--check"]), (".json", ["mlperf", "import", "--db", folder / "out.db"]), (".csv", ["mlperf", "import", "--db", folder / "out.db"]),
             (".db", ["mlperf", "table", "--db"]), (".db", ["report", "mlperf", "--db"]), (".json", ["measure", "import"]), (".txt", ["measure", "import"]), (".csv", ["measure", "model", "--compare"]),
             (".csv", ["catalogue", "import", "skypilot"]), (".csv", ["catalogue", "import", "gpuhunt"]), (".json", ["catalogue", "import", "litellm"]), (".json", ["catalogue", "import", "openrouter"]),
             (".sqlite", ["plan", "merge"]), (".sqlite", [*TRAIN, "--model", "llama3.1-8b", "--resume", "--results"]), ("", ["serve", "--port", "0", "--token-file"])]
    for ending, line in lines:
        for what, bytes_ in {"that is not there": None, "that is a folder": "folder", "of any bytes": bytes(range(256)) * 4, "of another kind": b'{"a": [1', "of zeros": b"\0" * 100}.items():
            victim = folder / f"victim{ending}"
            if victim.is_dir():
                victim.rmdir()
            victim.unlink(missing_ok=True)
            if bytes_ == "folder":
                victim.mkdir()
            elif bytes_ is not None:
                victim.write_bytes(bytes_)
            if line[0] == "serve" and bytes_ == b'{"a": [1':
                continue  # a token like any other
            done = ridge.run(*line, victim, timeout=60)
            check(f"{' '.join(map(str, line[:3]))}: the name of a file {what} is said", done.returncode not in (1, 2) or "victim" in done.stderr, (done.returncode, done.stderr[:200]))
            check("and the program ends as it should", done.returncode in (0, 1, 2, 3), done.returncode)
    for line in ([*infer, "h100-sxm", "--html"], ["facility", "--system", "dgx-h100", "--gpus", "64", "--svg"], [*TRAIN, "--model", "llama3.1-8b", "--html"]):
        if line[1] == "infer":
            line = ["estimate", "compare", *line[2:]]
        for path in (folder / "no-such-folder" / "out.html", folder):
            done = ridge.run(*line, path)
            check(f"{line[:2]}: where nothing can be written is said", done.returncode == 1 and str(path) in done.stderr, done.stderr)
    (folder / "escapes.json").write_text(json.dumps({"architectures": ["\x1b]0;gone\x07\x1b[2J"], "model_type": "\x1b[2J", "hidden_size": 2048}))
    done = ridge.run("estimate", "infer", "--device", "h100-sxm", "--model", folder / "escapes.json")
    check("what a file says moves no cursor", done.returncode == 1 and "\x1b" not in done.stderr and "\x07" not in done.stderr, done.stderr)
    (folder / "twice.json").write_text('{"architectures": ["LlamaForCausalLM"],\n "hidden_size": 2048,\n "hidden_size": 4096}')
    done = ridge.run("estimate", "infer", "--device", "h100-sxm", "--model", folder / "twice.json")
    check("a key said twice in a file is refused with both places", done.returncode == 1 and "twice.json:3" in done.stderr and "twice.json:2" in done.stderr, done.stderr)


def values_of_plans_are_placed(folder):
    """A value that is none is refused where the plan's file has it, and an empty one never leaves a restriction out."""
    plan = folder / "victim.toml"
    for key, value, message in [("gpus", '"zzz"', "does not start with a number"), ("device", '"h900"', "no device"), ("engine", '""', "empty"), ("kv_precision", '"1e300 kW"', "no number format"),
                                ("concurrency", "-1", "negative")]:
        lines = {"model": '"llama3.1-8b"', "device": '"h100-sxm"', "gpus": "1", key: value}
        plan.write_text('kind = "serve"\n[flags]\n' + "".join(f"{k} = {v}\n" for k, v in lines.items()))
        line = 3 + list(lines).index(key)
        for asked in (["estimate", "infer", "--plan"], ["simulate", "--requests", "20", "--plan"], ["emit", "--for", "vllm", "--plan"]):
            done = ridge.run(*asked, plan)
            check(f"{asked[0]} says where {key} = {value} is", done.returncode == 1 and f"victim.toml:{line}:" in done.stderr and message in done.stderr, (done.returncode, done.stderr))
    for key in ("destination", "avoid_vendors", "region"):
        for value in ('""', "[]", '[""]'):
            plan.write_text(f'kind = "serve"\n[flags]\nmodel = "llama3.1-8b"\nrequest_rate = 1\n{key} = {value}\n')
            done = ridge.run("plan", plan)
            check(f"a goal with {key} = {value} is refused", done.returncode == 1 and "victim.toml:5:" in done.stderr and "empty" in done.stderr, (done.returncode, done.stdout[:100], done.stderr))


def estimates_end(server):
    """What an estimate plays request by request has an end: minutes before, for a million devices, and it looked at no clock."""
    for asked in ({"gpus": 1000000, "concurrency": 1000}, {"gpus": 1024, "concurrency": 8192, "isl": 1000000, "osl": 1000000}, {"gpus": 8192, "concurrency": 8192, "isl": 10, "osl": 10000000}):
        start = cpu_seconds(server)
        status, _, body = server.post("/v1/estimate", {"kind": "infer", "model": "llama3.1-8b", "device": "h100-sxm", **asked})
        used = cpu_seconds(server) - start
        check(f"an estimate of {asked} is answered ({used:.1f} s of a processor)", status == 200 and used < 6, (status, used, str(body)[:200]))


    for asked, expected in (({"gpus": 1000000, "tp": 1000000}, "does not divide"), ({"gpus": 1000000, "dp": 1000000}, "output_tokens_per_s")):
        start, before = cpu_seconds(server), server.memory()
        status, _, body = server.post("/v1/estimate", {"kind": "infer", "model": "llama3.1-8b", "device": "h100-sxm", **asked})
        used = cpu_seconds(server) - start
        check(f"an estimate of {asked} is answered ({used:.1f} s of a processor)", status == 200 and expected in str(body) and used < 2 and server.memory() - before < 1e9, (status, used, server.memory(), str(body)[:200]))


def batches_have_so_many_sequences(server):
    """Devices times micro-batch was counted in an int: 65,536 of each are 0, by which was divided, and the server was gone."""
    for asked in ({"gpus": 65536, "tp": 1, "pp": 1, "dp": 65536, "micro_batch": 65536, "global_batch": 65536}, {"gpus": 131073, "tp": 2, "pp": 1, "micro_batch": 65536, "global_batch": 65536},
                  {"gpus": 65536, "tp": 1, "pp": 1, "micro_batch": 65536}):
        status, _, body = server.post("/v1/estimate", {"kind": "train", "model": "llama3.1-8b", "device": "h100-sxm", **asked})
        check(f"training with {asked} is refused", status == 200 and body["reason"] is not None, (status, str(body)[:300]))
    check("the server is still there", server.alive())


def simulations_have_so_many_engines(server):
    """Their number was counted beyond what an int holds: one request ended the server, a smaller one took 3.7 GB."""
    few = {"model": "llama3.1-8b", "device": "h100-sxm", "workload": "chat", "request_rate": 1, "requests": 10}
    for many in ({"gpus": 65536, "dp": 65536, "replicas": 65536}, {"gpus": 1000000, "dp": 1000000}):
        before = server.memory()
        status, _, body = server.post("/v1/simulate", {**few, **many})
        check(f"a simulation of {many} is refused with the limit", status == 400 and "at most 100,000 engines" in body["error"]["message"], (status, str(body)[:200]))
        check("and takes no memory", server.memory() - before < 1e8, server.memory())
    check("the server is still there", server.alive())


def closed_streams(program):
    """Whoever starts a server with its streams closed gets no socket in their place, which would be sent what is meant for people."""
    import re
    process = subprocess.Popen(["sh", "-c", 'exec "$0" serve --port 0 <&- 2>&-', program], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
        check("it serves", port > 0)
        for stream in (0, 2):
            place = os.readlink(f"/proc/{process.pid}/fd/{stream}")
            check(f"its closed stream {stream} is no socket", place == "/dev/null", place)
    finally:
        process.terminate()
        process.wait(10)
    done = subprocess.run(["sh", "-c", 'exec "$0" show fabrics >&-', program], capture_output=True, text=True, timeout=20)
    check("output that nobody can read is no success", done.returncode == 1 and "could not be written" in done.stderr, done)


def memory_that_is_not_there(program):
    done = subprocess.run(["sh", "-c", 'ulimit -v 300000; exec "$0" simulate --model llama3.1-8b --device h100-sxm --gpus 100000 --dp 100000 --requests 10 --request-rate 1', program],
                          capture_output=True, text=True, timeout=60)
    check("where the system gives no memory the program says so", done.returncode == 2 and "no more memory" in done.stderr, done)


def commands_to_copy(folder):
    """A path is one word of the command that is proposed, whatever stands in it."""
    evil = folder / "my model's $(touch gone)`touch gone`;touch gone"
    evil.mkdir()
    config = evil / "config.json"
    config.write_text(json.dumps(CONFIG))
    done = ridge.run("estimate", "infer", "--model", config, "--device", "h100-sxm", "--gpus", "2")
    lines = [line for line in done.stdout.splitlines() if "ridge estimate infer" in line]
    try:
        words = shlex.split(lines[-1]) if lines else []
    except ValueError as error:
        words = [error]
    check("the command that is proposed has the path as one word", str(config) in words, lines)


def full_disk(folder):
    """A disk of 100 kB; skipped where one cannot be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", disk], capture_output=True).returncode != 0:
        print("full_disk: no disk can be mounted here; skipped")
        return
    try:
        fill = os.open(disk / "fill", os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(fill, b"x" * 4096) > 0:
                pass
        except OSError:
            pass  # full
        os.close(fill)
        for line in ([*TRAIN, "--model", "llama3.1-8b", "--results", disk / "r.sqlite"], [*TRAIN, "--model", "llama3.1-8b", "--results", disk / "r.csv"],
                     ["facility", "--system", "dgx-h100", "--gpus", "64", "--svg", disk / "x.svg"]):
            done = ridge.run(*line)
            check(f"{line[-1]}: a full disk is said to be full", done.returncode == 1 and "full" in done.stderr and str(disk) in done.stderr, (done.returncode, done.stderr))
    finally:
        subprocess.run(["umount", disk], capture_output=True)


def calls_return(program):
    library = pathlib.Path(program).parent / "python"
    if not library.is_dir():
        return
    code = "import ridgeline\ntry:\n    ridgeline.call('serve')\nexcept Exception as e:\n    print(type(e).__name__, e)\n"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, env={**os.environ, "PYTHONPATH": str(library)})
        check("calling serve is refused", "never" in done.stdout or done.returncode != 0, (done.stdout, done.stderr))
    except subprocess.TimeoutExpired:
        check("calling serve returns", False)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(sys.argv[1])
        parts = [(threads_and_cross_site, server), (results_know_what_they_were_made_with, folder), (results_are_not_believed_blindly, folder), (other_peoples_databases_stay, folder),
                 (policy_words,), (garbage_in_flags,), (hosts_and_paths, server), (infinities,), (the_bound_is_a_bound,), (files_of_the_server, folder), (small_things, folder, server), (files_are_named, folder), (values_of_plans_are_placed, folder), (commands_to_copy, folder), (full_disk, folder), (calls_return, sys.argv[1]), (closed_streams, sys.argv[1]), (memory_that_is_not_there, sys.argv[1]), (simulations_have_so_many_engines, server), (batches_have_so_many_sequences, server),
                 (jobs_have_owners, server), (work_has_limits, server), (estimates_end, server), (short_questions_that_are_none, server), (idle_connections_lock_nobody_out, server), (long_answers_block_nobody, server), (ten_thousand_connections, server), (one_client_does_not_shut_out_others, server)]
        wanted = sys.argv[2:]
        try:
            for part, *arguments in parts:
                if wanted and part.__name__ not in wanted:
                    continue
                start = time.time()
                part(*arguments)
                print(f"{part.__name__}: {time.time() - start:.1f} s", flush=True)
            check("the server is still there", server.alive())
        finally:
            code = server.stop()
        check("and ends as it should", code == 0, code)
    print(f"{found.checks} checks, {len(found.failures)} failed")
    sys.exit(1 if found.failures else 0)


main()
