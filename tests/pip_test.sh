#!/usr/bin/env bash
# `pip install .` without an index, with and without build isolation; the module in it answers from the data in it.
# Takes the build that is there (RIDGE_BUILD) instead of a second one: pip_test.sh PYTHON BUILD_DIR ROOT
set -euo pipefail
python=$1 build=$2 root=$3
"$python" -m pip --version > /dev/null 2>&1 || { echo "not run: pip is missing"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export RIDGE_BUILD=$build PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
for isolation in "" --no-build-isolation; do
  "$python" -m pip install -q $isolation --no-deps --target "$place/to$isolation" "$root" > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
  cd "$place"
  env -u RIDGE_DATA PYTHONPATH="$place/to$isolation" "$python" - "$place/to$isolation" << 'END'
import importlib.metadata, sys
import ridgeline
assert ridgeline.__file__.startswith(sys.argv[1]), ridgeline.__file__
assert importlib.metadata.version("ridgeline") == ridgeline.__version__
place = ridgeline.Catalogue().device("h200-sxm")
assert place.name == "H200 SXM 141GB"
open(sys.argv[1] + "/ridgeline/data/devices/h200-sxm.toml", "a").write("made in the test\n")
ridgeline._session.cache_clear()
try:
    ridgeline.Catalogue().counts()
except ridgeline.BadInput as refused:
    assert refused.where.startswith(sys.argv[1]), refused
else:
    raise SystemExit("the module reads other data than its own")
print("installed", ridgeline.__version__)
END
done
