#!/bin/bash
# up.sh [--with-parent] DIR: boots a VM in the background and returns when its Soft-RoCE devices are up.
# Then exec.sh DIR COMMAND any number of times, and down.sh DIR. --with-parent ends the VM with the calling process (ctest).
# Settings, from the environment:
#   MTUSCOPE_GUEST_ICOUNT            QEMU's -icount (default shift=1,sleep=on); off = real time, figures then follow host load
#   MTUSCOPE_GUEST_MEMORY_MIB        memory (512)
#   MTUSCOPE_GUEST_LIFETIME_SECONDS  the VM is ended after this time whatever happens (3600)
#   MTUSCOPE_GUEST_BOOT_SECONDS      patience for the boot (180)
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

# Puts QEMU's arguments into the array qemu_arguments. QEMU starts in the VM's directory: paths with commas or blanks need no
# care then.
compose_qemu_arguments() {
  local image=$1 icount=${MTUSCOPE_GUEST_ICOUNT:-shift=1,sleep=on}
  # shellcheck disable=SC2054 # the commas are QEMU's
  qemu_arguments=(
    # Emulation only, even where /dev/kvm exists: results must not depend on the machine. microvm hangs with one CPU.
    -machine pc -accel "tcg,thread=single,tb-size=512" -cpu max -smp 1 -m "${MTUSCOPE_GUEST_MEMORY_MIB:-512}" -seed 42
    -nodefaults -no-user-config -display none -no-reboot
    -kernel "$image/vmlinux" -initrd "$image/initramfs.cpio"
    -append "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off apparmor=0 tsc=reliable"
    -serial file:console.log
    -device virtio-serial-pci -chardev pipe,id=agent,path=agent -device virtserialport,chardev=agent,name=agent
    -fsdev "local,id=hostroot,path=/,security_model=none,readonly=on,multidevs=remap"
    -device virtio-9p-pci,fsdev=hostroot,mount_tag=hostroot
    -fsdev "local,id=job,path=.,security_model=none"
    -device virtio-9p-pci,fsdev=job,mount_tag=job
  )
  [[ $icount == off ]] || qemu_arguments+=(-icount "$icount")
}

prepare_directory() {
  local dir=$1 image=$2
  kill_vm "$dir" || die "an earlier VM in $dir does not end"
  rm -rf "${dir:?}"/{commands,out,inside,agent.in,agent.out,console.log,qemu.log,rdma-up.log,skipped}
  mkdir -p "$dir/commands" "$dir/out"
  cp -r "$guest_root/inside" "$dir/inside"
  mkfifo "$dir/agent.in" "$dir/agent.out"
  printf 'image_dir=%q\n' "$image" >"$dir/settings.env"
}

show_logs() {
  tail -n 30 "$1"/{qemu,console,rdma-up}.log >&2 2>/dev/null || true
}

wait_until_ready() {
  local dir=$1 word status end=$((SECONDS + ${MTUSCOPE_GUEST_BOOT_SECONDS:-180}))
  exec 7<>"$dir/agent.out"
  while ((SECONDS < end)); do
    if read -r -t 1 word status <&7 && [[ $word == ready ]]; then
      [[ $status == 0 ]] && return
      show_logs "$dir"
      kill_vm "$dir"
      die "Soft-RoCE did not come up in the guest (status $status)"
    fi
    vm_is_running "$dir" || { show_logs "$dir"; die "QEMU ended during the boot"; }
  done
  show_logs "$dir"
  kill_vm "$dir"
  die "no answer from the guest; raise MTUSCOPE_GUEST_BOOT_SECONDS if this machine is slow"
}

main() {
  local owner=0 dir image
  if [[ ${1:-} == --with-parent ]]; then
    owner=$PPID
    shift
  fi
  [[ $# == 1 ]] || die "usage: up.sh [--with-parent] DIR"
  mkdir -p "$1"
  dir=$(cd "$1" && pwd)
  # Tests that need the VM look here to skip with the same words.
  missing_prerequisites >"$dir/skipped"
  [[ ! -s $dir/skipped ]] || skip_or_fail "$(<"$dir/skipped")"
  require_visible_in_guest "$dir"
  image=$("$guest_root/vm/build-image.sh") || {
    local status=$?
    echo "no guest image (see the output of up.sh)" >"$dir/skipped"
    exit "$status"
  }
  prepare_directory "$dir" "$image"
  compose_qemu_arguments "$image"
  setsid "$guest_root/vm/supervise.sh" "$dir" "$owner" "${MTUSCOPE_GUEST_LIFETIME_SECONDS:-3600}" \
    qemu-system-x86_64 "${qemu_arguments[@]}" </dev/null >"$dir/qemu.log" 2>&1 &
  echo "$!" >"$dir/supervisor.pid"
  wait_until_ready "$dir"
}

main "$@"
