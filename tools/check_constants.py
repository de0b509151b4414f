#!/usr/bin/env python3
"""Fails if a number of the physics is neither a parameter nor listed: every `constexpr` number of src/perf stands in
docs/constants.md with its value and its reason, and nothing else does. Usage: check_constants.py ROOT"""
import pathlib
import re
import sys

CODE = re.compile(r"constexpr (?:double|int|long|std::size_t) (\w+(?: = [^,;]+, \w+)*)\s*=\s*([^;]*);")
LINE = re.compile(r"^\| `(k\w+)` \| ([^|]*?) \| [^|]*\w[^|]* \|$", re.MULTILINE)


def numbers(text):
    """Names and values: a declaration may name several."""
    for first, last in CODE.findall(text):
        for part in f"{first} = {last}".split(", "):
            name, _, value = part.partition(" = ")
            if re.match(r"k[A-Z]", name) and re.search(r"\d", value):
                yield name, " ".join(value.split())


def main(root):
    stated = {}
    for path in sorted((root / "src" / "perf").rglob("*.[ch]pp")):
        for name, value in numbers(path.read_text(encoding="utf-8")):
            stated.setdefault(name, {})[value] = path.relative_to(root)
    listed = {}
    for name, value in LINE.findall((root / "docs" / "constants.md").read_text(encoding="utf-8")):
        listed.setdefault(name, set()).update(value.split(" or "))
    problems = [f"{path}: {name} = {value} is not in docs/constants.md: make it a parameter, or say there why it is none"
                for name, values in stated.items() for value, path in values.items() if value not in listed.get(name, ())]
    problems += [f"docs/constants.md: {name} = {value} is not in src/perf"
                 for name, values in listed.items() for value in values if value not in stated.get(name, {})]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or not stated else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
