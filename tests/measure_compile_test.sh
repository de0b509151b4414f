#!/bin/sh
# A kernel file and the two host files of ridge-measure that include most of its headers, compiled for one GPU; with the
# headers of HIP, the files that the shim makes ready for it. Without nvcc, or without its libraries' headers: skipped (77).
# Usage: measure_compile_test.sh SOURCE-FOLDER [NVCC]
set -u
root=$1
nvcc=${2:-}
if ! [ -x "$nvcc" ]; then
  echo "skipped: there is no nvcc, so ridge-measure cannot be compiled here"
  exit 77
fi
if ! [ -e "$(dirname "$nvcc")/../include/cublasLt.h" ]; then
  echo "skipped: $nvcc has no cuBLASLt beside it"
  exit 77
fi
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
failed=0
for source in bytes.cu gemm.cpp model_run.cpp; do
  if "$nvcc" -std=c++20 -gencode=arch=compute_90a,code=sm_90a -Werror all-warnings -I"$root/include" -I"$root/src" \
    -c "$root/src/measure/gpu/$source" -o "$objects/$source.o"; then
    echo "$source: compiled"
  else
    failed=1
  fi
done
for hip in /opt/rocm/include /usr/include; do
  [ -e "$hip/hip/hip_runtime.h" ] || continue
  c++ -std=c++20 -fsyntax-only -DRIDGE_HIP -D__HIP_PLATFORM_AMD__ -isystem "$hip" -I"$root/include" -I"$root/src" \
    "$root/src/measure/gpu/timing.cpp" && echo "timing.cpp: compiled with the headers of HIP" || failed=1
  break
done
exit $failed
