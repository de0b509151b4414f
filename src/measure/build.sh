#!/bin/sh
# Builds ridge-measure with nvcc and nothing else: for GPU machines without CMake, packages or a network.
# Usage: src/measure/build.sh [OUTPUT]      (from anywhere; NVCC and ARCH may be set: ARCH=80, 90a, native, ...)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
output=${1:-$root/ridge-measure}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! [ -x "$nvcc" ]; then
  echo "build.sh: there is no nvcc: install the CUDA toolkit, or name it by NVCC=/path/to/nvcc" >&2
  exit 1
fi
arch=${ARCH:-}
if [ -z "$arch" ]; then
  arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d '.')
  arch=${arch:-90}
fi
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
# g++ 12 warns of vectors that are freed as they should be.
flags="-std=c++20 -O3 -Xcompiler=-Wno-free-nonheap-object -gencode=arch=compute_$arch,code=sm_$arch -I$root/include -I$root/src ${NVCC_FLAGS:-}"
for source in "$root"/src/measure/gpu/*.cu "$root"/src/measure/gpu/*.cpp "$root"/src/measure/*.cpp "$root"/src/base/*.cpp; do
  name=$(basename "$source")
  printf '%s %s -c %s -o %s/%s.o\n' "$nvcc" "$flags" "$source" "$objects" "$name"
done | xargs -P "$(nproc)" -I COMMAND sh -c COMMAND
# shellcheck disable=SC2086
"$nvcc" $flags "$objects"/*.o -o "$output" ${NVCC_LINK:-} -lcublasLt -lcublas -ldl
echo "built $output"
