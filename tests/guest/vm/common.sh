# Shared by the host-side scripts in this folder; sourced, never run.
# shellcheck shell=bash disable=SC2034 # variables are for the scripts that source this

guest_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly guest_root
readonly skip_status=77

# The directory that holds the unpacked kernel and the boot image, outside the source tree.
guest_cache_dir() {
  printf '%s\n' "${MTUSCOPE_GUEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mtuscope-guest}"
}

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Says what is missing and ends the script: as a skip, or as a failure where skips are forbidden (CI).
skip_or_fail() {
  printf '%s: skipped: %s\n' "$(basename "$0")" "$*" >&2
  if [[ ${MTUSCOPE_FORBID_SKIPS:-0} == 1 ]]; then
    printf 'MTUSCOPE_FORBID_SKIPS=1: a skip counts as a failure\n' >&2
    exit 1
  fi
  exit "$skip_status"
}

# Prints one line naming every missing prerequisite with its Debian package; nothing if all are there.
missing_prerequisites() {
  local PATH=$PATH:/usr/sbin:/sbin
  local -a missing=()
  local pair
  for pair in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio depmod:kmod xz:xz-utils \
      flock:util-linux apt-get:apt dpkg:dpkg ip:iproute2 rdma:iproute2 tc:iproute2 \
      ibv_devinfo:ibverbs-utils ib_send_bw:perftest; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair%%:*} (package ${pair#*:})")
  done
  if command -v busybox >/dev/null && ldd "$(command -v busybox)" >/dev/null 2>&1; then
    missing+=("a static busybox (package busybox-static)")
  fi
  if ! compgen -G '/etc/libibverbs.d/rxe.driver' >/dev/null; then
    missing+=("the Soft-RoCE verbs provider (package ibverbs-providers)")
  fi
  if [[ $(uname -m) != x86_64 ]]; then
    missing+=("an x86_64 machine (this one is $(uname -m))")
  fi
  ((${#missing[@]})) || return 0
  printf -v pair '%s, ' "${missing[@]}"
  printf 'missing: %s\n' "${pair%, }"
}

require_prerequisites() {
  local missing
  missing=$(missing_prerequisites)
  [[ -z $missing ]] || skip_or_fail "$missing"
}

# The guest sees the host's files at the same paths, but /proc, /sys and /dev are its own.
require_visible_in_guest() {
  case $1/ in
    /proc/* | /sys/* | /dev/*) skip_or_fail "$1: the guest cannot see the host's /proc, /sys and /dev; use another place" ;;
  esac
}

# True if the process recorded in $1/supervisor.pid is still our supervisor (and not another process that got its number).
vm_is_running() {
  local dir=$1 pid
  pid=$(cat "$dir/supervisor.pid" 2>/dev/null) || return 1
  [[ -n $pid ]] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -- "$dir"
}

# Waits at most $2 seconds for the VM of directory $1 to end.
wait_for_vm_end() {
  local dir=$1 seconds=$2 end
  end=$((SECONDS + seconds))
  while vm_is_running "$dir"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

# Ends the VM of directory $1 without asking the guest.
kill_vm() {
  local dir=$1
  vm_is_running "$dir" || return 0
  kill -TERM "$(<"$dir/supervisor.pid")" 2>/dev/null || return 0
  wait_for_vm_end "$dir" 15
}
