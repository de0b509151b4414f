"""Audits every Markdown file it is given, for a check before a document goes out. Exit code 3 if something is wrong.

    PYTHONPATH=build/release/python python3 examples/audit.py examples/memo.md
"""
import sys

import ridgeline

wrong = 0
for path in sys.argv[1:]:
    answer = ridgeline.check(file=path)
    for finding in answer.documents[0].findings:
        if finding.verdict not in ("right", "rounded", "cannot check"):
            wrong += 1
            print(f"{path}:{finding.line}: {finding.verdict}: {finding.says} -> {finding.right.text}")
print(f"{wrong} to mend")
sys.exit(3 if wrong else 0)
