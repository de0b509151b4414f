#!/usr/bin/env python3
"""Every device on sale is ranked, or `--why` says how it could come in.

Asked are the question of `make run` and those of the tutorial, over the whole catalogue.

Usage: every_device_test.py RIDGE ROOT
"""
import json
import pathlib
import re
import subprocess
import sys

CHAT = ("plan serve --model llama3.3-70b --request-rate 50 --isl 1000 --osl 250 --ttft 1s --tpot 40ms")
QUESTIONS = [
    "plan examples/chat-70b.toml",
    CHAT,
    "plan train --model llama3.1-405b --tokens 15.6T --gpus 2304",
    "plan serve --model llama3.1-8b --request-rate 20",
]
VAGUE = ("another limit", "-", "")


def ask(ridge, root, words):
    done = subprocess.run([ridge, "--data", str(root / "data"), *words], capture_output=True, text=True, cwd=root)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def ways_in(text):
    """Device -> how it could come in, from the table under 'Left out'."""
    lines = text.split("Left out, and how each could come in\n", 1)[1].split("\n\n", 1)[0].splitlines()
    head, ways, device = lines[0], {}, None
    at = head.index("how it could come in")
    for line in lines[1:]:
        name = re.match(r" (\S+)", line)
        if name:
            device = name.group(1)
            ways[device] = ""
        ways[device] = (ways[device] + " " + line[at:].strip()).strip()
    return ways


def main():
    ridge, root = sys.argv[1], pathlib.Path(sys.argv[2])
    devices = json.loads(ask(ridge, root, ["show", "devices", "--json"]))["devices"]
    on_sale = {d["id"] for d in devices if d["status"] == "shipping"}
    wrong = []
    for question in QUESTIONS:
        words = question.split()
        answer = json.loads(ask(ridge, root, [*words, "--top", "200", "--json"]))
        ranked = {plan["device"]: plan for plan in answer["plans"]}
        for device, plan in ranked.items():
            if plan["price_quotes"] is None or (plan["price_quotes"] < 2 and not plan["price_basis"]):
                wrong.append(f"{question}: {device} is ranked and its price has neither quotes nor a basis")
        ways = ways_in(ask(ridge, root, [*words, "--top", "200", "--why"]))
        for device in sorted(on_sale - set(ranked)):
            if ways.get(device, "") in VAGUE:
                wrong.append(f"{question}: {device} is on sale, not ranked, and nothing says how it could come in")
        print(f"{question}: {len(ranked)} ranked, {len(on_sale - set(ranked))} of {len(on_sale)} on sale left out")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
