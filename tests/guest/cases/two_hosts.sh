#!/bin/bash
# serve and sweep as two processes: every pattern, events and yielding polls, many queue pairs; the server serves again.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

start_serve
with_peer patterns.json 0 "${short[@]}" --connection rc,uc,ud --pattern stream,bidirectional,ping-pong \
  --mtu 1K,2K --size 1,1K
check_record patterns.json measured 36
check_record patterns.json proved
check_record patterns.json lossless
assert_status 0 validate.log "$MTUSCOPE" validate patterns.json

with_peer many.json 0 "${short[@]}" --qp 3 --tx-depth 16 --post-list 4 --cq-mod 5 --inline 64 --connection rc,uc,ud \
  --operation send,write,read --mtu 1K,4K --size 64,4K
check_record many.json complete
check_record many.json proved

assert_status 0 yield.log "$MTUSCOPE" sweep --peer "127.0.0.1:$server_port" --ib-dev "$client_device" --gid-index 0 \
  --wait yield --quiet --out yield.json "${short[@]}" --operation send,write,read --pattern stream,ping-pong --size 2K --mtu 2K
check_record yield.json measured 6
kill -TERM "$server_pid"
wait_for "$server_pid"
assert_equal "exit status of serve after SIGTERM" 0 "$background_status"
