#!/bin/bash
# Everything ridge-measure does, on a machine with a GPU, step by step; each says how long it took.
# Usage: tools/measure_device.sh STEP...      results in $OUT, or in the folder measured/
#   quick    the profile of about a minute                   quick.toml
#   compare  products beside PyTorch's, turn by turn         compare.txt, compare.csv
#   model    prefill and decode of Llama-3.1-8B              model.toml
#   faults   memory, other processes, heat, errors           faults.txt (profiles in a temporary folder)
#   full     the profile of about ten minutes, as long as $FULL_LIMIT seconds allow (500)      full.toml
#   smoke    a minute of a bit of everything                 smoke.toml, smoke-model.toml
#   all      quick, compare, model, faults
# The program is built and its kernels are checked first. The board's settings are never touched.
set -u
cd "$(dirname "$0")/.." || exit 1
OUT=${OUT:-measured}
mkdir -p "$OUT"
program=${PROGRAM:-/tmp/ridge-measure}

find_libraries() {
  libraries=$(ldconfig -p 2>/dev/null | awk '/libcublasLt.so/ {print $NF; exit}' | xargs -r dirname)
  for folder in /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib; do
    [ -z "$libraries" ] && ls "$folder"/libcublasLt.so >/dev/null 2>&1 && libraries=$folder
  done
  headers=
  [ -e /usr/local/cuda/include/cublasLt.h ] || headers=$(find / -name cublasLt.h -not -path '/proc/*' 2>/dev/null | head -n 1 | xargs -r dirname)
  if [ -n "$headers" ]; then
    export NVCC_FLAGS="-I$headers"
    found=$(find "$(dirname "$headers")" / -name 'libcublasLt.so*' -not -path '/proc/*' 2>/dev/null | head -n 1)
    libraries=$(dirname "$found")
    for library in cublasLt cublas; do
      [ -e "$libraries/lib$library.so" ] || ln -sf "$(ls "$libraries/lib$library".so.* | head -n 1)" "/tmp/lib$library.so"
    done
    export NVCC_LINK="-L$libraries -L/tmp"
  fi
  [ -n "$libraries" ] && export LD_LIBRARY_PATH="$libraries:${LD_LIBRARY_PATH:-}"
  echo "cuBLAS in $libraries $headers"
}

build() {
  find_libraries
  [ -x "$program" ] && [ -z "$(find src/measure src/base include -newer "$program" -print -quit)" ] ||
    ARCH=90a sh src/measure/build.sh "$program" || exit 1
  timeout -k 15 60 "$program" check || echo "check failed: $?"
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.sm,power.limit,temperature.gpu --format=csv
}

quick() { timeout -k 15 200 "$program" --quick --out "$OUT/quick.toml"; }
full() { timeout -s INT -k 30 "${FULL_LIMIT:-500}" "$program" --full --out "$OUT/full.toml"; }
model() { timeout -s INT -k 30 "${MODEL_LIMIT:-420}" "$program" model --out "$OUT/model.toml"; }
compare() { timeout 200 python3 -u tools/measure_torch.py "$program" "$OUT/compare.csv" 2>&1 | tee "$OUT/compare.txt"; }

# Files that come back from a lent machine are few: the profiles of faults stay behind.
faults() {
  local folder clean=$OUT/quick.toml
  folder=$(mktemp -d)
  [ -e "$clean" ] || clean=data/profiles/h200-sxm.toml
  timeout 240 python3 -u tools/measure_faults.py "$program" "$folder" "$clean" 2>&1 | tee "$OUT/faults.txt"
  rm -rf "$folder"
}

smoke() {
  "$program" --quick --only memory,launch,host,layers,attention --out "$OUT/smoke.toml"
  printf 'bf16 4096 4096 14336\nbf16 4096 4096 14336\nfp8 64 4096 4096\nfp9 1 1 1\n' | "$program" products
  "$program" model --batch 1,64 --context 1024 --out "$OUT/smoke-model.toml"
}

step() {
  local began=$SECONDS
  echo "== $1 $(date +%T)"
  "$1" || echo "$1 ended with $?"
  echo "== $1 took $((SECONDS - began)) s"
}

steps=${*:-all}
[ "$steps" = all ] && steps="quick compare model faults"
for name in $steps; do
  case $name in
    quick | compare | model | faults | full | smoke) ;;
    *) echo "measure_device.sh: $name is no step: quick, compare, model, faults, full, smoke or all" >&2 && exit 1 ;;
  esac
done
step build
for name in $steps; do step "$name"; done
