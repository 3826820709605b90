#!/bin/sh
# First program of the guest (busybox sh): makes the host's / the guest's root, read-only under a tmpfs overlay, and goes there.
export PATH=/bin
stop() {
  echo "guest: $1" >/dev/kmsg
  busybox poweroff -f
}
mount_9p() { # TAG DIRECTORY OPTIONS
  busybox mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2"
}
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
while read -r module; do
  busybox insmod "/modules/$module" || echo "guest: $module does not load" >/dev/kmsg
done </modules/order
# cache=loose keeps binaries in the page cache; a binary rebuilt on the host needs a new VM.
mount_9p hostroot /host ro,cache=loose || stop "no root over 9p"
busybox mount -t tmpfs -o size=90% tmpfs /overlay
busybox mkdir -p /overlay/upper /overlay/work
busybox mount -t overlay -o lowerdir=/host,upperdir=/overlay/upper,workdir=/overlay/work overlay /root || stop "no overlay"
for directory in dev proc sys; do busybox mount --move "/$directory" "/root/$directory"; done
busybox mkdir -p /root/job
mount_9p job /root/job cache=none || stop "no job directory over 9p"
exec busybox switch_root /root /job/inside/init.sh
