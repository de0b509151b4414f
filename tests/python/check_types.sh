#!/usr/bin/env bash
# The stubs against the module, and the Python part against the stubs: check_types.sh PYTHON FOLDER
set -euo pipefail
python=$1
export PYTHONPATH=$2 MYPYPATH=$2
"$python" -c 'import mypy' 2> /dev/null || { echo "not run: mypy is missing"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
echo 'ridgeline\._native\.Session' > differs # in its metaclass alone, which is pybind11's; its members are compared
"$python" -m mypy.stubtest ridgeline._native --allowlist differs
"$python" -m mypy --strict --cache-dir "$place/cache" -p ridgeline
