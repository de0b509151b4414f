#!/bin/bash
# Everything ridge-measure does, on a machine with a GPU: build, check, profile, comparison with PyTorch, whole models.
# Usage: tools/measure_device.sh [smoke|all]      results in $OUT, or in the folder measured/
set -u
cd "$(dirname "$0")/.."
OUT=${OUT:-measured}
mkdir -p "$OUT"
what=${1:-all}
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
echo "== build $(date +%T) (cuBLAS in $libraries $headers)"
ARCH=90a sh src/measure/build.sh /tmp/ridge-measure || exit 1
echo "== check $(date +%T)"
timeout -k 15 60 /tmp/ridge-measure check || echo "check failed: $?"
if [ "$what" = smoke ]; then
  /tmp/ridge-measure --quick --only memory,launch,host,layers,attention --out "$OUT/smoke.toml" || echo "failed: $?"
  /tmp/ridge-measure --quick --only sustained,experts --out "$OUT/smoke2.toml" || echo "failed: $?"
  /tmp/ridge-measure model --batch 1,64 --context 1024 --phase decode,prefill --out "$OUT/smoke-model.toml" || echo "failed: $?"
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.sm,power.limit,temperature.gpu --format=csv
  exit 0
fi
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.sm,power.limit,temperature.gpu --format=csv
echo "== quick $(date +%T)"
timeout -k 15 200 /tmp/ridge-measure --quick --out "$OUT/quick.toml" || echo "failed: $?"
echo "== torch $(date +%T)"
timeout 110 python3 -u tools/measure_torch.py "$OUT/quick.toml" /tmp/ridge-measure 2>&1 | tee "$OUT/torch.txt"
echo "== model $(date +%T)"
timeout -k 15 215 /tmp/ridge-measure model --out "$OUT/model.toml" || echo "failed: $?"
echo "== done $(date +%T)"
