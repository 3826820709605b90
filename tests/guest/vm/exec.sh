#!/bin/bash
# exec.sh [--timeout SECONDS] DIR COMMAND...: runs COMMAND in the VM of DIR, prints its output and ends with its status
# (124: deadline passed, 125: the VM is gone). Calls for one VM queue up.
# The command starts in an empty directory of its own. Every variable MTUSCOPE* goes along; files left in /job/out are in DIR/out.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

write_command() {
  local script=$1 variable
  shift
  {
    # The quotation makes blanks and quotes in paths harmless.
    for variable in "${!MTUSCOPE@}"; do printf 'export %s=%q\n' "$variable" "${!variable}"; done
    # shellcheck disable=SC2016 # for the guest's shell
    echo 'cd "$(mktemp -d)" || exit 1'
    printf 'exec'
    printf ' %q' "$@"
    echo
  } >"$script"
}

# Prints the status of command $2 if the guest reports it before the deadline of $3 seconds.
wait_for_status() {
  local dir=$1 name=$2 end=$((SECONDS + $3)) word done_name status
  while ((SECONDS < end)); do
    # A line about another command is left over from a call that was killed.
    if read -r -t 1 word done_name status <&7 && [[ $word == "done" && $done_name == "$name" ]]; then
      printf '%s\n' "$status"
      return
    fi
    vm_is_running "$dir" || return 1
  done
  return 1
}

main() {
  local timeout_seconds=120
  if [[ ${1:-} == --timeout ]]; then
    timeout_seconds=$2
    shift 2
  fi
  (($# >= 2)) || die "usage: exec.sh [--timeout SECONDS] DIR COMMAND..."
  [[ -d $1 ]] || die "$1: no such VM directory; start one by up.sh"
  local dir name status
  dir=$(cd "$1" && pwd)
  shift
  [[ ! -s $dir/skipped ]] || skip_or_fail "$(<"$dir/skipped")"
  exec 8>"$dir/exec.lock"
  flock -w "$timeout_seconds" 8 || die "another command holds the VM of $dir"
  vm_is_running "$dir" || { echo "exec.sh: no VM runs in $dir" >&2; exit 125; }
  name=$$.$RANDOM
  write_command "$dir/commands/$name.sh" "$@"
  exec 6<>"$dir/agent.in" 7<>"$dir/agent.out"
  echo "run $name" >&6
  if ! status=$(wait_for_status "$dir" "$name" "$timeout_seconds"); then
    status=125
    if vm_is_running "$dir"; then
      status=124
      echo kill >&6
      # A guest that cannot even kill is of no use to the next test.
      wait_for_status "$dir" "$name" 20 >/dev/null || kill_vm "$dir"
    fi
  fi
  cat "$dir/commands/$name.out" 2>/dev/null || true
  case $status in
    124) echo "exec.sh: deadline of $timeout_seconds s passed" >&2 ;;
    125) echo "exec.sh: the VM is gone; its console:" >&2; tail -n 20 "$dir/console.log" >&2 ;;
  esac
  exit "$status"
}

main "$@"
