#!/bin/bash
# A 1500-byte link has active MTU 1024, and two ports may disagree: what is above either is skipped with the reason, nothing hangs.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

link_mtu 1500
loopback small.json 0 "${short[@]}" --mtu 1K,2K --size 1K,64K
check_record small.json measured 2
check_record small.json skipped 2048 1024
check_record small.json proved

ip link set "$client_netdev" mtu 9000
ip link set "$server_netdev" mtu 9000
ip link set "$server_netdev" mtu 2200
assert_equal "active MTU of $server_device" 2048 "$(active_mtu "$server_device")"
assert_equal "active MTU of $client_device" 4096 "$(active_mtu "$client_device")"
loopback mismatch.json 0 "${short[@]}" --connection rc,ud --mtu 1K,2K,4K --size 1K,2K
check_record mismatch.json skipped 4096 2048
check_record mismatch.json measured 7
