#!/bin/bash
# Bad input that needs a device: one line naming what and what next, exit status 2 or 3, nothing left behind.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

# refused STATUS TEXT COMMAND...: one line on standard error that contains TEXT, and no file.
refused() {
  local status=$1 text=$2
  shift 2
  assert_status "$status" refused.log "$@"
  assert_equal "lines of the error" 1 "$(wc -l <refused.log)"
  assert_contains "the error" "$text" refused.log
  [[ ! -e refused.json && ! -e refused.json.journal ]] || fail "a file was left behind"
}

sweep=("$MTUSCOPE" sweep --loopback "${short[@]}" --quiet --events)
to_file=(--size 1K --out refused.json)
refused 2 nosuch0 "${sweep[@]}" "${to_file[@]}" --ib-dev nosuch0
refused 2 99 "${sweep[@]}" "${to_file[@]}" --ib-dev "$client_device" --gid-index 99
refused 2 "port 7" "${sweep[@]}" "${to_file[@]}" --ib-dev "$client_device" --ib-port 7
refused 2 1000 "${sweep[@]}" "${to_file[@]}" --ib-dev "$client_device" --mtu 1000
# Strangers: a mail server where a `serve` should be, and a web client that comes to `serve`, which then serves on.
start_server mail.log 'port ([0-9]+)' python3 -uc '
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    print("port", server.getsockname()[1])
    client = server.accept()[0]
    client.sendall(b"220 mail.example ESMTP ready\r\n")
    client.recv(1000)'
refused 3 "does not speak" "$MTUSCOPE" sweep --peer "127.0.0.1:$server_port" --quiet --ib-dev "$client_device" --gid-index 0 \
  --mtu 1K "${to_file[@]}"
start_serve
refused 3 "port $server_port" "$MTUSCOPE" serve --port "$server_port" --ib-dev "$client_device"
exec {stranger}<>"/dev/tcp/127.0.0.1/$server_port"
printf 'GET / HTTP/1.0\r\n\r\n' >&"$stranger"
exec {stranger}>&-
with_peer after.json 0 "${short[@]}" --mtu 1K --size 1K
check_record after.json measured 1
# Root may lock any amount of memory, so the limit needs another user.
refused 3 RLIMIT_MEMLOCK setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
  prlimit --memlock=65536:65536 "${sweep[@]}" --mtu 1K --ib-dev "$client_device" --size 1M --out -
ip link set "$client_netdev" down
refused 3 "$client_device" "${sweep[@]}" "${to_file[@]}" --ib-dev "$client_device" --gid-index 0
