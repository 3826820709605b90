#!/bin/bash
# build-image.sh: makes the guest's boot image and prints its directory.
#
# Downloads Debian's kernel package, unpacks it (nothing is installed) and packs a small initramfs that reaches the host's
# file system over 9p. The result lands in the cache directory under a name made from the kernel version and a hash of what
# it was made from, so it is built once, and an interrupted build is never taken for a whole one.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
export PATH=$PATH:/usr/sbin:/sbin

# Modules needed before the root file system is there; everything else is loaded from it.
readonly boot_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay)

# linux-image-amd64 names the current kernel package; empty if apt has no package lists.
kernel_package() {
  { apt-cache depends linux-image-amd64 2>/dev/null || true; } | awk '/Depends:/ { print $2; exit }'
}

recipe_hash() {
  cat "$guest_root/vm/build-image.sh" "$guest_root/inside/initramfs-init.sh" "$(command -v busybox)" |
    sha256sum | cut -c1-12
}

unpack_kernel() {
  local package=$1 image=$2 log=$2/download.log
  # Two attempts: package mirrors time out now and then.
  if ! (cd "$image" && { apt-get download "$package" || apt-get download "$package"; }) >"$log" 2>&1; then
    cat "$log" >&2
    skip_or_fail "cannot download $package; check the network and run apt-get update"
  fi
  dpkg -x "$image/$package"_*.deb "$image/root"
  rm -f "$image/$package"_*.deb "$log"
}

# Takes the ELF kernel out of the xz-compressed bzImage: QEMU boots it directly, and the emulated CPU need not unpack it.
extract_vmlinux() {
  local bzimage=$1 vmlinux=$2 offset
  offset=$(LC_ALL=C grep -abom1 $'\xfd7zXZ' "$bzimage" || true)
  offset=${offset%%:*}
  [[ -n $offset ]] || die "$bzimage holds no xz stream; this kernel is packed in a way this script does not know"
  # xz stops at the end of its stream and complains about what follows; the check below decides.
  { tail -c "+$((offset + 1))" "$bzimage" 2>/dev/null || true; } | xz -dc --single-stream >"$vmlinux" 2>/dev/null || true
  [[ $(head -c 4 "$vmlinux" | tail -c 3) == ELF ]] || die "no ELF kernel could be unpacked from $bzimage"
}

build_initramfs() {
  local image=$1 version=$2 tree=$1/initramfs module file
  mkdir -p "$tree"/{bin,modules,proc,sys,dev,host,overlay,root}
  cp "$(command -v busybox)" "$tree/bin/busybox"
  ln -s busybox "$tree/bin/sh"
  install -m 755 "$guest_root/inside/initramfs-init.sh" "$tree/init"
  for module in "${boot_modules[@]}"; do
    modprobe -d "$image/root" -S "$version" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$image/modules.list"
  while read -r file; do
    cp "$file" "$tree/modules/"
    basename "$file" >>"$tree/modules/order"
  done <"$image/modules.list"
  (cd "$tree" && find . -print0 | cpio -0 -o -H newc --quiet) >"$image/initramfs.cpio"
  rm -rf "$tree" "$image/modules.list"
}

build() {
  local package=$1 target=$2 version=${1#linux-image-} image
  image=$(mktemp -d "$(dirname "$target")/.build.XXXXXX")
  # shellcheck disable=SC2064 # the path of now is meant
  trap "rm -rf '$image'" EXIT
  chmod 755 "$image"
  unpack_kernel "$package" "$image"
  depmod -b "$image/root" "$version"
  extract_vmlinux "$image/root/boot/vmlinuz-$version" "$image/vmlinux"
  build_initramfs "$image" "$version"
  printf '%s\n' "$version" >"$image/version"
  mv -T "$image" "$target"
  trap - EXIT
}

main() {
  require_prerequisites
  local cache package target
  cache=$(guest_cache_dir)
  mkdir -p "$cache" || skip_or_fail "cannot create $cache; set MTUSCOPE_GUEST_CACHE to a writable directory"
  cache=$(cd "$cache" && pwd)
  require_visible_in_guest "$cache"
  exec 9>"$cache/lock"
  flock -w 600 9 || die "another build holds $cache/lock for more than 10 minutes"
  package=$(kernel_package)
  [[ -n $package ]] || skip_or_fail "apt knows no linux-image-amd64; run apt-get update"
  target=$cache/${package#linux-image-}-$(recipe_hash)
  [[ -d $target ]] || build "$package" "$target"
  printf '%s\n' "$target"
}

main
