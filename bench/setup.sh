# Installs the Debian packages of bench/packages.txt; sourced by bench/quickstart.sh and tests/run.sh, never run.
# shellcheck shell=bash

source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly source_root

# Two checkouts of the same text share compiler results: paths inside the source tree are hashed relative to it.
export CCACHE_BASEDIR=$source_root CCACHE_NOHASHDIR=1

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the packages of the named groups.
packages_of() {
  local group
  for group in "$@"; do
    awk -v group="$group" '!/^#/ && $2 == group { print $1 }' "$source_root/bench/packages.txt"
  done
}

# Prints those of the given packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f=' ${db:Status-Status} ' "$package" 2>/dev/null) == *" installed "* ]] || printf '%s\n' "$package"
  done
}

# Runs apt-get as root. A lock held by another apt is waited for; mirrors time out now and then, hence the retries.
apt_get() {
  local -a as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "neither root nor sudo here: have an administrator run apt-get $*"
    as_root=(sudo)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" \
    >/dev/null || die "apt-get $* failed; check the network and apt's sources"
}

# Installs what is missing of the named groups; does nothing, and needs no network, when nothing is.
install_packages() {
  local -a wanted missing
  mapfile -t wanted < <(packages_of "$@")
  ((${#wanted[@]} > 0)) || die "bench/packages.txt has no package in the groups: $*"
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "no apt-get here: install what bench/packages.txt lists (groups $*) by hand, then use the CMake presets"
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  ((${#missing[@]} > 0)) || return 0
  printf 'installing: %s\n' "${missing[*]}"
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
}

# The guest downloads the kernel's package, for which apt must have heard of it.
know_kernel_package() {
  apt-cache show linux-image-amd64 >/dev/null 2>&1 || apt_get update
}

# Configures and builds one CMake preset, quietly unless it fails.
build_preset() {
  local preset=$1 jobs log
  shift
  jobs=$(nproc)
  log=$source_root/build/$preset.log
  mkdir -p "$source_root/build"
  (cd "$source_root" && cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" "$@") >"$log" 2>&1 ||
    { tail -n 60 "$log" >&2; printf 'the build of preset %s failed; all of it: %s\n' "$preset" "$log" >&2; return 1; }
}
