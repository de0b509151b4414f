#!/usr/bin/env python3
"""How fast NumPy arrays are evaluated from Python, beside the same points in C++.

Usage: PYTHONPATH=build/release/python /usr/bin/python3 bench/python_batch.py [RIDGE_BENCH] [--least SHARE]

Each round runs `inference_dense_70b_tp8` of ridge_bench and a million points of the same kind in one call of
evaluate_batch, one after the other; the rates are of CPU time, the medians of five rounds. Exits with 3 if Python reaches
less than SHARE of the C++ rate.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

import numpy
import ridgeline

POINTS = 1_000_000
NAME = "inference_dense_70b_tp8"


def compiled(program):
    out = subprocess.run([program, f"--benchmark_filter=^{NAME}$", "--benchmark_format=json", "--benchmark_min_time=0.5"],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)["benchmarks"][0]["items_per_second"]


def scrambled():
    """The lengths and batches that bench/inference.cpp visits."""
    state, at = numpy.empty(POINTS, numpy.uint32), 1
    for i in range(POINTS):
        at = (at * 2654435761 + 12345) & 0xFFFFFFFF
        state[i] = at
    return {"isl": 128.0 + (state >> 8) % 4096, "osl": 16.0 + (state >> 20) % 1024, "batch": 1.0 + (state >> 4) % 128}


def python(columns):
    start = time.process_time()
    out = ridgeline.evaluate_batch("infer", model="llama3.1-70b", device="h100-sxm", precision="bf16", tp=8,
                                   outputs=["output_tokens_per_s_high", "reason"], **columns)
    seconds = time.process_time() - start
    assert not out["reason"].any() and numpy.isfinite(out["output_tokens_per_s_high"]).all()
    return POINTS / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="build/release/ridge_bench")
    parser.add_argument("--least", type=float, default=0.0)
    a = parser.parse_args()
    columns = scrambled()
    python({key: column[:1000] for key, column in columns.items()})  # reads the catalogue
    rounds = [(compiled(a.program), python(columns)) for _ in range(5)]
    fast, here = (statistics.median(rates) for rates in zip(*rounds))
    share = statistics.median(p / c for c, p in rounds)
    print(f"C++ {fast / 1e6:.2f} M/s, Python {here / 1e6:.2f} M/s: {100 * share:.0f} %")
    return 3 if share < a.least else 0


if __name__ == "__main__":
    sys.exit(main())
