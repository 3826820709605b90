#!/bin/bash
# In the guest: perftest and mtuscope over the same devices, GID, depth and CQ moderation, taking turns. See ../compare_perftest.sh.
# Leaves /job/out/perftest.tsv and one mtuscope record per test and repeat. Needs compare_repeats, compare_tests, compare_mtus,
# compare_sizes as MTUSCOPE_COMPARE_* and, unless perftest alone is wanted, MTUSCOPE.
# shellcheck source=../cases/lib.sh
source "$MTUSCOPE_COMPARE_CASES/lib.sh"

# What perftest takes by itself for 4000 messages or more; given explicitly so that both tools use the same.
readonly tx_depth=128 rx_depth=512
# perftest's rule: one completion per 100 messages, except for polled messages above 8 KiB (one each).
readonly moderated=100 unmoderated_above_bytes=8192
read -r -a mtus <<<"$MTUSCOPE_COMPARE_MTUS"
read -r -a sizes <<<"$MTUSCOPE_COMPARE_SIZES"

# About a second of traffic, and enough messages that the start does not show.
messages_for() {
  local count=$((40 * 1048576 / $1))
  ((count >= 500)) || count=500
  ((count <= 4000)) || count=4000
  echo "$count"
}

# cq_mod_for TEST SIZE
cq_mod_for() {
  if [[ $1 == write && $2 -gt $unmoderated_above_bytes ]]; then echo 1; else echo "$moderated"; fi
}

sizes_for() { # TEST MTU
  if [[ $1 == ud ]]; then echo "$2"; else echo "${sizes[@]}"; fi
}

perftest_pass() { # TEST REPEAT
  local test=$1 repeat=$2 mtu size cq_mod program
  local -a arguments
  case $test in
    send) program=ib_send_bw arguments=(-e -r "$rx_depth") ;;
    ud) program=ib_send_bw arguments=(-e -c UD -r "$rx_depth") ;;
    read) program=ib_read_bw arguments=(-e) ;;
    write) program=ib_write_bw arguments=() ;;
  esac
  for mtu in "${mtus[@]}"; do
    for size in $(sizes_for "$test" "$mtu"); do
      cq_mod=$(cq_mod_for "$test" "$size")
      run_perftest "$program" "$mtu" "$size" "$(messages_for "$size")" -t "$tx_depth" -Q "$cq_mod" "${arguments[@]}"
      printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
        "$test" "$mtu" "$size" "$cq_mod" "$repeat" "$perftest_mibps" "$perftest_mpps" | tee -a /job/out/perftest.tsv
    done
  done
}

# mtuscope_sweep RECORD ARGUMENTS...: two processes, as perftest's are.
mtuscope_sweep() {
  local record=$1
  shift
  start_server serve.log 'port ([0-9]+)$' "$MTUSCOPE" serve --port 0 --ib-dev "$server_device" --gid-index 0
  "$MTUSCOPE" sweep --peer "127.0.0.1:$server_port" --ib-dev "$client_device" --gid-index 0 \
    --tx-depth "$tx_depth" --rx-depth "$rx_depth" --post-list 1 --inline 0 --arrangements 1 --min-trials 3 --max-trials 3 \
    --quiet --out "$record" "$@"
  kill -TERM "$server_pid" 2>/dev/null || true
  wait_for "$server_pid"
}

join_by_comma() {
  local IFS=,
  echo "$*"
}

mtuscope_pass() { # TEST REPEAT
  local test=$1 repeat=$2 size cq_mod
  local -a arguments moderated_sizes=() other_sizes=()
  case $test in
    send) arguments=(--connection rc --operation send --events) ;;
    ud) arguments=(--connection ud --operation send --events --no-flow-control) ;; # perftest has none
    read) arguments=(--connection rc --operation read --events) ;;
    write) arguments=(--connection rc --operation write --wait spin) ;;
  esac
  for size in $([[ $test == ud ]] && echo "${mtus[@]}" || echo "${sizes[@]}"); do
    if [[ $(cq_mod_for "$test" "$size") == 1 ]]; then other_sizes+=("$size"); else moderated_sizes+=("$size"); fi
  done
  for cq_mod in "$moderated" 1; do
    local -a group=("${moderated_sizes[@]}")
    [[ $cq_mod != 1 ]] || group=("${other_sizes[@]}")
    ((${#group[@]})) || continue
    mtuscope_sweep "/job/out/mtuscope.$test.$cq_mod.$repeat.json" "${arguments[@]}" --cq-mod "$cq_mod" \
      --mtu "$(join_by_comma "${mtus[@]}")" --size "$(join_by_comma "${group[@]}")"
  done
}

for ((repeat = 0; repeat < MTUSCOPE_COMPARE_REPEATS; repeat++)); do
  for test in $MTUSCOPE_COMPARE_TESTS; do
    if [[ -z ${MTUSCOPE:-} ]]; then
      perftest_pass "$test" "$repeat"
    elif ((repeat % 2)); then # A B B A
      mtuscope_pass "$test" "$repeat"
      perftest_pass "$test" "$repeat"
    else
      perftest_pass "$test" "$repeat"
      mtuscope_pass "$test" "$repeat"
    fi
  done
done
