#!/usr/bin/env bash
# The cheapest device for each of several loads: which-device.sh MODEL RATE...
set -euo pipefail
model=${1:?usage: which-device.sh MODEL RATE...}
shift
for rate in "$@"; do
  ridge plan serve --model "$model" --request-rate "$rate" --isl 1000 --osl 250 --ttft 1s --tpot 40ms \
    --devices h100-sxm,h200-sxm,b200-sxm-180,mi300x --json |
    python3 -c '
import json, sys
best = json.load(sys.stdin)["plans"][0]
count, device = best["gpus"], best["device"]
price = best["usd_per_million_output_tokens"]["mid"]
print(f"{sys.argv[1]} requests/s: {count} x {device}, ${price:.2f} per million output tokens")' "$rate"
done
