#!/usr/bin/env python3
"""The numbers in the README's pictures against those of the program: pictures_test.py RIDGE. Renew: make docs-pictures."""
import json
import os
import subprocess
import sys

images = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "images")
with open(os.path.join(images, "question.json")) as file:
    question = json.load(file)
with open(os.path.join(images, "plan.json")) as file:
    drawn = json.load(file)
flags = [word for key, value in question.items() for word in (f"--{key}", str(value))]
answer = json.loads(subprocess.run([sys.argv[1], "plan", "serve", *flags, "--json"], capture_output=True, check=True).stdout)


def shown(value):
    return value if isinstance(value, (str, int)) else float(f"{value:.3g}") if isinstance(value, float) else \
        {k: shown(v) for k, v in value.items()}


for was, now in zip(drawn, answer["plans"], strict=True):
    for key, value in was.items():
        if shown(value) != shown(now[key]):
            sys.exit(f"docs/images: {was['device']} has {key} {value} in the picture, {now[key]} in the program: "
                     "run make docs-pictures")
print(f"{len(drawn)} plans of the picture are the program's")
