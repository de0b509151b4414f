#!/usr/bin/env bash
# Every profile of buyers has a plan for loads from 1 request/s to 100,000, and more load costs no less.
# Usage: profile_loads_test.sh RIDGE
set -euo pipefail
ridge=$1
profiles=$({ "$ridge" plan serve --model llama3.1-8b --profile nobody 2>&1 || true; } | sed -n "s/.*is none of //p" | tr -d ",")
[ "$(wc -w <<< "$profiles")" -ge 3 ] || { echo "--profile names fewer than three"; exit 1; }
for profile in $profiles; do
  before="0 0"
  for rate in 1 30 1000 30000 100000; do
    now=$("$ridge" plan serve --model llama3.1-8b --isl 1000 --osl 250 --profile "$profile" --request-rate $rate \
      --devices l40s,h100-sxm,h200-sxm,mi300x --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["feasible"] and d["plans"], "no plan"
best = d["plans"][0]
assert best["gpus"] >= 1 and best["usd_per_hour"] > 0 and best["holds_probability"] >= 0.75, best
able = best["replicas"] * best["requests_per_replica_per_s"]
assert able >= best["request_rate_per_s"] == float(sys.argv[1]), (able, sys.argv[1])
print(best["gpus"], best["usd_per_hour"])' $rate) || { echo "$profile at $rate requests/s: no plan that holds"; exit 1; }
    python3 -c 'import sys
before, now = ([float(v) for v in text.split()] for text in sys.argv[1:])
assert now[1] >= before[1] and now[0] > 0, (before, now)' "$before" "$now" \
      || { echo "$profile at $rate requests/s costs less than a smaller load"; exit 1; }
    echo "$profile $rate requests/s: $now (GPUs, dollars an hour)"
    before=$now
  done
done
