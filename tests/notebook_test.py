#!/usr/bin/env python3
"""Executes a notebook in a Jupyter kernel and compares what its cells print with what is stored in it.

Usage: notebook_test.py [--update] NOTEBOOK       with the module ridgeline on PYTHONPATH

Needs python3-nbclient and python3-ipykernel; without them it says so and exits with 77 (skipped).
"""
import pathlib
import sys

try:
    import nbformat
    from nbclient import NotebookClient
except ImportError as missing:
    print(f"not run: {missing}")
    sys.exit(77)


def texts(cell):
    """What a cell prints and what it is worth, as text."""
    out = []
    for output in cell.get("outputs", []):
        out.append(output.get("text") or output.get("data", {}).get("text/plain") or output.get("ename", ""))
    return out


def main(arguments):
    update = "--update" in arguments
    path = pathlib.Path(arguments[-1])
    stored = nbformat.read(path, as_version=4)
    run = nbformat.read(path, as_version=4)
    root = path.resolve().parent.parent
    NotebookClient(run, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(root)}}).execute()
    different = 0
    for number, (before, now) in enumerate(zip(stored.cells, run.cells), 1):
        if texts(before) != texts(now):
            different += 1
            if not update:
                print(f"cell {number}: stored\n{''.join(texts(before))}\nprinted\n{''.join(texts(now))}")
    cells = sum(cell.cell_type == "code" for cell in run.cells)
    assert cells > 0, "there is no code in it"
    if update and different:
        for cell in run.cells:
            cell.metadata = {}
        run.metadata = {"kernelspec": stored.metadata["kernelspec"]}
        nbformat.write(run, path)
    print(f"{cells} cells run, {different} differ")
    return 1 if different and not update else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
