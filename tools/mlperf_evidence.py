#!/usr/bin/env python3
"""Writes data/evidence/more/mlperf.csv: MLPerf's Offline results of language models as rows of evidence.

    tools/mlperf_evidence.py build/release/ridge > data/evidence/more/mlperf.csv

One row for each benchmark, accelerator, round and format: the median over submitters, per replica. Layouts are those of
`ridge mlperf explain`: published ones where data/mlperf/layouts.csv has them, else the best it finds. Lengths are those of
data/mlperf/benchmarks.csv.
"""
import csv
import io
import re
import statistics
import subprocess
import sys

ENGINES = {"Google": "jetstream", "NVIDIA": "trtllm"}
COLUMNS = ("id,source,date,engine,engine_version,model,device,gpus,tp,pp,ep,dp,weight_precision,activation_precision,"
           "kv_precision,mode,isl,osl,length_range,batch,concurrency,rate,requests,draft_tokens,acceptance,output_tok_s,"
           "total_tok_s,ttft_ms,tpot_ms,e2e_ms,power_w,joules_per_output_token,quality,notes").split(",")


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def layout(plan):
    """'8 x TP1, fp8 weights, fp8 KV' or 'prefill TP2 on ..., decode TP4, ...': tp, ep, dp and the formats."""
    own = re.search(r"decode ((?:[TPDE]P\d+ ?)+)", plan) or re.search(r"x ((?:[TPDE]P\d+ ?)+)", plan)
    sizes = dict(re.findall(r"([TPDE]P)(\d+)", own.group(1)))
    weights = re.search(r"(\w+) weights", plan).group(1)
    cache = re.search(r"(\w+) KV", plan)
    return {k: int(sizes.get(k, 1)) for k in ("TP", "PP", "EP", "DP")}, weights, cache.group(1) if cache else ""


def main():
    ridge = sys.argv[1]
    benchmarks = {r["benchmark"]: r for r in read("data/mlperf/benchmarks.csv") if r["model"] and r["input_tokens"]}
    devices = {r["accelerator"]: r["device"] for r in read("data/mlperf/accelerators.csv") if r["device"]}
    dates = {r["round"]: r["date"] for r in read("data/mlperf/rounds.csv") if r["suite"] == "inference"}
    found = {}
    for name in benchmarks:
        run = subprocess.run([ridge, "mlperf", "explain", "--benchmark", name, "--scenario", "Offline", "--csv"],
                             capture_output=True, text=True, check=False)
        for r in csv.DictReader(io.StringIO(run.stdout)):
            if r["scenario"] != "Offline" or "tokens/s" not in r["unit"] or r["accelerator"] not in devices:
                continue
            if " TP" not in r["plan"] and " DP" not in r["plan"]:
                continue
            key = (name, r["accelerator"], r["round"], r["plan"].split(" x ")[-1])
            found.setdefault(key, []).append((float(r["measured"]), r["plan"], r["row"]))
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    out.writeheader()
    vendors = {}
    for number, ((name, accelerator, round_, _), rows) in enumerate(sorted(found.items()), 1):
        sizes, weights, cache = layout(rows[0][1])
        device = devices[accelerator]
        if device not in vendors:
            shown = subprocess.run([ridge, "show", "device", device, "--json"], capture_output=True, text=True, check=False)
            vendors[device] = re.search(r'"vendor": "(\w+)', shown.stdout)
        vendor = vendors[device].group(1) if vendors[device] else ""
        gpus = sizes["TP"] * sizes["PP"] * sizes["DP"]
        rate = statistics.median(r[0] for r in rows) * gpus
        mine = dict.fromkeys(COLUMNS, "")
        mine.update(id=f"mlperf-{number:03d}-{name}", source=f"mlcommons/inference_results_{round_}", date=dates[round_],
                    engine=ENGINES.get(vendor, "vllm"), model=benchmarks[name]["model"], device=device, gpus=gpus,
                    tp=sizes["TP"], pp=sizes["PP"], ep=sizes["EP"], dp=sizes["DP"], weight_precision=weights,
                    activation_precision=weights if weights in ("mxfp4", "nvfp4", "fp8", "int8", "bf16") else "",
                    kv_precision=cache, mode="offline", isl=benchmarks[name]["input_tokens"],
                    osl=benchmarks[name]["output_tokens"], output_tok_s=f"{rate:.6g}", quality="A",
                    notes=f"Offline, closed, median of {len(rows)} of {round_} from {rows[0][2]} on; layout, format and "
                          "engine as ridge mlperf explain has them")
        out.writerow(mine)


if __name__ == "__main__":
    main()
