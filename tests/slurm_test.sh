#!/usr/bin/env bash
# The scripts of examples/slurm/ on a real Slurm of one node, made for this test in a folder of its own: an array whose
# parts are merged, and a job of several ranks, both with the bytes of one process; then jobs that `ridge emit` writes, with
# a stand-in for the engine that checks what it is given. Usage: slurm_test.sh RIDGE SOURCE
# Ends with 77 (skipped) where Slurm or munge is not installed, or this is not root.
set -euo pipefail
ridge=$1
source_folder=$2
for program in slurmctld slurmd sbatch munged; do
  command -v $program > /dev/null || { echo "$program is not there"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "slurmd needs root"; exit 77; }

folder=$(mktemp -d)
daemons=()
finish() {
  for pid in "${daemons[@]}"; do kill "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
chmod 755 "$folder"
mkdir -p "$folder"/{state,spool,parts,munge}
chmod 755 "$folder/munge"
port=$((20000 + 2 * (RANDOM % 6000)))

head -c 1024 /dev/urandom > "$folder/munge/key"
chmod 400 "$folder/munge/key"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" > "$folder/munged.out" 2>&1 &
daemons+=($!)

cat > "$folder/slurm.conf" <<CONF
ClusterName=ridge
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=1
GresTypes=gpu
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) Gres=gpu:h200-sxm:8 State=UNKNOWN
PartitionName=test Nodes=localhost Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:4
CONF
mkdir "$folder/dev"
touch "$folder"/dev/gpu{0..7}
echo "NodeName=localhost Name=gpu Type=h200-sxm File=$folder/dev/gpu[0-7]" > "$folder/gres.conf"
export SLURM_CONF=$folder/slurm.conf
slurmctld -D > "$folder/ctl.out" 2>&1 &
daemons+=($!)
slurmd -D -N localhost > "$folder/d.out" 2>&1 &
daemons+=($!)
for _ in $(seq 60); do
  sleep 0.5
  [ "$(sinfo -h -o %t 2> /dev/null)" = idle ] && break
done
[ "$(sinfo -h -o %t 2> /dev/null)" = idle ] || { cat "$folder"/*.log "$folder"/*.out; echo "Slurm does not start"; exit 1; }

PATH=$(dirname "$ridge"):$PATH
export PATH
cd "$folder"
cat > question.toml <<'TOML'
kind = "train"

[flags]
model = "llama3.1-8b"
devices = "h100-sxm,mi300x"
gpus = 64
space = "full"
TOML
answer() {
  python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["plans"] and d["front"]
d.pop("statistics")
print(json.dumps(d, indent=1))'
}
ridge plan question.toml --json | answer > one

wait_for() {  # job id
  for _ in $(seq 240); do
    [ -z "$(squeue -h -j "$1" 2> /dev/null)" ] && return 0
    sleep 0.5
  done
  squeue; cat "$folder"/*.log; echo "job $1 does not end"; return 1
}

job=$(sbatch --parsable --array=0-3 "$source_folder/examples/slurm/plan-array.sbatch" question.toml parts)
wait_for "$job"
[ "$(ls parts/*.sqlite | wc -l)" -eq 4 ] || { cat ./*.out; exit 1; }
ridge plan merge parts/*.sqlite --json | answer > merged
cmp one merged

# One task is lost with its file: sent again alone, the rest stays.
rm parts/2.sqlite
ridge plan merge parts/*.sqlite | tr "\n" " " | grep -q "75.0 % of the space is in these files"
job=$(sbatch --parsable --array=2 --export=ALL,SLURM_ARRAY_TASK_COUNT=4 --wrap \
  "ridge plan question.toml --shard 2/4 --results parts/2.sqlite --resume")
wait_for "$job"
ridge plan merge parts/*.sqlite --json | answer > again
cmp one again

if command -v mpirun > /dev/null; then
  export RIDGE_MPIRUN_FLAGS="--allow-run-as-root --oversubscribe"
  job=$(sbatch --parsable --ntasks=2 "$source_folder/examples/slurm/plan-mpi.sbatch" question.toml mpi.sqlite)
  wait_for "$job"
  [ -s mpi.sqlite ] || { cat ./*.out; exit 1; }
  grep -q "h100-sxm" "ridge-plan-mpi-$job.out" || { cat "ridge-plan-mpi-$job.out"; exit 1; }
  ridge plan merge mpi.sqlite --json | answer > ranks
  cmp one ranks
fi
echo "same bytes"

# Launch files: the job starts servers that answer at the addresses of the endpoint list, and fails when one is killed.
mkdir engine launch
cat > engine/vllm <<'PYTHON'
#!/usr/bin/env python3
"""Stands in for vLLM: refuses what a real one would, then answers."""
import http.server, os, sys

words = sys.argv[1:]
value = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i].startswith("--")}
assert words[0] == "serve" and words[1] == "nvidia/Llama-3.3-70B-Instruct-FP8", words
assert len(os.environ["CUDA_VISIBLE_DEVICES"].split(",")) == int(value["--tensor-parallel-size"]) == 2
assert value["--host"] == "0.0.0.0" and "--quantization" not in words and value["--gpu-memory-utilization"] == "0.9"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("devices " + os.environ["CUDA_VISIBLE_DEVICES"]).encode())

    def log_message(self, *_):
        pass


print("pid", os.getpid(), flush=True)
http.server.HTTPServer(("127.0.0.1", int(value["--port"])), Answer).serve_forever()
PYTHON
printf '#!/bin/sh\necho "$@" > trained; case " $* " in *" --nproc-per-node 8 pretrain_gpt.py "*" --save-interval "*) exit "${TORCHRUN_CODE:-0}";; esac; exit 9\n' > engine/torchrun
chmod +x engine/vllm engine/torchrun
export PATH=$folder/engine:$PATH
state() { scontrol -o show job "$1" | grep -o 'JobState=[A-Z]*'; }
ridge emit --for slurm --kind serve --model llama3.3-70b --device h200-sxm --gpus 4 --tp 2 --precision fp8 --partition test \
  --time 00:08:00 --out launch
job=$(PORT=$((port + 100)) sbatch --parsable launch/job.sbatch)
answered=
for _ in $(seq 120); do
  sleep 0.5
  [ -e endpoints.txt ] && [ "$(wc -l < endpoints.txt)" -eq 2 ] || continue
  answered=$(sed "s|http://[^:]*|http://127.0.0.1|" endpoints.txt | while read -r address; do
    python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1] + "/health", timeout=5).read().decode())' "$address" \
      2> /dev/null || true
  done)
  [ "$(echo "$answered" | grep -c devices)" -eq 2 ] && break
done
[ "$answered" = "devices 0,1
devices 2,3" ] || { echo "the endpoint list does not answer: $answered"; cat serve-*.log; exit 1; }
kill -9 "$(grep -m 1 -o 'pid [0-9]*' serve-*.log | cut -d' ' -f2)"
wait_for "$job"
[ "$(state "$job")" = JobState=FAILED ] || { scontrol show job "$job"; cat serve-*.log; echo "a killed server did not fail the job"; exit 1; }
grep -q "a server ended with code 137" serve-*.log || { cat serve-*.log; exit 1; }

ridge emit --for slurm --kind train --model llama3.1-8b --device h200-sxm --gpus 8 --tp 2 --global-batch 64 --partition test \
  --time 00:08:00 --out launch
job=$(DATA_PATH=/x CHECKPOINTS=/y sbatch --parsable launch/job.sbatch)
wait_for "$job"
[ "$(state "$job")" = JobState=COMPLETED ] || { cat train-*.log; exit 1; }
echo "launch files start, and fail when they should"
