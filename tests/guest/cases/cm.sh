#!/bin/bash
# --connect cm: librdmacm resolves and connects over IPv4, our path MTU is set after it, read back and proved; the route's is kept.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

assert_status 0 sweep.log "$MTUSCOPE" sweep --loopback --ib-dev "$client_device" --gid-index 1 --peer-ib-dev "$server_device" \
  --peer-gid-index 1 --events --quiet --connect cm --mtu 512,1K,2K --size 1K,64K "${short[@]}" --out cm.json
check_record cm.json measured 6
check_record cm.json proved
grep -q '"route_mtu_bytes":4096' cm.json || fail "the route's MTU (4096) is not in the record"
