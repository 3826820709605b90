#!/bin/bash
# What the figures must show under -icount: bandwidth rises with the MTU; runs of one sweep agree; and with the wire as the
# bottleneck bandwidth follows payload / (payload + headers), an MTU check that needs no counter.
# The guest itself drifts by 0.2 to 0.6 % within minutes, in all points alike and whatever the program (address layout does not
# matter), which no interval of one run can see. So runs are compared in the order A B B A.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

for run in 1 2 3 4; do
  loopback "run$run.json" 0 --mtu 1K,2K,4K --size 64:8K --messages 100 --min-trials 3 --max-trials 3 --seed "$run"
done
check_record run1.json same 0.95 run2.json run3.json run4.json
loopback large.json 0 --mtu 1K,2K,4K --size 64K --messages 40 --min-trials 6 --max-trials 6
check_record large.json rising 65536 1024,2048,4096

# 50 Mbit/s is 6.25e6 B/s. Headers of RoCE v2 over IPv6: Ethernet 14, IPv6 40, UDP 8, BTH 12, ICRC 4.
netem_add "$client_netdev" rate 50mbit limit 10000
loopback wire.json 0 --mtu 1K,2K,4K --size 64K --messages 30 --min-trials 3 --max-trials 3 --tx-depth 16
check_record wire.json payload 6250000 78 0.02
