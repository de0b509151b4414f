#!/usr/bin/env python3
"""What each scoped parameter of data/calibration earns: it is taken out, physics and effects are fitted again with publishers
left out together with their devices or engine, and the errors are compared with those of the whole set.

  tools/ablate.py build/release/ridge                          every parameter with a scope (about 70 s of one core each)
  tools/ablate.py build/release/ridge --only host.step@vllm-0.7 --jobs 4

A row says by how much the errors grow without the parameter, in per cent: the mean over the three kinds of folds of the
growth of the median plus half of that of the 90th percentile, summed over the metrics. Around zero: it earns nothing.
"""
import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

FILES = ("inference", "training", "kernels", "diffusion", "power")
METRICS = ("step_time_s", "output_tok_s fixed-batch", "output_tok_s offline", "output_tok_s closed-loop",
           "tpot_ms closed-loop", "ttft_ms closed-loop", "ttft_ms prefill")
LINE = re.compile(r" (\w+(?: [\w-]+)?)\s+[\d,]+\s+\d+ %\s+([\d.]+) %\s+([\d.]+) %")


def scoped(data):
    for file in FILES:
        for parameter in tomllib.loads((data / "calibration" / f"{file}.toml").read_text())["parameter"]:
            if "@" in parameter["name"]:
                yield file, parameter["name"]


def without(text, name):
    parts = re.split(r"(?m)^(?=\[\[parameter\]\])", text)
    kept = [p for p in parts if f'name = "{name}"' not in p]
    if len(kept) != len(parts) - 1:
        raise SystemExit(f"ablate: {name} is not there once")
    return "".join(kept)


def errors(ridge, data, file, name):
    """(fold, metric) -> (median, p90), or the refusal."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for entry in data.iterdir():
            if entry.name == "calibration":
                shutil.copytree(entry, copy / entry.name)
            else:
                os.symlink(entry, copy / entry.name)
        if name:
            at = copy / "calibration" / f"{file}.toml"
            at.write_text(without(at.read_text(), name))
        run = subprocess.run([ridge, "validate", "--cv", "joint", "--threads", "1", "--data", str(copy)],
                             capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip()
    found, fold = {}, ""
    for line in run.stdout.splitlines():
        if line.startswith("Left out together: "):
            fold = line
        match = LINE.match(line)
        if match and match[1] in METRICS:
            found[fold, match[1]] = float(match[2]), float(match[3])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ridge")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent / "data")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    a = parser.parse_args()
    known = list(scoped(a.data))
    for name in a.only:
        if name not in (n for _, n in known):
            parser.error(f"{name} is no parameter with a scope")
    wanted = [(f, n) for f, n in known if not a.only or n in a.only]
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        jobs = {n: pool.submit(errors, a.ridge, a.data, f, n) for f, n in [("", "")] + wanted}
        whole = jobs.pop("").result()
        if isinstance(whole, str):
            raise SystemExit(whole)
        print(f"{'earns':>7}  parameter", flush=True)
        rows = []
        for done, (name, job) in enumerate(jobs.items(), 1):
            result = job.result()
            print(f"\r{done} of {len(jobs)}", end="", file=sys.stderr)
            if isinstance(result, str):
                rows.append((math.inf, name, "needed by name"))
                continue
            parts = {}
            for (fold, metric), (median, p90) in whole.items():
                grown = math.log(result[fold, metric][0] / median) + 0.5 * math.log(result[fold, metric][1] / p90)
                parts[metric] = parts.get(metric, 0) + 100 * grown / 3
            rows.append((sum(parts.values()), name, ", ".join(f"{m} {v:+.1f}" for m, v in parts.items() if abs(v) >= 1)))
    print(file=sys.stderr)
    for earns, name, parts in sorted(rows):
        print(f"{earns:7.1f}  {name}  {parts}")


if __name__ == "__main__":
    main()
