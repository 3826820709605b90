#!/bin/bash
# run-once.sh [--timeout SECONDS] [--out DIR] COMMAND...: boots a VM for COMMAND alone, for what would leave the shared VM's network
# broken. Prints the command's output, ends with its status, and copies what it left in /job/out to DIR.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

timeout_seconds=120
out_dir=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --timeout) timeout_seconds=$2 ;;
    --out) out_dir=$2 ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
(($# >= 1)) || die "usage: run-once.sh [--timeout SECONDS] [--out DIR] COMMAND..."

dir=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
clean_up() {
  "$guest_root/vm/down.sh" "$dir" || true
  rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
"$guest_root/vm/up.sh" --with-parent "$dir"
status=0
"$guest_root/vm/exec.sh" --timeout "$timeout_seconds" "$dir" "$@" || status=$?
if [[ -n $out_dir ]]; then
  mkdir -p "$out_dir"
  cp -r "$dir/out/." "$out_dir/"
fi
exit "$status"
