#!/usr/bin/env bash
# Installs the build into an empty folder, builds tests/consumer against it and runs it: check.sh BUILD_DIR
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$build" --prefix "$place/installed" > "$place/install.log" 2>&1 || { cat "$place/install.log"; exit 1; }
cmake -S "$here" -B "$place/build" -DCMAKE_PREFIX_PATH="$place/installed" > "$place/configure.log" 2>&1 ||
  { cat "$place/configure.log"; exit 1; }
cmake --build "$place/build"
env -u RIDGE_DATA "$place/build/consumer"
