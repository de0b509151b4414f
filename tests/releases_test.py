#!/usr/bin/env python3
"""What releases of one framework brought, predicted and measured. Usage: releases_test.py RIDGE ROOT

data/evidence/more/releases.csv holds one training case over successive releases. Each is predicted as of its release
(`ridge validate --cases`); of cases with several, the gain from the first to the last is held against what was measured.
"""
import collections
import csv
import pathlib
import statistics
import subprocess
import sys
import tempfile

COLUMNS = ("id,source,date,engine,engine_version,task,model,device,gpus,seq_len,global_batch,micro_batch,tp,pp,vp,cp,ep,"
           "precision,sharding,tokens_per_sec_per_gpu").split(",")
RECIPES = {"fp8-cs": "fp8", "fp8-mx": "mxfp8"}
MEDIAN_RATE, MEDIAN_GAIN, GAIN_SEEN = 0.12, 0.08, 1.2


def cases(table):
    with open(table, newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            if not row["source"].endswith("Megatron-Bridge") or not row["precision"]:
                continue
            year, month = row["engine_version"].split(".")[:2]
            case = {c: row.get(c, "") for c in COLUMNS}
            case["precision"] = RECIPES.get(row["precision"], row["precision"])
            same = [case[c] for c in ("task", "model", "device", "gpus", "precision", "seq_len")]
            case["id"] = "|".join(same + [row["engine_version"], str(number)])
            case["date"] = f"20{year}-{month}"
            case["engine"] = "megatron-bridge"
            case["sharding"] = "zero3" if row["fsdp"] not in ("", "0", "1") else ""
            yield case


def main():
    ridge, root = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        table, rows = pathlib.Path(folder) / "cases.csv", pathlib.Path(folder) / "rows.csv"
        with open(table, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(cases(root / "data/evidence/more/releases.csv"))
        subprocess.run([ridge, "--data", root / "data", "validate", "--cases", table, "--rows", rows], check=True,
                       stdout=subprocess.DEVNULL)
        with open(rows, newline="") as file:
            found = [r for r in csv.DictReader(file) if r["predicted"]]
    ratios, groups = [], collections.defaultdict(list)
    for row in found:
        *same, release, _ = row["id"].split("|")
        measured, predicted = float(row["measured"]), float(row["predicted"])
        ratios.append(abs(predicted / measured - 1))
        groups[tuple(same)].append((release, measured, predicted))
    gains = []
    for runs in groups.values():
        runs.sort()
        if len(runs) > 1:
            gains.append((runs[-1][1] / runs[0][1], runs[-1][2] / runs[0][2]))
    off = statistics.median(abs(predicted / measured - 1) for measured, predicted in gains)
    rate = statistics.median(ratios)
    large = [(m, p) for m, p in gains if m > GAIN_SEEN]
    print(f"{len(found)} cases off by {rate:.1%} in the median; {len(gains)} gains over releases by {off:.1%}; "
          f"{sum(p > 1.05 for _, p in large)} of {len(large)} large gains seen")
    assert len(found) > 100 and len(gains) > 20, "cases are missing"
    assert rate < MEDIAN_RATE and off < MEDIAN_GAIN
    assert sum(p > 1.05 for _, p in large) >= 0.7 * len(large), "a release that brought much is not told from its predecessor"


main()
