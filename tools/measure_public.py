#!/usr/bin/env python3
"""Precision and recall of `ridge check` on tests/claims/public.csv, by half.

    tools/measure_public.py build/release/ridge [worked-on|held-out] [--show]

A figure is found if it is judged at all, and judged well if an error is called an error and a right figure right or
rounded; one that is expected to be "none" claims nothing that can be checked, and any judgement of it is wrong.
"""
import csv
import json
import pathlib
import subprocess
import sys

GOOD = {"right", "rounded"}
UNCHECKED = {"cannot check", "cannot_check"}


def findings(ridge, sentence):
    done = subprocess.run([ridge, "check", "--json", sentence], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["documents"][0]["findings"] if done.stdout.startswith("{") else []


def measure(ridge, half, show):
    judged = well = checkable = recalled = figures = 0
    for row in csv.DictReader(open(pathlib.Path(__file__).parent.parent / "tests/claims/public.csv", encoding="utf-8")):
        if row["half"] != half:
            continue
        sentence = row["sentence"]
        found = [f for f in findings(ridge, sentence) if f["verdict"] not in UNCHECKED]
        at = 0
        for item in row["expected"].split("; "):
            figure, expected = item.rsplit("=", 1)
            place = sentence.index(figure, at)
            at = place + 1
            first = len(sentence[:place].encode()) + 1
            last = first + len(figure.encode())
            here = [f for f in found if first - 1 <= f["column"] < last and f["kind"] != "fits"]
            figures += 1
            checkable += expected != "none"
            verdicts = [f["verdict"] for f in here]
            bad = [v for v in verdicts if v not in GOOD]
            if not verdicts:
                if show and expected != "none":
                    print(f"missed   {figure} ({expected}): {sentence}")
                continue
            judged += 1
            fine = expected != "none" and (bool(bad) == (expected != "right"))
            well += fine
            recalled += fine
            if show and not fine:
                print(f"ill      {figure} ({expected}, said {verdicts}, {here[0].get('says')}): {sentence}")
    print(f"{half}: {figures} figures, {checkable} of them checkable; {judged} judged, {well} well: "
          f"precision {100 * well / max(1, judged):.1f} %, recall {100 * recalled / max(1, checkable):.1f} %")


if __name__ == "__main__":
    halves = [a for a in sys.argv[2:] if not a.startswith("-")] or ["worked-on", "held-out"]
    for each in halves:
        measure(sys.argv[1], each, "--show" in sys.argv)
