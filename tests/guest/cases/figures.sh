#!/bin/bash
# What the figures must show under -icount: bandwidth rises with the MTU; two runs of one sweep agree; and with the wire as the
# bottleneck bandwidth follows payload / (payload + headers), an MTU check that needs no counter.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

run=(--mtu 1K,2K,4K --size 64:8K --messages 100 --min-trials 9 --max-trials 9)
loopback first.json 0 "${run[@]}" --seed 1
loopback second.json 0 "${run[@]}" --seed 2
check_record first.json same second.json 0.95
loopback large.json 0 --mtu 1K,2K,4K --size 64K --messages 40 --min-trials 6 --max-trials 6
check_record large.json rising 65536

# 50 Mbit/s is 6.25e6 B/s. Headers of RoCE v2 over IPv6: Ethernet 14, IPv6 40, UDP 8, BTH 12, ICRC 4.
netem_add "$client_netdev" rate 50mbit limit 10000
loopback wire.json 0 --mtu 1K,2K,4K --size 64K --messages 30 --min-trials 3 --max-trials 3 --tx-depth 16
check_record wire.json payload 6250000 78 0.02
