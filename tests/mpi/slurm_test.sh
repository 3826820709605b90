#!/usr/bin/env bash
# mtuscope-mpi under Slurm: a cluster of one node, on loopback and in a folder of its own, in which srun starts two tasks that measure,
# and sbatch runs the documented job. The programs come in MTUSCOPE and MTUSCOPE_MPI. Everything started here is ended here.
set -euo pipefail
readonly patience_seconds=60
documented_job=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../docs/examples/mpi.sbatch")
readonly documented_job
export PATH=$PATH:/usr/sbin

folder=$(mktemp -d)
pids=()
finish() {
  local status=$? pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  if ((status != 0)); then tail -n 20 "$folder"/*.log >&2; fi
  rm -rf "$folder"
  exit "$status"
}
trap finish EXIT

# run NAME COMMAND...: starts a daemon in the foreground, its words in NAME.log.
run() {
  local name=$1
  shift
  "$@" >"$folder/$name.out" 2>&1 &
  pids+=($!)
}

# wait_until WHAT COMMAND...: until COMMAND succeeds.
wait_until() {
  local what=$1 end=$((SECONDS + patience_seconds))
  shift
  until "$@"; do
    ((SECONDS < end)) || { printf '%s: not within %d s\n' "$what" "$patience_seconds" >&2; exit 1; }
    sleep 0.2
  done
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

head -c 1024 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
run munged munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
  --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/munge.seed"
wait_until munged test -S "$folder/munge.socket"

node=$(hostname -s)
user=$(id -un)
mkdir "$folder/state" "$folder/spool"
cat >"$folder/slurm.conf" <<CONF
ClusterName=mtuscope
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=pmix
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
run slurmctld slurmctld -D -f "$SLURM_CONF"
run slurmd slurmd -D -f "$SLURM_CONF"
is_idle() { [[ $(sinfo -h -o %T 2>/dev/null) == idle ]]; }
wait_until "a node that is idle" is_idle

cd "$folder"
readonly quick=(--size 64,4K --messages 50 --min-trials 2 --max-trials 2 --arrangements 2)
timeout "$patience_seconds" srun --overcommit -n 2 "$MTUSCOPE_MPI" --quiet sweep "${quick[@]}" --out srun.json
"$MTUSCOPE" validate srun.json

# The job of the documentation wants two nodes; this cluster has one.
PATH=$(dirname "$MTUSCOPE"):$(dirname "$MTUSCOPE_MPI"):$PATH timeout "$patience_seconds" \
  sbatch --wait --nodes=1 --ntasks-per-node=2 --overcommit --output=job.log "$documented_job" "${quick[@]}" --env 'SEEN={rank}'
"$MTUSCOPE" validate mtuscope-*.json
grep -q '"complete":true' mtuscope-*.json
