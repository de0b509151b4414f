#!/usr/bin/env bash
# Format, include direction and the short clang-tidy list; all of them are errors.
set -euo pipefail
build=${1:-build/release}
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.cpp' '*.hpp' '*.cu')
if command -v clang-format-14 > /dev/null; then
  clang-format-14 --dry-run --Werror "${files[@]}"
else
  echo "clang-format 14 is not here: the format is not checked"
fi
python3 tools/check_includes.py .
python3 tools/check_flags.py .
python3 tools/check_parameters.py .
python3 tools/check_constants.py .
command -v clang-tidy-14 > /dev/null || { echo "clang-tidy 14 is not here: its list is not checked"; exit 0; }
# What the build compiles of src/: the pieces of a unity build (each reads its headers once), or file by file. clang cannot
# read what g++ precompiled, and does without.
mkdir -p "$build/tidy"
python3 -c 'import json, re, sys
units = json.load(open(sys.argv[1]))
for unit in units: unit["command"] = re.sub(r" -Winvalid-pch -include \S+/cmake_pch\.hxx", "", unit["command"])
json.dump(units, open(sys.argv[2], "w"))
for unit in units:
    own = re.search(r"-o CMakeFiles/ridge_(?!python|mpi|c\.)\w+\.dir/", unit["command"])
    if own and not unit["file"].endswith(("cmake_pch.hxx.cxx", "cmake_pch.hxx", "page_data.cpp")): print(unit["file"])' \
  "$build/compile_commands.json" "$build/tidy/compile_commands.json" | xargs -P "$(nproc)" -n 1 clang-tidy-14 -p "$build/tidy" --quiet \
  --extra-arg=-Wno-unknown-warning-option 2> "$build/tidy.log" || {
  grep -vE "warnings? generated" "$build/tidy.log"; exit 1; }
