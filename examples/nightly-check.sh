#!/usr/bin/env bash
# For a nightly job: does the deployment still hold its limits at this rate? Exit code 3 if not.
#
#   nightly-check.sh RATE
set -euo pipefail
rate=${1:?usage: nightly-check.sh RATE}
ridge simulate --model llama3.3-70b --device h100-sxm --gpus 4 --tp 2 --precision fp8 \
  --isl 1000 --osl 250 --request-rate "$rate" --requests 2000 --ttft 1s --tpot 40ms --json |
  python3 -c '
import json, sys
answer = json.load(sys.stdin)
share = answer["good"] / answer["arrived"]
print(f"{100 * share:.0f} % of the requests hold TTFT 1 s and TPOT 40 ms")
sys.exit(0 if share >= 0.95 else 3)'
