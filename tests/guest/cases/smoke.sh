#!/bin/bash
# The guest itself: devices, GIDs and MTU as promised; verbs work between them; the path MTU really changes the packets.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

check_devices() {
  local device
  for device in "$server_device" "$client_device"; do
    assert_status 0 devinfo.log ibv_devinfo -v -d "$device"
    assert_contains "state of $device" PORT_ACTIVE devinfo.log
    assert_equal "active MTU of $device" 4096 "$(active_mtu "$device")"
    assert_contains "GID 0 of $device" "fe80:" devinfo.log
  done
  assert_contains "GID 1 of $client_device" "::ffff:$client_ip" devinfo.log
}

check_pingpong() {
  local port=18600
  timeout -k 5 "$step_seconds" ibv_rc_pingpong -d "$server_device" -g 0 -e -n 100 -p "$port" >server.log 2>&1 &
  local server=$!
  background_pids+=("$server")
  wait_until_listening "$port" "$server" server.log
  assert_status 0 client.log ibv_rc_pingpong -d "$client_device" -g 0 -e -n 100 -p "$port" 127.0.0.1
  wait_for "$server"
  assert_equal "exit status of the ping-pong server" 0 "$background_status"
}

# 200 messages of 16 KiB in packets of 1024 bytes: UC has no acknowledgements and no repeats, so the count is exact.
check_packets() {
  local connection=$1 before packets expected=$((200 * 16384 / 1024))
  before=$(counter "$client_device" sent_pkts)
  run_perftest ib_send_bw 1024 16384 200 -e -c "$connection"
  packets=$(($(counter "$client_device" sent_pkts) - before))
  echo "ib_send_bw -c $connection, MTU 1024: $packets packets sent, at least $expected due, $perftest_mibps MiB/s"
  case $connection in
    UC) assert_equal "packets sent by UC" "$expected" "$packets" ;;
    RC) assert_between "packets sent by RC" "$expected" "$((expected * 11 / 10))" "$packets" ;;
  esac
}

check_link_mtu() {
  link_mtu 1500
  assert_equal "active MTU on a 1500-byte link" 1024 "$(active_mtu "$client_device")"
}

check_devices
check_pingpong
check_packets UC
check_packets RC
check_link_mtu
echo "smoke: passed"
