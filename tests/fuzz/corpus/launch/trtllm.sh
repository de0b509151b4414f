#!/usr/bin/env bash
# serve llama3.3-70b on 8 x h200-sxm: TP 2 replicas 4
# ridge: device=h200-sxm gpus_per_node=8 model=llama3.3-70b weights=fp8
set -euo pipefail

NODES=1
echo "$NODES node"
OPTIONS=$(mktemp)
{
  echo kv_cache_config:
  echo '  ' dtype: fp8
} > "$OPTIONS"
REPLICAS=4
GPUS_PER_REPLICA=2
for ((replica = 0; replica < REPLICAS; replica++)); do
  first=$((replica * GPUS_PER_REPLICA))
  devices=$(seq -s, "$first" $((first + GPUS_PER_REPLICA - 1)))
  CUDA_VISIBLE_DEVICES="$devices" trtllm-serve serve llama3.3-70b \
    --port $((8000 + replica)) \
    --tp_size 2 \
    --extra_llm_api_options "$OPTIONS" \
    &
done
wait
