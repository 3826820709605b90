# What guest cases share; sourced at the top of a case, which runs inside the guest. See ../README.md.
# A case starts with two idle devices at link MTU 9000; the exit trap below brings that state back whatever happened.
# shellcheck shell=bash disable=SC2034 # variables are for the cases
set -euo pipefail

readonly server_device=rxe0 client_device=rxe1 server_netdev=v0 client_netdev=v1
readonly server_ip=10.99.0.1 client_ip=10.99.0.2
readonly default_link_mtu=9000
# Patience for one step, in guest seconds. Generous: it is there to end what hangs, not to judge speed.
readonly step_seconds=60
# Processes started by start_server and start_perftest_server, ended when the case ends.
background_pids=()

# --- outcome ---------------------------------------------------------------------------------------------------------------

fail() {
  printf 'FAILED: %s (%s line %s)\n' "$*" "${BASH_SOURCE[-1]}" "${BASH_LINENO[-2]}" >&2
  exit 1
}

# assert_equal WHAT EXPECTED ACTUAL
assert_equal() {
  [[ $2 == "$3" ]] || fail "$1: expected $2, got $3"
}

# assert_between WHAT LOW HIGH ACTUAL: decimal numbers, bounds included.
assert_between() {
  awk -v low="$2" -v high="$3" -v actual="$4" 'BEGIN { exit !(actual + 0 >= low + 0 && actual + 0 <= high + 0) }' ||
    fail "$1: expected $2 to $3, got $4"
}

# assert_contains WHAT TEXT FILE
assert_contains() {
  grep -qF -- "$2" "$3" || { cat "$3" >&2; fail "$1: \"$2\" is not in the output above"; }
}

# assert_status EXPECTED LOG COMMAND...: runs COMMAND within step_seconds, output to LOG, and checks its exit status.
assert_status() {
  local expected=$1 log=$2 status=0
  shift 2
  timeout -k 5 "$step_seconds" "$@" >"$log" 2>&1 || status=$?
  [[ $status == "$expected" ]] || { cat "$log" >&2; fail "$1: expected exit status $expected, got $status"; }
}

# --- waiting -----------------------------------------------------------------------------------------------------------------

# Waits SECONDS without starting a process (a fork costs the guest more than the wait) by reading what never comes.
pause() {
  if [[ -z ${pause_fd:-} ]]; then
    mkfifo "$TMPDIR/.never.$$"
    exec {pause_fd}<>"$TMPDIR/.never.$$"
    rm "$TMPDIR/.never.$$"
  fi
  read -r -t "$1" -u "$pause_fd" || true
}

# True if some process listens on TCP PORT (IPv4 or IPv6).
is_listening() {
  local port_hex table local_address state
  printf -v port_hex '%04X' "$1"
  for table in /proc/net/tcp /proc/net/tcp6; do
    while read -r _ local_address _ state _; do
      [[ $local_address == *:$port_hex && $state == 0A ]] && return
    done <"$table"
  done
  return 1
}

# wait_until_listening PORT PID LOG: for servers that print nothing in time (perftest buffers its output).
wait_until_listening() {
  local port=$1 pid=$2 log=$3 end=$((SECONDS + step_seconds))
  until is_listening "$port"; do
    kill -0 "$pid" 2>/dev/null || { cat "$log" >&2; fail "the server ended before it listened on port $port"; }
    ((SECONDS < end)) || fail "no server on port $port after $step_seconds s"
    pause 0.02
  done
}

# start_server LOG PATTERN COMMAND...: starts COMMAND in the background and waits for an output line that matches the extended
# regular expression PATTERN. Sets server_pid and, if PATTERN has a group, server_port to what it matched. LOG gets the output.
start_server() {
  local log=$1 pattern=$2 fifo line
  shift 2
  fifo=$(mktemp -u)
  mkfifo "$fifo"
  "$@" >"$fifo" 2>&1 &
  server_pid=$!
  background_pids+=("$server_pid")
  exec {output_fd}<"$fifo"
  rm "$fifo"
  : >"$log"
  while read -r -t "$step_seconds" -u "$output_fd" line; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ $pattern ]]; then
      server_port=${BASH_REMATCH[1]:-}
      # Something must read on, or the server blocks when the pipe is full.
      cat <&"$output_fd" >>"$log" &
      exec {output_fd}<&-
      return
    fi
  done
  cat "$log" >&2
  fail "$1 printed no line that matches \"$pattern\""
}

# wait_for PID: waits for a background process within step_seconds; sets background_status (124: it had to be killed).
wait_for() {
  local end=$((SECONDS + step_seconds))
  while kill -0 "$1" 2>/dev/null && ((SECONDS < end)); do pause 0.05; done
  if kill -KILL "$1" 2>/dev/null; then
    wait "$1" 2>/dev/null || true
    background_status=124
  else
    background_status=0
    wait "$1" || background_status=$?
  fi
}

# --- network -----------------------------------------------------------------------------------------------------------------

# link_mtu BYTES: sets both ends of the link. The ports' active MTU follows: from 4176 on 4096, 2128 -> 2048, 1104 -> 1024,
# 592 -> 512, less -> 256.
link_mtu() {
  ip link set "$server_netdev" mtu "$1"
  ip link set "$client_netdev" mtu "$1"
}

# active_mtu DEVICE: prints the port's active MTU in bytes.
active_mtu() {
  ibv_devinfo -d "$1" | awk '/active_mtu:/ { print $2 }'
}

# netem_add NETDEV ARGUMENTS...: e.g. netem_add v1 rate 50mbit, or: netem_add v1 loss 1%. Works on what NETDEV sends.
netem_add() {
  local netdev=$1
  shift
  tc qdisc replace dev "$netdev" root netem "$@"
}

netem_del() {
  tc qdisc del dev "$1" root 2>/dev/null || true
}

# counter DEVICE NAME: prints a Soft-RoCE counter (sent_pkts, rcvd_pkts, ...), which the kernel refreshes every 10 ms.
counter() {
  pause 0.03
  cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

restore_guest() {
  local status=$? pid netdev
  for pid in "${background_pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  for netdev in "$server_netdev" "$client_netdev"; do
    netem_del "$netdev"
    ip link set "$netdev" up mtu "$default_link_mtu" || true
  done
  exit "$status"
}
trap restore_guest EXIT

# --- perftest ----------------------------------------------------------------------------------------------------------------

readonly perftest_port=18515

# run_perftest TEST MTU SIZE MESSAGES [ARGUMENTS...]: server on rxe0, client on rxe1. Sets perftest_mibps (perftest's "MB/sec" is
# 2^20 bytes), perftest_mpps (10^6 messages/s) and leaves the client's output in perftest_client.log. GID index: $gid_index or 0.
run_perftest() {
  local test=$1 mtu=$2 size=$3 messages=$4 server
  shift 4
  local -a arguments=(-x "${gid_index:-0}" -p "$perftest_port" -m "$mtu" -s "$size" -n "$messages" -F "$@")
  timeout -k 5 "$step_seconds" "$test" -d "$server_device" "${arguments[@]}" >perftest_server.log 2>&1 &
  server=$!
  background_pids+=("$server")
  wait_until_listening "$perftest_port" "$server" perftest_server.log
  assert_status 0 perftest_client.log "$test" -d "$client_device" "${arguments[@]}" 127.0.0.1
  wait_for "$server"
  assert_equal "exit status of the $test server" 0 "$background_status"
  read -r perftest_mibps perftest_mpps < <(awk -v size="$size" '$1 == size && NF >= 5 { print $4, $5 }' perftest_client.log) ||
    { cat perftest_client.log >&2; fail "$test printed no result line for size $size"; }
  # perftest prints 0.00 with status 0 when its clock calibration fails.
  assert_between "bandwidth printed by $test" 0.01 1e9 "$perftest_mibps"
}
