#!/usr/bin/env python3
"""Runs the commands in ```console blocks of Markdown files and compares what they print.

Usage: run_transcripts.py [--update] RIDGE FILE...      compare, or write what the program prints now
       run_transcripts.py --examples RIDGE              run the examples that `ridge help VERB` gives

    $ ridge show nothing-like-it
    ridge: there is no entry 'nothing-like-it'; ...
    [exit 1]

A command is run by bash in the root of the repository, standard error with standard output. [exit N] stands below a
command that does not end with 0. A line with … alone stands for any number of lines, also none.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY = "…"


def run(ridge, command):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("RIDGE_")}
    environment.update(PATH=f"{ridge.parent}:{environment['PATH']}", LC_ALL="C.UTF-8")
    done = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=ROOT, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    lines = done.stdout.splitlines()
    return lines + [f"[exit {done.returncode}]"] if done.returncode != 0 else lines


def matches(expected, printed):
    """Whether the lines are equal, where ANY stands for whatever is there."""
    if ANY not in expected:
        return expected == printed
    first = expected.index(ANY)
    if printed[:first] != expected[:first]:
        return False
    rest = expected[first + 1:]
    return any(matches(rest, printed[i:]) for i in range(first, len(printed) + 1))


def commands_of(block, name):
    """[(command, expected lines)] of the text inside a block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            assert line.startswith("$ ridge"), f"{name}: only ridge is run: {line}"
            found.append((line[2:], []))
        else:
            assert found, f"{name}: a console block starts with a command: {line}"
            found[-1][1].append(line)
    return found


def check(ridge, path, update):
    text = path.read_text(encoding="utf-8")
    count = failures = 0

    def one_block(match):
        nonlocal count, failures
        out = []
        for command, expected in commands_of(match.group(1), path.name):
            count += 1
            while expected and expected[-1] == "":  # a blank line before the next command is for the reader
                expected.pop()
            printed = run(ridge, command)
            while printed and printed[-1] == "":
                printed.pop()
            good = matches(expected, printed)
            if not good and not update:
                failures += 1
                print(f"{path.name}: $ {command}")
                print("\n".join(difflib.unified_diff(expected, printed, "expected", "printed", lineterm="")))
            out.append("\n".join(["$ " + command] + (expected if good else printed)))
        return "```console\n" + "\n\n".join(out) + "\n```"

    updated = BLOCK.sub(one_block, text)
    if count == 0:
        print(f"{path}: no command in it")
        return 1
    if update and updated != text:
        path.write_text(updated, encoding="utf-8")
    return failures


def check_examples(ridge):
    page = run(ridge, "ridge help")
    verbs = [line.split()[0] for line in page[page.index("Verbs") + 1:page.index("Options of every verb") - 1]]
    failures = 0
    for verb in verbs:
        if verb == "help":
            continue
        help_page = run(ridge, f"ridge help {verb}")
        start = next(i for i, line in enumerate(help_page) if line in ("Example", "Examples"))
        examples = [line.strip() for line in help_page[start + 1:] if line.strip().startswith("ridge ")]
        if not examples:
            print(f"ridge help {verb} has no example")
            failures += 1
        for example in examples:
            printed = run(ridge, example)
            if not printed or printed[-1].startswith("[exit"):
                print(f"$ {example}\n" + "\n".join(printed))
                failures += 1
    return failures


def main(arguments):
    update = "--update" in arguments
    examples = "--examples" in arguments
    arguments = [a for a in arguments if a not in ("--update", "--examples")]
    ridge = pathlib.Path(arguments[0]).resolve()
    if examples:
        return 1 if check_examples(ridge) else 0
    return 1 if sum(check(ridge, pathlib.Path(name), update) for name in arguments[1:]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
