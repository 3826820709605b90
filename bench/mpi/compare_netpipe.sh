#!/usr/bin/env bash
# Compares mtuscope-mpi with NetPIPE's MPI program between two ranks of this machine, run by turns, and prints a table.
# usage: bench/mpi/compare_netpipe.sh [--rounds N] [--program build/release/bench/mpi/mtuscope-mpi] [--pattern ping-pong|stream]
# Needs the package netpipe-openmpi, and an otherwise idle machine of two CPUs. As root, mpirun wants to be told so:
# OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1. What is compared with what: compare_netpipe.py.
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly source_root

for program in mpirun NPopenmpi python3; do
  command -v "$program" >/dev/null || {
    printf '%s: %s is not installed: apt-get install netpipe-openmpi openmpi-bin python3\n' "$(basename "$0")" "$program" >&2
    exit 2
  }
done
exec python3 "$source_root/bench/mpi/compare_netpipe.py" --program "$source_root/build/release/bench/mpi/mtuscope-mpi" "$@"
