"""Runs Python sources, given as a JSON list, one after the other in one namespace; prints what each gave, as JSON.

{"printed": standard output and, of an expression, its value; "error": a traceback as doctest writes it, or ""}
"""
import contextlib
import io
import json
import sys
import traceback


def run(source, names):
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            try:
                code = compile(source, "<page>", "single")
            except SyntaxError:
                code = compile(source, "<page>", "exec")
            exec(code, names)
        except Exception as problem:
            last = traceback.format_exception_only(type(problem), problem)[-1]
            error = "Traceback (most recent call last):\n    ...\n" + last
    return {"printed": printed.getvalue(), "error": error}


def main():
    names = {"__name__": "__main__"}
    json.dump([run(source, names) for source in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
