#!/bin/bash
# The server is killed in mid-sweep, RC and UD: the survivor ends within its deadline with what it has in the file, --resume
# completes the run.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

for connection in rc ud; do
  plan=(--connection "$connection" --mtu 1K,2K --size 64,512,1K --messages 200 --min-trials 6 --max-trials 6 --timeout 5s
    --arrangements 2)
  record=$connection.json
  start_serve
  "$MTUSCOPE" sweep --peer "127.0.0.1:$server_port" "${ends[@]}" --out "$record" "${plan[@]}" >sweep.log 2>&1 &
  sweep_pid=$!
  background_pids+=("$sweep_pid")
  until [[ $(grep -c '"trial"' "$record.journal" 2>/dev/null) -ge 4 ]]; do
    kill -0 "$sweep_pid" || { cat sweep.log >&2; fail "the sweep ended before the server was killed"; }
    pause 0.02
  done
  killed_at=$SECONDS
  kill -KILL "$server_pid"
  wait_for "$sweep_pid"
  cat sweep.log
  assert_equal "exit status of the survivor" 3 "$background_status"
  assert_between "seconds until the survivor ended" 0 12 "$((SECONDS - killed_at))"
  grep -q 'the run ended with its peer: .*127\.0\.0\.1' sweep.log || fail "the survivor does not name its peer"
  check_record "$record" kept
  start_serve
  with_peer "$record" 0 "${plan[@]}" --resume
  check_record "$record" complete
  check_record "$record" measured 6
  kill -TERM "$server_pid"
  wait_for "$server_pid"
done
