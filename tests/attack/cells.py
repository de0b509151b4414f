"""Every value of every kind of file, replaced by every value that means nothing: cells.py RIDGE [--seconds 60] [--seed 1] [--only estate,plan].

Where tests/attack/run.py changes bytes, this changes what is written: a TOML value, a JSON value, a cell of a CSV, a word of a launch file, a cell of a
file of results. Each is answered or refused by a code of ours, in time, without an infinity, a number that is none or a negative amount of money, and
a refusal names the file."""
import argparse
import csv
import io
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

from common import EXIT_CODES, ROOT, Findings, Ridge

TOML = ['""', '" "', "0", "-1", "-0.0", "1e308", "-1e308", "1e-308", "nan", "inf", "-inf", "9223372036854775807", "-9223372036854775808", "1.5", "true", "[]", "{}", '["a", 1]', "2026-13-45",
        "2026-11-16", '"1e400"', '"-5"', '"0"', '"∞"', '"１２"', '"zzz"', '"../../etc/passwd"', '"a\\u0000b"', '"\\u001b[2J"', '"' + "9" * 400 + '"', '"' + "x" * 20000 + '"', '"100%"', '"-3%"', '"1e30%"',
        '"2026-00"', '"9999-12"', '"0001-01"', '"$-5M"', '"$1e300"', '"1e300 kW"', '"-1 s"', '"1e-300 s"', "[[], []]", '["", ""]', "1000000", "1e12", "[" + "1," * 5000 + "1]"]
JSON = ["", " ", 0, -1, 1e308, -1e308, 1e-308, float("nan"), float("inf"), 2**63, -(2**63), 1.5, True, None, [], {}, ["a", 1], "zzz", "x" * 20000, "\u0000", "\x1b[2J", "１２", "1e400", "-5", [[]], [None], 10**12, "../../etc/passwd"]
CELLS = ["", " ", "0", "-1", "-0", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "1e400", "zzz", "１２", "x" * 20000, "\x1b[2J", '"', "9" * 300, "1,5", "9223372036854775808", "0x10", "1_000", "--help", "$(id)", "2026-13-40", "∞"]
WORDS = ["", "0", "-1", "1e308", "nan", "inf", "zzz", "9" * 300, "x" * 20000, "１２", "--", "=", "'", '"', "$(id)", "\\", "\x1b[2J", "{", "[1", "-5%"]
LISTS = {"gpuhunt": "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,gpu_vendor,spot,disk_size\na,eu,3.29,16,200,1,H100,80,nvidia,False,100\n",
         "litellm": json.dumps({"llama-3.1-8b": {"litellm_provider": "groq", "mode": "chat", "input_cost_per_token": 5e-8, "output_cost_per_token": 8e-8}}),
         "openrouter": json.dumps({"data": [{"id": "meta-llama/llama-3.3-70b-instruct", "name": "Llama 3.3 70B", "pricing": {"prompt": "0.0000001", "completion": "0.00000032"}}]})}
# What `ridge measure import` reads: the ratio of nccl-tests' two bandwidths is 2 (n - 1)/n = 1.5 of four.
NCCL = ("# nThread 1 nGpus 4 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5 iters: 20\n" +
        "".join(f"#  Rank  {i} Group  0 Pid  101 on  alpha device  {i} [0000:19:00] NVIDIA H100 80GB HBM3\n" for i in range(4)) +
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
        "     1048576        262144     float     sum      -1    31.20   33.61   50.41      0    30.90   33.93   50.90      0\n# Avg bus bandwidth    : 62.8\n")
VLLM = json.dumps({"date": "20251107-093012", "backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct", "num_prompts": 100, "request_rate": "inf", "max_concurrency": 16, "duration": 50.0,
                   "completed": 100, "total_input_tokens": 102400, "total_output_tokens": 12800, "output_throughput": 256.0, "total_token_throughput": 2304.0, "median_ttft_ms": 55.5, "median_tpot_ms": 7.5})
INFERENCEX = json.dumps([{"hw": "h200", "tp": 8, "ep": 1, "dp_attention": "false", "conc": 64, "model": "deepseek-ai/DeepSeek-R1-0528", "framework": "sglang", "precision": "fp8", "tput_per_gpu": 900.0,
                          "output_tput_per_gpu": 100.0, "median_ttft": 0.5, "median_tpot": 0.025, "isl": 8192, "osl": 1024}])
POWER = ("timestamp, name, power.draw [W], clocks.current.sm [MHz], utilization.gpu [%]\n2026/11/15 07:00:00.000, NVIDIA H200, 120.00 W, 1980 MHz, 0 %\n"
         "2026/11/15 07:00:01.000, NVIDIA H200, 690.00 W, 1500 MHz, 100 %\n")
TURN = {"timestamp": 0, "input_length": 700, "output_length": 20, "hash_ids": [1, 2], "session": "a", "priority": 1}
WORTHLESS = re.compile(r"(?<![\w-])[-+]?(?:inf|nan)(?![\w-])|(?<![\w.])-\$|\$-\d|\$inf", re.IGNORECASE)


def scaled(value):
    """The value with its first number a thousand or a million times as large or small: such a file is mostly understood."""
    number = re.search(r"\d+(?:\.\d+)?", value)
    return [value[:number.start()] + format(float(number[0]) * by, ".15g") + value[number.end():] for by in (0, 1e-6, 1e-3, 0.5, 3, 1e3, 1e6)] if number else []


def toml_changes(text):
    """Every (line, value) of a TOML text: texts with one of them changed, gone or doubled."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        found = re.match(r"(\s*[\w.\"-]+\s*=\s*)(.+?)(\s+#.*)?$", line)
        if not found:
            if line.startswith("["):
                yield lambda at=at: ("doubled table", "\n".join([*lines[:at + 1], line, *lines[at + 1:]]))
                yield lambda at=at: ("no table", "\n".join([*lines[:at], *lines[at + 1:]]))
            continue
        yield lambda at=at: ("gone", "\n".join([*lines[:at], *lines[at + 1:]]))
        yield lambda at=at, line=line: ("doubled", "\n".join([*lines[:at], line, line, *lines[at + 1:]]))
        for value in TOML + scaled(found[2]):
            yield lambda at=at, head=found[1], value=value: (head.strip() + value[:40], "\n".join([*lines[:at], head + value, *lines[at + 1:]]))


def json_changes(text):
    document = json.loads(text)

    def places(value, path=()):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield (*path, key)
                yield from places(inner, (*path, key))
        elif isinstance(value, list):
            for i, inner in enumerate(value[:4]):
                yield (*path, i)
                yield from places(inner, (*path, i))

    def changed(path, value):
        copy = json.loads(text)
        inner = copy
        for key in path[:-1]:
            inner = inner[key]
        if value is Ellipsis:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        return (f"{path} = {str(value)[:40]!r}", json.dumps(copy))
    for path in places(document):
        for value in [..., *JSON]:
            yield lambda path=path, value=value: changed(path, value)


def csv_changes(text, delimiter=","):
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))

    def changed(row, column, value):
        copy = [list(r) for r in rows]
        if value is Ellipsis:
            del copy[row][column]
        else:
            copy[row][column] = value
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(copy)
        return (f"cell {row},{column} = {str(value)[:40]!r}", out.getvalue())
    for row in range(min(len(rows), 4)):
        for column in range(len(rows[row])):
            for value in [..., *CELLS, *scaled(rows[row][column])]:
                yield lambda row=row, column=column, value=value: changed(row, column, value)


def word_changes(text):
    """Words of a launch file: what stands between spaces, quotes and equal signs."""
    for found in re.finditer(r"[^\s='\"]+", text):
        for value in WORDS:
            yield lambda found=found, value=value: (f"{found[0][:30]} -> {value[:30]!r}", text[:found.start()] + value + text[found.end():])


def sqlite_changes(data, folder):
    victim = folder / "whole.sqlite"
    victim.write_bytes(data)
    with sqlite3.connect(victim) as db:
        tables = {name: [c[1] for c in db.execute(f"PRAGMA table_info({name})")] for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        rows = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
    db.close()

    def changed(table, column, row, value):
        victim.write_bytes(data)
        with sqlite3.connect(victim) as db:
            try:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {row})", (value,))
            except sqlite3.Error:
                pass  # a cell that may not be this
        db.close()
        return (f"{table}.{column} of row {row} = {str(value)[:40]!r}", victim.read_bytes())
    for table, columns in tables.items():
        for column in columns:
            for row in range(min(rows[table], 6)):
                for value in [None, "", "zzz", 0, -1, 2**63 - 1, -2**63, 1.5, 1e308, float("inf"), b"\0\1", "x" * 20000]:
                    yield lambda table=table, column=column, row=row, value=value: changed(table, column, row, value)


def kinds(ridge, folder):
    """(name, ending, changes of the file, the line that reads it), one for each kind of file."""
    def read(path):
        return (ROOT / path).read_text()

    plans = folder / "plans"
    ridge.run("plan", "serve", "--model", "llama3.1-8b", "--request-rate", "5", "--devices", "h100-sxm,l40s", "--save", plans, timeout=120)
    pools = folder / "pools"
    ridge.run("plan", "serve", "--model", "llama3.3-70b", "--request-rate", "20", "--devices", "h100-sxm", "--disaggregate", "--save", pools, timeout=300)
    results = folder / "seed.sqlite"
    train = ["plan", "train", "--model", "llama3.1-8b", "--gpus", "8", "--devices", "h100-sxm", "--global-batch", "64"]
    ridge.run(*train, "--results", results, timeout=120)
    script = ridge.run("emit", "--for", "vllm", "--model", "llama3.1-8b", "--device", "h100-sxm", "--gpus", "2").stdout
    manifest = ridge.run("emit", "--for", "k8s", "--model", "llama3.1-8b", "--device", "h100-sxm", "--gpus", "2").stdout
    infer = ["estimate", "infer", "--model", "llama3.1-8b", "--device", "h100-sxm"]
    short = ["--time-limit", "5s"]
    out = []

    def add(name, ending, changes, *lines):
        for line in lines:
            out.append((name, ending, changes, line))
    for path in ("examples/fleet/mixed.toml", "examples/fleet/a100-extended.toml"):
        add("estate", ".toml", list(toml_changes(read(path))), lambda f: ["plan", "fleet", f, *short])
    for path in sorted(plans.glob("*.toml"))[:1]:
        add("plan", ".toml", list(toml_changes(path.read_text())), *[lambda f, v=v: [*v, "--plan", f, *short] for v in (["estimate", "infer"], ["simulate", "--requests", "50"], ["cost", "rent"], ["emit", "--for", "vllm"])])
    for path in sorted(pools.glob("pools-*.toml"))[:1]:
        add("pools", ".toml", list(toml_changes(path.read_text())), *[lambda f, v=v: [*v, "--plan", f, *short] for v in (["estimate", "infer"], ["simulate", "--requests", "50"], ["cost", "rent"], ["emit", "--for", "vllm"])])
    add("goal", ".toml", list(toml_changes(read("examples/rag-8b.toml"))), lambda f: ["plan", f, "--devices", "h100-sxm", *short])
    add("goal", ".toml", list(toml_changes(read("examples/train-70b.toml"))), lambda f: ["plan", f, "--devices", "h100-sxm", *short])
    for workload in ("agent", "conversation", "mixed", "mlperf-llama2-70b"):
        add("workload", ".toml", list(toml_changes(read(f"data/workloads/{workload}.toml"))), lambda f: ["simulate", "--model", "llama3.1-8b", "--device", "h100-sxm", "--requests", "40", "--workload", f, *short])
    add("sessions", ".toml", list(toml_changes(read("data/workloads/agent.toml"))), lambda f: ["plan", "serve", "--model", "llama3.1-8b", "--request-rate", "1", "--devices", "h100-sxm", "--workload", f, *short])
    add("overlay", ".toml", list(toml_changes(read("examples/my-board.toml"))), lambda f: ["estimate", "infer", "--model", "llama3.1-8b", "--device", "rtx4090-48", "--catalogue", f])
    add("device", ".toml", list(toml_changes(read("data/devices/h100-sxm.toml").replace('id = "h100-sxm"', 'id = "mine"'))), lambda f: ["estimate", "infer", "--model", "llama3.1-8b", "--device", "mine", "--catalogue", f])
    add("model", ".toml", list(toml_changes(read("data/models/gpt-oss-20b.toml").replace('id = "gpt-oss-20b"', 'id = "mine"'))), lambda f: ["estimate", "infer", "--model", "mine", "--device", "h100-sxm", "--catalogue", f])
    add("profile", ".toml", list(toml_changes(read("data/profiles/h200-sxm.toml"))), lambda f: ["estimate", "infer", "--model", "llama3.1-8b", "--device", f], lambda f: ["calibrate", "--profile", f, "--overlay", str(folder / "o.toml")])
    add("config", ".json", list(json_changes(read("examples/my-model/config.json"))), lambda f: ["estimate", "infer", "--model", f, "--device", "h100-sxm"], lambda f: ["estimate", "train", "--model", f, "--device", "h100-sxm", "--gpus", "8"])
    add("prices", ".csv", list(csv_changes(read("examples/my-prices.csv"))), lambda f: ["cost", "rent", "--device", "h100-sxm", "--gpus", "8", "--prices", f], lambda f: ["plan", "serve", "--model", "llama3.1-8b", "--request-rate", "5", "--devices", "h100-sxm,h200-sxm,b200-sxm-180", "--prices", f, *short])
    add("cases", ".csv", list(csv_changes(read("examples/measurements.csv"))), lambda f: ["validate", "--cases", f])
    add("overlays", ".csv", list(csv_changes(read("examples/measurements.csv"))), lambda f: ["calibrate", "--cases", f, "--overlay", str(folder / "o.toml")])
    add("list", ".csv", list(csv_changes(read("examples/nebius.csv"))), lambda f: ["catalogue", "import", "skypilot", f])
    for trace in ("trace", "agents-trace"):
        add("trace", ".csv", list(csv_changes(read(f"examples/{trace}.csv"))), lambda f: ["simulate", "--model", "llama3.1-8b", "--device", "h100-sxm", "--workload", f, *short])
    add("trace", ".jsonl", [lambda line=line, change=change: (change()[0], line + "\n" + change()[1]) for line in [json.dumps(TURN)] for change in json_changes(json.dumps({**TURN, "timestamp": 30}))],
        lambda f: ["simulate", "--model", "llama3.1-8b", "--device", "h100-sxm", "--workload", f, *short])
    add("claims", ".csv", list(csv_changes(read("examples/as-written.csv"))), lambda f: ["check", f])
    for form, text in LISTS.items():
        changes = csv_changes(text) if form == "gpuhunt" else json_changes(text)
        add("list", ".csv" if form == "gpuhunt" else ".json", list(changes), lambda f, form=form: ["catalogue", "import", form, f, "--date", "2026-10", "--take", str(folder / "taken.toml")])
    add("bench", ".json", list(json_changes(VLLM)), lambda f: ["measure", "import", f, "--device", "h200-sxm"])
    add("bench", ".json", list(json_changes(INFERENCEX)), lambda f: ["measure", "import", f])
    add("nccl", ".txt", list(word_changes(NCCL)), lambda f: ["measure", "import", f])
    add("power", ".csv", list(csv_changes(POWER)), lambda f: ["measure", "import", f, "--device", "h200-sxm"])
    add("facts", ".toml", list(toml_changes(read("tests/fuzz/corpus/facts/vm-h200.facts.toml"))), lambda f: ["doctor", "--facts", f])
    add("mlperf", ".json", list(json_changes(read("tests/fuzz/corpus/mlperf/summary.json"))), lambda f: ["mlperf", "import", f, "--db", str(folder / "out.db"), "--round", "v5.1"])
    add("memo", ".md", list(word_changes(read("examples/memo.md"))), lambda f: ["check", f])
    add("script", ".sh", list(word_changes(script)), lambda f: ["emit", "--check", f])
    add("manifest", ".yaml", list(word_changes(manifest)), lambda f: ["emit", "--check", f])
    add("results", ".sqlite", list(sqlite_changes(results.read_bytes(), folder)), lambda f: [*train, "--results", f, "--resume"], lambda f: ["plan", "merge", f])
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ridge")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", help="a folder for files that made a finding")
    arguments = parser.parse_args()
    ridge = Ridge(str(pathlib.Path(arguments.ridge).resolve()))
    rng = random.Random(arguments.seed)
    found = Findings()
    codes = {}
    slowest = (0, "")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        all_kinds = [k for k in kinds(ridge, folder) if not arguments.only or k[0] in arguments.only.split(",")]
        until = time.time() + arguments.seconds
        tried = 0
        while time.time() < until:
            kind, ending, changes, line = rng.choice(all_kinds)
            if not changes:
                found.check(f"there is a {kind} to change", False)
                break
            what, text = rng.choice(changes)()
            victim = folder / f"victim{ending}"
            victim.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
            before = victim.read_bytes()
            words = line(str(victim))
            try:
                done = ridge.run(*words, timeout=60, cwd=folder)
            except subprocess.TimeoutExpired:
                found.check(f"{kind}, {what}: {' '.join(words[:3])} ends", False)
                continue
            tried += 1
            key = (kind, done.returncode)
            codes[key] = codes.get(key, 0) + 1
            slowest = max(slowest, (done.seconds, f"{kind}, {what}"))
            held = found.check(f"{kind}, {what}: {' '.join(words[:3])} ends with a code of ours", done.returncode in EXIT_CODES, (done.returncode, done.stderr[-300:]))
            if done.returncode == 1:
                other = (what == "gone" or what.startswith("id ")) and done.stderr.startswith("ridge: --")  # what the question lacks then is in no file
                held &= found.check(f"{kind}, {what}: {' '.join(words[:3])} names the file", "victim" in done.stderr or other, done.stderr)
            shown = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "", done.stdout)  # what a file is quoted with may say inf
            wrong = WORTHLESS.search(shown) if kind != "list" else None  # which shows the names of others: a provider called NaN
            held &= found.check(f"{kind}, {what}: {' '.join(words[:3])} prints amounts", not wrong, wrong and shown[max(0, wrong.start() - 150):wrong.end() + 50])
            held &= found.check(f"{kind}, {what}: moves no cursor", "\x1b" not in done.stdout + done.stderr, done.stderr[:200])
            if not held and arguments.keep:
                pathlib.Path(arguments.keep).mkdir(parents=True, exist_ok=True)
                (pathlib.Path(arguments.keep) / f"{tried}-{kind}{ending}").write_bytes(before)
    totals = {}
    for (kind, code), count in sorted(codes.items()):
        totals.setdefault(kind, []).append(f"{count} × {code}")
    print("; ".join(f"{kind}: {', '.join(counts)}" for kind, counts in totals.items()))
    print(f"{tried} files with one value changed, slowest {slowest[0]:.1f} s ({slowest[1]}); {found.checks} checks, {len(found.failures)} failed")
    sys.exit(1 if found.failures else 0)


main()
