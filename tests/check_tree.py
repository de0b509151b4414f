#!/usr/bin/env python3
"""What the documents say about the tree is so: check_tree.py ROOT

- every folder of src/ and web/ that holds files is in the table of ARCHITECTURE.md, and every folder there exists;
- every file and heading that ARCHITECTURE.md, CONTRIBUTING.md, README.md and the pages of docs/ and examples/ name or
  link to exists;
- every test that docs/corrections.md names exists;
- every verb has a page, and every page is in the index of docs/;
- no source file or page is longer than 1,000 lines (data, schemas and lock files are not written by hand);
- the version is the same wherever it stands;
- the README's table of accuracy has the figures of docs/accuracy.md.
"""
import pathlib
import re
import subprocess
import sys

LONGEST = 1000
NOT_WRITTEN_BY_HAND = re.compile(r"^data/|\.json$|\.csv$|^tests/schema/|^tests/.*/(recordings|corpus|hf)/")
FOLDER = re.compile(r"`((?:src|web)/[\w/]*)`")
NAMED = re.compile(r"`((?:src|include|tests|tools|docs|data|web|examples|cmake|bench)/[\w./-]+\.\w+)`")
PAGE_OF = {"calibrate": "calibration.md", "completion": None}  # `ridge help completion` says it all
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs", "examples")
LINK = re.compile(r"\]\(([^)#:]+)(?:#([^)]*))?\)")


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, text=True,
                            stdout=subprocess.PIPE, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # a release without its history
        names = [str(p.relative_to(root)) for p in root.rglob("*") if not {"build", "node_modules"} & set(p.parts)]
    return [pathlib.PurePosixPath(name) for name in names if (root / name).is_file()]


def module_problems(root, files):
    lines = (root / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    named = {folder.rstrip("/") for row in rows for folder in FOLDER.findall(row.split("|")[1])}
    there = {str(f.parent) for f in files if f.parts[0] in ("src", "web") and len(f.parts) > 2}
    covered = {f for f in there if any(f == n or f.startswith(n + "/") for n in named)}  # rooms of a module
    for folder in sorted(there - covered):
        yield f"ARCHITECTURE.md: the folder {folder} is not in the table of modules"
    for folder in sorted(n for n in named if not any(f == n or f.startswith(n + "/") for f in there)):
        yield f"ARCHITECTURE.md: there is no folder {folder} with files in it"


def anchors(page):
    """What headings are called in links: lower case, words joined by dashes."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def name_problems(root, files):
    for page in files:
        if page.suffix != ".md" or page.parts[0] not in PAGES:
            continue
        text = (root / page).read_text(encoding="utf-8")
        for name in NAMED.findall(text):
            if not re.search(r"ID|NAME", name) and not (root / name).exists():
                yield f"{page}: there is no {name}"
        for target, anchor in LINK.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
            there = root / page.parent / target
            if not there.exists() or (anchor and anchor not in anchors(there.read_text(encoding="utf-8"))):
                yield f"{page}: the link to {target} {anchor} leads nowhere"


def test_problems(root):
    """A correction that names a test which is not there is held by nothing."""
    sources = "".join(f.read_text(encoding="utf-8") for f in sorted((root / "tests").rglob("*.cpp")))
    tests = {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", sources, re.MULTILINE)}
    suites = {f"{name.split('.')[0]}.*" for name in tests}
    for name in re.findall(r"`([A-Z]\w+\.(?:\w+|\*))`", (root / "docs" / "corrections.md").read_text(encoding="utf-8")):
        if name not in tests | suites:
            yield f"docs/corrections.md: there is no test {name}"


def verb_problems(root):
    """A verb without a page, or a page that the index does not lead to."""
    index = (root / "docs" / "README.md").read_text(encoding="utf-8")
    for source in sorted((root / "src" / "app" / "cli").rglob("verb_*.cpp")):
        verb = source.stem[len("verb_"):]
        page = PAGE_OF.get(verb, f"{verb}.md")
        if page and not (root / "docs" / page).exists():
            yield f"docs/{page}: ridge {verb} has no page"
    for page in sorted((root / "docs").glob("*.md")):
        if page.name != "README.md" and f"({page.name})" not in index:
            yield f"docs/README.md: the page {page.name} is not in the index"


def length_problems(root, files):
    for name in files:
        if NOT_WRITTEN_BY_HAND.search(str(name)):
            continue
        lines = (root / name).read_bytes().count(b"\n")
        if lines > LONGEST:
            yield f"{name}: {lines} lines, more than {LONGEST}: think of what it could be cut into"


def version_problems(root):
    def found(name, pattern):
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        return match.group(1) if match else None

    version = found("CMakeLists.txt", r"^project\(ridgeline VERSION (\S+)")
    if not re.fullmatch(r"\d+\.\d+\.\d+", version or ""):
        yield f"CMakeLists.txt: {version} is no semantic version"
    for name, pattern in (("pyproject.toml", r'^version = "(.*)"'), ("CHANGELOG.md", r"^## (\S+?),?(?: .*)?$")):
        if found(name, pattern) != version:
            yield f"{name}: says {found(name, pattern)}, CMakeLists.txt says {version}"


ACCURACY = {"training step time": "step_time_s", "output throughput, offline": "output_tok_s offline",
            "output throughput, closed loop": "output_tok_s closed-loop", "time per output token (TPOT)": "tpot_ms closed-loop",
            "time to first token (TTFT)": "ttft_ms closed-loop"}


def accuracy_problems(root):
    def rows(name):
        for line in (root / name).read_text(encoding="utf-8").splitlines():
            if line.startswith("| "):
                yield [cell.strip().replace("\\_", "_") for cell in line.strip("|").split("|")]

    said = {row[0]: row[1:4] for row in rows("README.md") if row[0] in ACCURACY}
    measured = {}
    for row in rows("docs/accuracy.md"):  # the first table is the one without the publisher
        if row[0] in ACCURACY.values():
            measured.setdefault(row[0], [row[3], row[4], row[9]])
    for title, metric in ACCURACY.items():
        want = [f"{float(cell.split()[0]) + 1e-9:.0f} %" for cell in measured[metric]]
        if said.get(title) != want:
            yield f"README.md: {title} is {said.get(title)}, docs/accuracy.md says {want}"


def main(root):
    files = tracked(root)
    assert len(files) > 500, "the tree was not found"
    problems = [*module_problems(root, files), *name_problems(root, files), *test_problems(root), *verb_problems(root),
                *length_problems(root, files), *version_problems(root), *accuracy_problems(root)]
    print("\n".join(problems) or f"{len(files)} files: as the documents say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
