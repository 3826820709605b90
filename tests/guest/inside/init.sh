#!/bin/bash
# PID 1 of the guest. Root is the host's / under a tmpfs overlay, so every host path is here and every write stays here.
# Nothing is mounted over /tmp or /run: the source tree, the build directory or the cache may lie below them.
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/guest TMPDIR=/guest

power_off() {
  sync
  echo o >/proc/sysrq-trigger
  sleep 60
}
trap power_off EXIT

image_dir= # the host's, set by:
# shellcheck source=/dev/null
source /job/settings.env
mkdir -p /guest /dev/pts /dev/shm
mount -t tmpfs tmpfs /guest
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t devpts devpts /dev/pts
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -sf "/proc/self/${link#*:}" "/dev/${link%%:*}"; done
version=$(<"$image_dir/version")
mkdir -p /lib/modules
ln -sfn "$image_dir/root/lib/modules/$version" "/lib/modules/$version"
hostname guest
ip link set lo up
ulimit -l unlimited
ulimit -n 65536
echo "guest: up after $(cut -d' ' -f1 /proc/uptime) s" >/dev/kmsg
bash /job/inside/rdma-up.sh >/job/rdma-up.log 2>&1
bash /job/inside/agent.sh "$?"
