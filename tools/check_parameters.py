#!/usr/bin/env python3
"""Fails if the physics asks for a parameter that data/calibration does not have: a misspelt name would be NaN.
A name is a text "group.name" whose group the data knows, or whatever .value() is asked for. Usage: check_parameters.py ROOT"""
import pathlib
import re
import sys

NAMED = re.compile(r'^name = "([^"@]+)(@[^"]*)?', re.MULTILINE)
TEXT = re.compile(r'"([a-z_]+\.[a-z_0-9.]+)"')
ASKED = re.compile(r'\bvalue\("([^"]*)"')
FOLDERS = ("src/perf", "src/rl")


def main(root):
    known = set()
    for path in sorted((root / "data" / "calibration").glob("*.toml")):
        for name, scope in NAMED.findall(path.read_text(encoding="utf-8")):
            known.update((name, name + scope))
    groups = {name.split(".")[0] for name in known}
    asked, problems = 0, []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                names = {name for name in TEXT.findall(line) if name.split(".")[0] in groups}
                for name in sorted(names | set(ASKED.findall(line))):
                    asked += 1
                    if name not in known:
                        problems.append(f"{path}:{number}: there is no parameter '{name}' in data/calibration")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or asked == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
