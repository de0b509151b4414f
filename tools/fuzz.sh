#!/usr/bin/env bash
# Fuzzes the parsers: tools/fuzz.sh [TARGET|all] [EXECUTIONS], by default all of them, 1,000,000 executions each.
# Prints one line per target and fails if any has a finding; inputs that make one are kept in build/fuzz/findings/.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=${1:-all}
executions=${2:-1000000}
build=build/fuzz
mkdir -p build
cmake --preset fuzz > build/fuzz-configure.log 2>&1 || { cat build/fuzz-configure.log; exit 1; }
mapfile -t targets < <(sed -n 's/^ridge_fuzz(\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt)
failed=0
found=0
for target in "${targets[@]}"; do
  [ "$wanted" = all ] || [ "$wanted" = "$target" ] || [ "$wanted" = "fuzz_$target" ] || continue
  found=1
  cmake --build "$build" --target "fuzz_$target" > build/fuzz-build.log 2>&1 || { cat build/fuzz-build.log; exit 1; }
  seeds=tests/fuzz/corpus/$target
  grown=$build/corpus/$target
  findings=$build/findings/$target
  log=$build/fuzz_$target.log
  mkdir -p "$grown" "$findings"
  dictionary=()
  [ -f "tests/fuzz/$target.dict" ] && dictionary=("-dict=tests/fuzz/$target.dict")
  start=$(date +%s)
  status=0
  program=$(find "$build" -type f -name "fuzz_$target" -perm -u+x | head -1)
  "$program" -runs="$executions" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$findings/" "${dictionary[@]}" "$grown" "$seeds" > "$log" 2>&1 || status=$?
  done_=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-16s %12s executions  %5s s  %s\n' "$target" "${done_:-?}" "$(($(date +%s) - start))" \
    "$([ $status -eq 0 ] && echo 'no finding' || echo "FINDING, see $log and $findings/")"
  [ $status -eq 0 ] || failed=1
done
[ $found -eq 1 ] || { echo "there is no fuzz target '$wanted'; there are: ${targets[*]}" >&2; exit 1; }
exit $failed
