#!/bin/bash
# supervise.sh DIR OWNER SECONDS COMMAND...: runs COMMAND (QEMU) in DIR until it ends, SECONDS are over, process OWNER is gone
# (0: no owner) or this script gets SIGTERM. So neither a killed ctest nor a hung guest leaves a QEMU behind.
set -uo pipefail
dir=$1 owner=$2 lifetime_seconds=$3
shift 3
cd "$dir" || exit 1

timeout -k 5 "$lifetime_seconds" "$@" &
children=("$!")
if [[ $owner != 0 ]]; then
  tail --pid="$owner" -f /dev/null &
  children+=("$!")
fi
trap 'kill "${children[@]}" 2>/dev/null' TERM EXIT
wait -n
kill "${children[@]}" 2>/dev/null
wait
