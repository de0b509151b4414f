#!/usr/bin/env python3
"""Runs the commands and snippets in Markdown files and compares what they print.

Usage: run_transcripts.py [--update] [--python PYTHON:FOLDER] RIDGE FILE...   compare, or write what is printed now
       run_transcripts.py --examples RIDGE              run the examples that `ridge help VERB` gives

    ```console
    $ ridge show nothing-like-it
    ridge: there is no entry 'nothing-like-it'; ...
    [exit 1]
    ```

A command is run by bash, standard error with standard output, in a scratch folder where everything of the repository's
root is at hand under its own name, and build/release is where RIDGE is; the commands of one file share it, so that one
may write what another reads. python3 is that of --python. Lines
that start with "> " below a command continue it. [exit N] stands below a command that does not end with 0. A line with
… alone stands for any number of lines, also none.

```python blocks with >>> are compared as by doctest, others only have to run; those of one file share their names.
PYTHON:FOLDER is the interpreter, and where the module ridgeline is.

A block that cannot run says why in the line above it: <!-- not run: needs a GPU -->. Such blocks are counted. Commands
in blocks without a language, or in sh blocks without that line, are errors: nothing in a page is untested by accident.
<!-- columns: 100 --> in the line above a block is how wide the terminal of its commands is; else nothing is cut.
"""
import argparse
import difflib
import doctest
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?(?:<!-- columns: (?P<columns>\d+) -->\n)?"
                   r"```(?P<language>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(\$ |ridge |python3 |make |curl |cmake |pip |mpirun |tools/|build/)", re.MULTILINE)
ANY = "…"
SECONDS = 120
CUT_PIPE = 141  # `ridge ... | head`, when head has ended before all was written
DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Runner:
    """The program, the Python with its module, and a scratch folder for one file."""

    def __init__(self, ridge, python, folder):
        self.folder = folder
        self.python, _, module = (python or "").partition(":")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("RIDGE_") and key != "COLUMNS"}
        self.environment.update(PATH=f"{ridge.parent}:{self.environment['PATH']}", LC_ALL="C.UTF-8")
        if module:
            interpreter = folder / ".python"  # for `python3 examples/...`
            interpreter.mkdir()
            (interpreter / "python3").symlink_to(self.python)
            self.environment["PATH"] = f"{interpreter}:{self.environment['PATH']}"
            self.environment.update(PYTHONPATH=module, PYTHONDONTWRITEBYTECODE="1")
        for entry in ROOT.iterdir():
            if entry.name not in (".git", "build"):
                (folder / entry.name).symlink_to(entry)
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(ridge.parent)

    def run(self, command, columns=None):
        environment = {**self.environment, **({"COLUMNS": columns} if columns else {})}
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=self.folder, env=environment,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        lines = done.stdout.splitlines()
        if done.returncode == CUT_PIPE:
            return lines
        return lines + [f"[exit {done.returncode}]"] if done.returncode != 0 else lines

    def run_python(self, sources):
        """What each of the statements or scripts prints, in one interpreter."""
        done = subprocess.run([self.python, ROOT / "tests" / "python_blocks.py"], input=json.dumps(sources), text=True,
                              cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, timeout=SECONDS, check=True)
        return json.loads(done.stdout)


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
    """[(lines of the command, expected lines)] of the text inside a block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        else:
            assert found, f"{name}: a console block starts with a command: {line}"
            command, expected = found[-1]
            if line.startswith("> ") and not expected:
                command.append(line[2:])
            else:
                expected.append(line)
    return found


def without_blank_end(lines):
    while lines and lines[-1] == "":  # a blank line before the next command is for the reader
        lines = lines[:-1]
    return lines


class Page:
    """One file: its blocks in order, what ran and what did not."""

    def __init__(self, path, runner, update):
        self.path, self.runner, self.update = path, runner, update
        self.commands = self.snippets = self.failures = 0
        self.skipped = []
        self.scripts = []  # sources of Python that ran before, for the names they define

    def fail(self, what, expected, printed):
        self.failures += 1
        print(f"{self.path.name}: {what}")
        print("\n".join(difflib.unified_diff(expected, printed, "expected", "printed", lineterm="")))

    def console(self, body, columns):
        out = []
        for command, expected in commands_of(body, self.path.name):
            self.commands += 1
            expected = without_blank_end(expected)
            printed = without_blank_end(self.runner.run("\n".join(command), columns))
            good = matches(expected, printed)
            if not good and not self.update:
                self.fail("$ " + " ".join(command), expected, printed)
            shown = ["$ " + command[0]] + ["> " + line for line in command[1:]]
            out.append("\n".join(shown + (expected if good else printed)))
        return "\n\n".join(out) + "\n"

    def python(self, body):
        if not self.runner.python:
            self.skipped.append("the Python module was not built")
            return body
        examples = doctest.DocTestParser().get_examples(body)
        sources = [e.source for e in examples] or [body]
        answers = self.runner.run_python(self.scripts + sources)[len(self.scripts):]
        self.scripts += sources
        self.snippets += len(sources)
        if not examples:
            if answers[0]["error"]:
                self.fail("a python block", [], answers[0]["error"].splitlines())
            return body
        lines = body.splitlines(keepends=True)
        for example, answer in reversed(list(zip(examples, answers))):
            want, got = example.want, answer["error"] or answer["printed"]
            if doctest.OutputChecker().check_output(want, got, DOCTEST):
                continue
            if not self.update:
                self.fail(">>> " + example.source.strip(), want.splitlines(), got.splitlines())
            start = example.lineno + example.source.count("\n")
            lines[start:start + want.count("\n")] = got.splitlines(keepends=True)
        return "".join(lines)

    def block(self, match):
        reason, language, body = match["reason"], match["language"], match["body"]
        if reason:
            self.skipped.append(reason)
            return match[0]
        if language == "console":
            head = f"<!-- columns: {match['columns']} -->\n" if match["columns"] else ""
            return head + "```console\n" + self.console(body, match["columns"]) + "```"
        if language == "python":
            return "```python\n" + self.python(body) + "```"
        if language in ("", "sh", "bash", "shell") and COMMAND.search(body):
            self.fail(f"a block of commands that nothing runs: make it ```console, or say why not: {body[:60]!r}", [], [])
        return match[0]

    def check(self, needs_command):
        text = self.path.read_text(encoding="utf-8")
        updated = BLOCK.sub(self.block, text)
        if needs_command and self.commands + self.snippets == 0:
            print(f"{self.path}: no command in it")
            self.failures += 1
        if self.update and updated != text:
            self.path.write_text(updated, encoding="utf-8")
        reasons = f": {'; '.join(self.skipped)}" if self.skipped else ""
        print(f"{self.path.name}: {self.commands} commands and {self.snippets} snippets run, "
              f"{len(self.skipped)} blocks not run{reasons}")
        return self.failures


def check(ridge, python, path, update):
    with tempfile.TemporaryDirectory(prefix="ridge-transcript-") as folder:
        runner = Runner(ridge, python, pathlib.Path(folder))
        return Page(path, runner, update).check(needs_command=path.parent.name == "transcripts")


def check_examples(ridge):
    with tempfile.TemporaryDirectory(prefix="ridge-transcript-") as folder:
        run = Runner(ridge, None, pathlib.Path(folder)).run
        page = run("ridge help")
        verbs = [line.split()[0] for line in page[page.index("Commands") + 1:page.index("Options of every command") - 1]]
        failures = 0
        # The first screen: five questions to copy, and the page, which does not end.
        questions = ["ridge " + line.split("  ridge ")[1] for line in run("ridge") if "  ridge " in line]
        if len(questions) != 6 or questions.pop() != "ridge serve":
            print("`ridge` alone shows not five questions and the page, but", questions)
            failures += 1
        for question in questions:
            printed = run(question)
            if not printed or printed[-1].startswith("[exit"):
                print(f"$ {question}\n" + "\n".join(printed))
                failures += 1
        for verb in verbs:
            if verb == "help":
                continue
            help_page = run(f"ridge help {verb}")
            start = next(i for i, line in enumerate(help_page) if line in ("Example", "Examples"))
            lines = "\n".join(help_page[start + 1:]).replace("\\\n", "").split("\n")
            examples = [line.strip() for line in lines if line.strip().startswith("ridge ")]
            if not examples:
                print(f"ridge help {verb} has no example")
                failures += 1
            for example in examples:
                printed = run(example)
                if not printed or printed[-1].startswith("[exit"):
                    print(f"$ {example}\n" + "\n".join(printed))
                    failures += 1
        return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--python", metavar="PYTHON:FOLDER")
    parser.add_argument("ridge", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("files", nargs="*", type=lambda name: pathlib.Path(name).resolve())
    a = parser.parse_args()
    if a.examples:
        return 1 if check_examples(a.ridge) else 0
    return 1 if sum(check(a.ridge, a.python, path, a.update) for path in a.files) else 0


if __name__ == "__main__":
    sys.exit(main())
