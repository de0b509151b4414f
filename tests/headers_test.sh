#!/usr/bin/env bash
# Every public header compiles alone, as the first thing a stranger includes: headers_test.sh ROOT C++ C
set -euo pipefail
root=$1 cxx=$2 cc=$3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
(cd "$root/include" && find ridge -name '*.hpp') | while read -r header; do
  echo "#include \"$header\"" > "$place/$(echo "$header" | tr / _).cpp"
done
find "$place" -name '*.cpp' -print0 | xargs -0 -n 4 -P "$(nproc)" "$cxx" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$root/include"
printf '#include "ridge.h"\n' > "$place/ridge.c"
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$root/src/app/c" "$place/ridge.c"
echo "$(find "$place" -name '*.cpp' | wc -l) headers and ridge.h compile alone"
