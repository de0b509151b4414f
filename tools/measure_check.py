#!/usr/bin/env python3
"""How much of a document's audited claims `ridge check` finds by itself, and how it judges them.

    tools/measure_check.py build/release/ridge mlperf-comparison=a.txt infrastructure-guide=b.txt

Each argument names a claim file of data/claims and the document it was written from. A claim counts as found if the
document's audit holds a finding about the same figure of the same part; an item (S3-39) as judged right if every claim of
it that was found is on the right side: an error where tests/claims/expected.csv has an error, none where it has none. Prints
both shares, the verdicts that are exactly the same, and the errors reported that belong to no claim of the file: false
alarms, unless a reader finds them to be right.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
ERRORS = {"wrong", "unit", "sparse", "contradiction"}
# Computed by the audit from what the documents say, and stated in none of them.
DERIVED = {"S1-01", "S1-02", "S1-04", "S1-12", "S1-25", "S1-27", "S2-37", "S2-45", "S3-47"}


def audit(ridge, path):
    run = subprocess.run([ridge, "--data", str(ROOT / "data"), "check", str(path), "--json"], capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(f"{path}: {run.stderr}")
    return json.loads(run.stdout)["documents"][0]


def item(identifier):
    return re.match(r"(S\d|X)-\d+", identifier)[0]


def subjects(claim):
    keys = ("of", "to") if claim["kind"] == "comparison" else ("of", "device", "model")
    return [str(claim[k]) for k in keys if k in claim and claim["kind"] not in ("conversion", "price-gap")]


def mentions(finding, subject):
    text = json.dumps(finding).lower()
    family = subject.split("-")[0] if not subject.startswith(("rtx", "tpu", "llama", "pod", "rack", "dgx")) else subject
    return subject in text or family in text


def same(claim, computed, finding):
    if computed.get("claimed") is None or not computed["claimed"]["text"]:
        return finding["kind"] == computed["kind"] == "results" and bool(finding["right"]) and \
            abs(finding["right"]["value"] / computed["right"]["value"] - 1) < 0.25 and "claimed" not in finding or \
            finding["kind"] == computed["kind"] == "mlperf" and mentions(finding, claim["benchmark"])
    mine, its = computed["claimed"], finding.get("claimed")
    if its is None or (mine["text"] in ("yes", "no")) != (its["text"] in ("yes", "no")):
        return False
    if mine["text"] in ("yes", "no"):
        return finding["kind"] == "fits" and all(mentions(finding, s) for s in [claim["device"]]) and \
            abs(finding["right"]["value"] / computed["right"]["value"] - 1) < 0.02
    if abs(mine["value"] - its["value"]) > 0.005 * abs(mine["value"]):
        return False
    kinds = {claim["kind"], finding["kind"]}
    alike = ({"comparison", "ratio", "results"}, {"product", "training-cost"}, {"ratio", "comparison"})
    if len(kinds) == 2 and not any(kinds <= a for a in alike):
        return False
    if claim["kind"] in ("kv-cache", "serving-memory"):
        wanted = [claim["model"], str(claim["context"])]
    else:
        wanted = subjects(claim)
    return all(mentions(finding, s) for s in wanted[:1]) if claim["kind"] != "kv-cache" else all(w in json.dumps(finding) for w in wanted)


def main():
    ridge = sys.argv[1]
    expected = {r["id"]: r["verdict"] for r in csv.DictReader(open(ROOT / "tests/claims/expected.csv"))}
    total = {"items": 0, "found": 0, "right": 0, "exact": 0, "alarms": 0, "findings": 0, "errors": 0}
    for argument in sys.argv[2:]:
        name, path = argument.split("=", 1)
        file = ROOT / f"data/claims/{name}.toml"
        claims = {c["id"]: c for c in tomllib.load(open(file, "rb"))["claim"]}
        computed = {f["id"]: f for f in audit(ridge, file)["findings"]}
        document = audit(ridge, path)
        taken, items = set(), {}
        for identifier, claim in claims.items():
            key = item(identifier)
            if expected[identifier] == "cannot check" or key in DERIVED:
                continue
            hits = [i for i, f in enumerate(document["findings"]) if same(claim, computed[identifier], f)]
            # Several findings of one figure: the one judged as expected stands for it.
            hits.sort(key=lambda i: document["findings"][i]["verdict"] != expected[identifier])
            entry = items.setdefault(key, [])
            if hits:
                taken.update(i for i in hits if document["findings"][i]["verdict"] in ERRORS and expected[identifier] in ERRORS)
                verdict = document["findings"][hits[0]]["verdict"]
                entry.append(((verdict in ERRORS) == (expected[identifier] in ERRORS), verdict == expected[identifier]))
        found = [k for k, v in items.items() if v]
        right = [k for k in found if all(a for a, _ in items[k])]
        exact = [k for k in found if all(b for _, b in items[k])]
        errors = [i for i, f in enumerate(document["findings"]) if f["verdict"] in ERRORS]
        alarms = [i for i in errors if i not in taken]
        print(f"{name}: {len(items)} items, {len(found)} found, {len(right)} judged right ({len(exact)} with the very verdict), "
              f"{len(document['findings'])} findings, {len(errors)} errors, {len(alarms)} of them in no claim")
        print("  not found:", " ".join(k for k in items if not items[k]))
        print("  judged otherwise:", " ".join(k for k in found if k not in right))
        for i in alarms:
            f = document["findings"][i]
            print(f"  no claim: {f['line']}:{f['column']} {f['verdict']}: {f['says']} (right {f['right'] and f['right']['text']})")
        for k, v in (("items", items), ("found", found), ("right", right), ("exact", exact), ("alarms", alarms),
                     ("findings", document["findings"]), ("errors", errors)):
            total[k] += len(v)
    print(f"all: {total['right']} of {total['items']} items found and judged right ({total['right'] / total['items']:.0%}), "
          f"{total['exact']} with the very verdict; {total['alarms']} of {total['errors']} errors reported belong to no claim "
          f"({total['alarms'] / max(1, total['errors']):.1%}; {total['findings']} findings)")


if __name__ == "__main__":
    main()
