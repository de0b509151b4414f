#!/usr/bin/env python3
"""Fails if an #include points against the module order of tools/modules.txt. Usage: check_includes.py ROOT"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_table(path):
    allowed, owner, section = {}, {}, "modules"
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line == "[headers]":
            section = "headers"
        elif line:
            module, names = (part.strip() for part in line.split(":"))
            if section == "modules":
                allowed[module] = set(names.split()) | {module}
            else:
                owner.update({name: module for name in names.split()})
    return allowed, owner


def main(root):
    allowed, owner = read_table(root / "tools" / "modules.txt")
    problems = []
    files = sorted((root / "src").rglob("*.[ch]pp")) + sorted((root / "include" / "ridge").glob("*.hpp"))
    for path in files:
        public = "include" in path.relative_to(root).parts
        module = owner.get(path.stem) if public else path.relative_to(root / "src").parts[0]
        if module not in allowed:
            problems.append(f"{path}: belongs to no module of tools/modules.txt")
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            target = match.group(1)
            line = text.count("\n", 0, match.start()) + 1
            first, _, rest = target.partition("/")
            if first == "ridge":
                used = owner.get(pathlib.PurePath(rest).stem)
            else:
                used = first if first in allowed else None
            if used is None:
                problems.append(f"{path}:{line}: '{target}' is in no module: write \"module/file.hpp\" or \"ridge/file.hpp\"")
            elif used not in allowed[module]:
                problems.append(f"{path}:{line}: {module} must not include {used} ('{target}')")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
