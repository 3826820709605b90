#!/bin/bash
# A link that loses packets: UD and UC count what was sent and what arrived and report what arrived; RC repeats until the payload
# is right. Nothing hangs.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

netem_add "$client_netdev" loss 5%
loopback datagrams.json 0 --connection uc,ud --mtu 1K --size 512,1K --messages 500 --min-trials 2 --max-trials 2 \
  --arrangements 1 --no-verify
check_record datagrams.json measured 4
check_record datagrams.json lossy
netem_add "$client_netdev" loss 1% # at 5 % Soft-RoCE's own RC gets stuck
loopback reliable.json 0 "${short[@]}" --connection rc --operation send,write,read --mtu 1K --size 1K,4K
check_record reliable.json complete
