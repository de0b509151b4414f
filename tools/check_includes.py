#!/usr/bin/env python3
"""Fails if an #include points against the module order of tools/modules.txt, if rooms of one module include each other in
a circle, or if a folder holds too many files. Usage: check_includes.py ROOT"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
MOST_FILES = 26      # of a folder
MOST_IN_ROOM = 17    # of a folder inside a module
NOT_ROOMS = ("measure/gpu",)  # a part of its own, with a build of its own


def read_table(path):
    allowed = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            module, names = (part.strip() for part in line.split(":"))
            allowed[module] = set(names.split()) | {module}
    return allowed


def circles(edges):
    """Rooms that reach themselves."""
    found = []
    for start in sorted(edges):
        seen, waiting = set(), [*edges[start]]
        while waiting:
            room = waiting.pop()
            if room not in seen:
                seen.add(room)
                waiting.extend(edges.get(room, ()))
        if start in seen:
            found.append(start)
    return found


def main(root):
    allowed = read_table(root / "tools" / "modules.txt")
    problems, edges, counts = [], {}, {}
    headers = root / "include" / "ridge"
    files = sorted((root / "src").rglob("*.[ch]pp")) + sorted(headers.rglob("*.hpp"))
    for path in files:
        public = path.is_relative_to(headers)
        inside = path.relative_to(headers if public else root / "src")
        module = inside.parts[0]
        if not public:
            counts[str(inside.parent)] = counts.get(str(inside.parent), 0) + 1
        if module not in allowed:
            problems.append(f"{path}: belongs to no module of tools/modules.txt")
            continue
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            target = match.group(1)
            line = text.count("\n", 0, match.start()) + 1
            parts = target.split("/")
            used = parts[1] if parts[0] == "ridge" and len(parts) > 2 else parts[0]
            if used not in allowed:
                problems.append(f"{path}:{line}: '{target}' is in no module: write \"module/file.hpp\" or \"ridge/module/file.hpp\"")
            elif used not in allowed[module]:
                problems.append(f"{path}:{line}: {module} must not include {used} ('{target}')")
            elif not public and parts[0] == module:
                here, there = str(inside.parent), str(pathlib.PurePosixPath(target).parent)
                if here != there:
                    edges.setdefault(here, set()).add(there)
    for folder, count in sorted(counts.items()):
        depth = folder.count("/") - (folder.startswith("app/"))
        most = MOST_IN_ROOM if depth > 0 and folder not in NOT_ROOMS else MOST_FILES
        if count > most:
            problems.append(f"src/{folder}: {count} files, more than {most}: part it into rooms")
    for room in circles(edges):
        problems.append(f"src/{room}: includes a room that leads back to it")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
