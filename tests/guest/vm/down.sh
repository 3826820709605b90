#!/bin/bash
# down.sh DIR: asks the VM of DIR to power off, and ends it if it does not.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"

[[ $# == 1 ]] || die "usage: down.sh DIR"
[[ -d $1 ]] || exit 0
dir=$(cd "$1" && pwd)
vm_is_running "$dir" || exit 0
exec 6<>"$dir/agent.in"
echo quit >&6
wait_for_vm_end "$dir" 15 || kill_vm "$dir"
