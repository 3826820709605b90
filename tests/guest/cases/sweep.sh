# What cases that run mtuscope share; sourced after lib.sh. MTUSCOPE is the program under test.
# shellcheck shell=bash disable=SC2034,SC2154 # variables come from lib.sh or are for the cases

check_record() {
  "$(dirname "${BASH_SOURCE[0]}")/check_record.py" "$@" || fail "check_record $*"
}

# Short runs: behaviour, not figures. Cases that judge figures set their own.
readonly short=(--min-trials 1 --max-trials 1 --arrangements 1 --messages 20)
# One CPU serves both ends, so waiting must give it away.
readonly ends=(--ib-dev "$client_device" --gid-index 0 --events --quiet)

# loopback RECORD STATUS ARGUMENTS...: both ends in one process, client_device to server_device.
loopback() {
  local record=$1 status=$2
  shift 2
  assert_status "$status" sweep.log "$MTUSCOPE" sweep --loopback "${ends[@]}" --peer-ib-dev "$server_device" \
    --peer-gid-index 0 --out "$record" "$@"
}

# start_serve: a server on server_device; its port is in server_port.
start_serve() {
  start_server serve.log 'port ([0-9]+)$' "$MTUSCOPE" serve --port 0 --ib-dev "$server_device" --gid-index 0
}

# with_peer RECORD STATUS ARGUMENTS...: against the server start_serve has started.
with_peer() {
  local record=$1 status=$2
  shift 2
  assert_status "$status" sweep.log "$MTUSCOPE" sweep --peer "127.0.0.1:$server_port" "${ends[@]}" --out "$record" "$@"
}
