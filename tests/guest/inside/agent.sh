#!/bin/bash
# agent.sh STATUS: takes orders from the host over a virtio-serial port and blocks between them (a polling shell would eat the
# guest's only CPU). STATUS, that of the network set-up, goes to the host with "ready".
#   host -> guest: "run NAME" (execute /job/commands/NAME.sh), "kill", "quit"      guest -> host: "ready STATUS", "done NAME STATUS"
set -u
readonly command_cgroup=/sys/fs/cgroup/command

find_port() {
  local port
  for port in /sys/class/virtio-ports/*; do
    if [[ $(cat "$port/name" 2>/dev/null) == agent ]]; then
      printf '/dev/%s\n' "${port##*/}"
      return
    fi
  done
}

# Ends every process the last command has left, whatever session or process group it moved to.
end_command() {
  echo 1 >"$command_cgroup/cgroup.kill"
}

run() {
  local name=$1 command=/job/commands/$1
  {
    (
      exec 9<&-
      echo "$BASHPID" >"$command_cgroup/cgroup.procs"
      exec setsid --wait bash "$command.sh" >"$command.out" 2>&1 </dev/null
    )
    printf 'done %s %s\n' "$name" "$?" >&9
  } &
}

mkdir "$command_cgroup"
exec 9<>"$(find_port)"
printf 'ready %s\n' "$1" >&9
while read -r order name <&9; do
  case $order in
    run)
      end_command # left over if the host side was killed
      run "$name"
      ;;
    kill) end_command ;;
    quit) break ;;
  esac
done
