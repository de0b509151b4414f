#!/usr/bin/env bash
# Writes what commands and snippets print now into README, docs/, examples/ and tests/transcripts/: after a refit, say.
# Read the difference before committing it. Usage: update_transcripts.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build/release}")
python=()
[ -d "$build/python" ] && python=(--python "/usr/bin/python3:$build/python")
python3 tests/run_transcripts.py --update "${python[@]}" "$build/ridge" \
  README.md docs/*.md examples/README.md tests/transcripts/*.md
[ -d "$build/python" ] &&
  PYTHONPATH="$build/python" /usr/bin/python3 tests/notebook_test.py --update examples/notebook.ipynb
git diff --stat -- README.md docs examples tests/transcripts
