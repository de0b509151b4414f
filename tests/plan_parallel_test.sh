#!/usr/bin/env bash
# One process, three ranks, four shards merged, and a run that was killed and resumed: the same bytes outside
# `statistics`. Usage: plan_parallel_test.sh RIDGE
set -euo pipefail
ridge=$1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
question=(plan train --model llama3.1-70b --gpus 512 --devices h100-sxm,mi300x --precision bf16 --space full)

answer() {  # standard input without what depends on clock and ranks
  python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["plans"] and d["front"], "an answer has plans and a front"
d.pop("statistics")
print(json.dumps(d, indent=1))'
}

"$ridge" "${question[@]}" --threads 1 --json | answer > one
"$ridge" "${question[@]}" --threads 3 --exhaustive --json | answer > exhaustive
cmp one exhaustive

for part in 0 1 2 3; do
  "$ridge" "${question[@]}" --shard $part/4 --results part-$part.sqlite --json > /dev/null
done
"$ridge" plan merge part-3.sqlite part-0.sqlite part-2.sqlite part-1.sqlite --json | answer > merged
cmp one merged

# Killed without warning half-way, then resumed. Slow enough to be caught: one thread, nothing pruned.
"$ridge" "${question[@]}" --exhaustive --threads 1 --results run.sqlite --json > /dev/null &
victim=$!
for _ in $(seq 100); do
  sleep 0.1
  [ "$(python3 - <<'PY'
import sqlite3
try:
    print(sqlite3.connect("run.sqlite", timeout=1).execute("SELECT COUNT(*) FROM done").fetchone()[0])
except sqlite3.OperationalError:
    print(0)
PY
)" != 0 ] && break
done
kill -KILL $victim 2> /dev/null || true
wait $victim 2> /dev/null || true
"$ridge" "${question[@]}" --exhaustive --results run.sqlite --resume --json > resumed.json
answer < resumed.json > resumed
cmp one resumed
python3 - <<'PY'
import json
s = json.load(open("resumed.json"))["statistics"]
assert s["evaluated"] < s["candidates"], "the resumed run began anew"
PY

# Another question is not resumed.
if "$ridge" plan train --model llama3.1-8b --gpus 64 --results run.sqlite --resume 2> refused; then exit 1; fi
grep -q "another question" refused

if command -v mpirun > /dev/null; then
  ranks=(mpirun --oversubscribe -n 3)
  [ "$(id -u)" -eq 0 ] && ranks+=(--allow-run-as-root)
  "${ranks[@]}" "$ridge" "${question[@]}" --json > ranks.json
  answer < ranks.json > ranks
  cmp one ranks
  # A rank that is killed ends the job; the next run goes on with what every rank had done.
  "${ranks[@]}" "$ridge" "${question[@]}" --exhaustive --threads 1 --results ranks.sqlite --json > /dev/null 2>&1 &
  job=$!
  for _ in $(seq 100); do
    sleep 0.1
    [ -s ranks.rank-1.sqlite ] && break
  done
  sleep 1
  pids=$(pgrep -P $job 2> /dev/null | tail -1 || true)
  [ -n "$pids" ] && kill -KILL $pids 2> /dev/null || true
  wait $job 2> /dev/null || true
  "${ranks[@]}" "$ridge" "${question[@]}" --exhaustive --results ranks.sqlite --resume --json | answer > ranks_resumed
  cmp one ranks_resumed
  ! ls ranks.rank-*.sqlite 2> /dev/null
  # The ways to serve an estate, found by three ranks: the same plan.
  estate=$here/../examples/fleet/domestic.toml
  fleet() { python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["found"] and d["placements"], "an answer has placements"
d.pop("statistics")
print(json.dumps(d, indent=1))'; }
  "$ridge" plan fleet "$estate" --json | fleet > fleet_one
  "${ranks[@]}" "$ridge" plan fleet "$estate" --json | fleet > fleet_ranks
  cmp fleet_one fleet_ranks
else
  echo "mpirun is not there: ranks were not tested"
fi
echo "same bytes"
