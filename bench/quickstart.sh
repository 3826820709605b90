#!/usr/bin/env bash
# From a fresh Debian 12 to a first result: installs, builds, measures bandwidth per message size under each path MTU,
# and compares with the table posted in 2006. May be run again at any time. Ends non-zero if any step fails.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

readonly mtuscope=$source_root/build/quickstart/bench/cli/mtuscope
readonly record=$source_root/build/quickstart/record.json

# True if the kernel knows an RDMA device with a port that is up.
has_active_port() {
  grep -qs ACTIVE /sys/class/infiniband/*/ports/*/state
}

main() {
  local -a job
  install_packages build
  printf 'building (release) ...\n'
  build_preset quickstart
  if has_active_port; then
    printf '\n*** REAL DEVICE: measuring an RDMA device of this host in loopback ***\n\n'
    job=(--loopback --max-time 10min)
  else
    printf '\n*** MODEL, NOT A MEASUREMENT: no RDMA device with an active port here; running model:tavor ***\n\n'
    job=(--backend model:tavor --connection mpi --header 50)
  fi
  # The posted sizes too, so that every posted point meets one of ours.
  "$mtuscope" sweep "${job[@]}" --size default,posted:tavor-mpi-2006 --out "$record" --overwrite
  printf '\n'
  "$mtuscope" compare "$record" --to tavor-mpi-2006
  printf '\nrecord: %s\n' "$record"
}

main "$@"
