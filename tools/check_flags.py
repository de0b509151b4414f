#!/usr/bin/env python3
"""Fails if a library spells a flag: libraries name fields (⟦power_cap⟧, include/ridge/base/change.hpp), front ends say them.
A flag after "ridge VERB" in the same text is a command that is quoted whole. Usage: check_flags.py ROOT"""
import pathlib
import re
import sys

# Who may: the command line itself, and what writes or reads the flags of other programs.
FREE = {
    "src/app/cli": "the command line",
    "src/app/bench/bench_report.cpp": "flags of the servers that were measured",
    "src/ask": "the tables of fields: help texts of flags",
    "src/evidence/import/import.cpp": "names the commands of others whose files it reads",
    "src/evidence/import/serving.cpp": "flags of vLLM's benchmark",
    "src/facility/checkpoints.cpp": "commands of tools that convert checkpoints",
    "src/facility/engine_flags.cpp": "flags of engines",
    "src/facility/host/host_facts.cpp": "commands that look at a host",
    "src/facility/host/host_recording.cpp": "commands that look at a host",
    "src/facility/launch/": "launch files: flags of engines, Slurm and containers",
    "src/measure": "ridge-measure, a program with a command line of its own",
    "src/report/evidence/accuracy.cpp": "docs/accuracy.md, which shows commands",
    "src/rl/emit.cpp": "launch files of frameworks for reinforcement learning",
}
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
COMMAND = re.compile(r"\bridge (?:[a-z]+ |--)[^`]*$")


def spelled(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code = line.split("//")[0] if line.lstrip().startswith("//") else line
        for text in TEXT.finditer(code):
            for flag in FLAG.finditer(text[0]):
                if not COMMAND.search(text[0][:flag.start()]):
                    yield number, flag[0]


def main(root):
    found, used = 0, set()
    files = [*(root / "src").rglob("*.[ch]pp"), *(root / "include").rglob("*.hpp")]
    for path in sorted(files):
        name = str(path.relative_to(root))
        owner = next((free for free in FREE if name.startswith(free)), None)
        for number, flag in spelled(path):
            if owner:
                used.add(owner)
                continue
            found += 1
            print(f"{name}:{number}: {flag}: name the field, ⟦{flag[2:].replace('-', '_')}⟧ (include/ridge/base/change.hpp)")
    for free in sorted(FREE.keys() - used):
        found += 1
        print(f"tools/check_flags.py: {free} spells no flag any more: take it from the list")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
