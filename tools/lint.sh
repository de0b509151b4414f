#!/usr/bin/env bash
# Format, include direction and the short clang-tidy list; all of them are errors.
set -euo pipefail
build=${1:-build/release}
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.cpp' '*.hpp' '*.cu')
clang-format-14 --dry-run --Werror "${files[@]}"
python3 tools/check_includes.py .
mapfile -t units < <(git ls-files 'src/*.cpp' | grep -v '^src/measure/')
printf '%s\n' "${units[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy-14 -p "$build" --quiet \
  --extra-arg=-Wno-unknown-warning-option 2> "$build/tidy.log" || {
  grep -vE "warnings? generated" "$build/tidy.log"; exit 1; }
