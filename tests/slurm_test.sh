#!/usr/bin/env bash
# The scripts of examples/slurm/ on a real Slurm of one node, made for this test in a folder of its own: an array whose
# parts are merged, and a job of several ranks, both with the bytes of one process. Usage: slurm_test.sh RIDGE SOURCE
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
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=test Nodes=localhost Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:4
CONF
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
