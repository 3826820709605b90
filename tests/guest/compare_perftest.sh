#!/bin/bash
# compare_perftest.sh [OPTIONS] OUT_DIR: bandwidth of mtuscope against perftest's, in the guest under -icount, in one boot, in turns,
# with the same devices, GID, depths, CQ moderation and way of waiting. Raw results and the table of ratios go to OUT_DIR.
#   --mtuscope FILE   the built program; without it perftest alone is measured
#   --repeats N       rounds (3)
#   --tests LIST      of send (RC, events), read (RC, events), write (RC, polling), ud (events, size = MTU); default all
#   --mtus LIST, --sizes LIST   in bytes
#   --timeout SECONDS for everything in the guest (3000)
set -euo pipefail
# shellcheck source=vm/common.sh
source "$(dirname "$0")/vm/common.sh"

export MTUSCOPE='' MTUSCOPE_COMPARE_REPEATS=3 MTUSCOPE_COMPARE_TESTS="send read write ud" MTUSCOPE_COMPARE_MTUS="1024 2048 4096"
export MTUSCOPE_COMPARE_SIZES="64 128 256 512 1024 2048 4096 8192 16384 32768 65536"
export MTUSCOPE_COMPARE_CASES=$guest_root/cases
timeout_seconds=3000
while [[ ${1:-} == --* ]]; do
  case $1 in
    --mtuscope) MTUSCOPE=$(realpath -e "$2") ;;
    --repeats) MTUSCOPE_COMPARE_REPEATS=$2 ;;
    --tests) MTUSCOPE_COMPARE_TESTS=${2//,/ } ;;
    --mtus) MTUSCOPE_COMPARE_MTUS=${2//,/ } ;;
    --sizes) MTUSCOPE_COMPARE_SIZES=${2//,/ } ;;
    --timeout) timeout_seconds=$2 ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
(($# == 1)) || die "usage: compare_perftest.sh [OPTIONS] OUT_DIR"
"$guest_root/vm/run-once.sh" --timeout "$timeout_seconds" --out "$1" "$guest_root/inside/compare_perftest.sh"
python3 "$guest_root/compare_perftest.py" "$1" | tee "$1/table.txt"
