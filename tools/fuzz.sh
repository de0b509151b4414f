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
# As long as it takes to say everything that a target understands, since short inputs run faster.
longest() {
  case $1 in
    quantity | values) echo 48 ;;
    model_spec) echo 128 ;;
    claims) echo 160 ;;
    csv | trace | stream | body | api) echo 256 ;;
    estate | launch) echo 1024 ;;
    results) echo 5120 ;; # a database of ten pages
    *) echo 512 ;;
  esac
}
# Freed memory is kept from reuse for a while, but not so much of it that it leaves the cache. Where memory came from is
# not written down at every allocation, which takes a fifth of the time: a finding that is run again by itself says it.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=1:thread_local_quarantine_size_kb=64:malloc_context_size=1}
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
  # Weighing seeds by how rare their features are takes a third of the time of rich targets and found no more.
  "$program" -entropic=0 -runs="$executions" -max_len="$(longest "$target")" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$findings/" "${dictionary[@]}" "$grown" "$seeds" > "$log" 2>&1 || status=$?
  done_=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-16s %12s executions  %5s s  %s\n' "$target" "${done_:-?}" "$(($(date +%s) - start))" \
    "$([ $status -eq 0 ] && echo 'no finding' || echo "FINDING, see $log and $findings/")"
  [ $status -eq 0 ] || failed=1
done
[ $found -eq 1 ] || { echo "there is no fuzz target '$wanted'; there are: ${targets[*]}" >&2; exit 1; }
exit $failed
