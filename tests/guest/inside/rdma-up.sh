#!/bin/bash
# Makes two Soft-RoCE devices on a veth pair, in one network namespace (rxe of kernel 6.1 works in no other):
#   rxe0 on v0, 10.99.0.1    rxe1 on v1, 10.99.0.2    GID 0 = IPv6 link-local, GID 1 = IPv4, both RoCE v2
set -euo pipefail

modprobe -a rdma_rxe rdma_ucm ib_umad veth sch_netem
sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0
ip link add v0 type veth peer name v1
# GID 0 needs nothing more. For IPv4 (rdma_cm) the kernel would loop back what goes to a local address and answer no ARP
# request for it: these settings and rules send it over the veth.
sysctl -qw net.ipv4.conf.{all,default,v0,v1}.rp_filter=0 net.ipv4.conf.all.accept_local=1 net.ipv4.conf.all.arp_ignore=1
ip rule add pref 5 iif lo from 10.99.0.1 to 10.99.0.2 lookup 100
ip rule add pref 5 iif lo from 10.99.0.2 to 10.99.0.1 lookup 101
ip rule add pref 10 lookup local
ip rule del pref 0
for i in 0 1; do
  ip link set "v$i" mtu 9000 up
  # No "peer" here: the GID would then hold the peer's address.
  ip addr add "10.99.0.$((i + 1))/24" dev "v$i"
done
ip route add 10.99.0.2 dev v0 src 10.99.0.1 table 100
ip route add 10.99.0.1 dev v1 src 10.99.0.2 table 101
for i in 0 1; do rdma link add "rxe$i" type rxe netdev "v$i"; done
