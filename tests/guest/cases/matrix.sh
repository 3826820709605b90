#!/bin/bash
# Every connection and operation at every path MTU, sizes round the MTU edges, payload verified, path MTU proved.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=sweep.sh
source "$(dirname "$0")/sweep.sh"

for connection in rc uc ud; do
  loopback "$connection.json" 0 "${short[@]}" --connection "$connection" --operation send,write,read \
    --mtu 256,512,1K,2K,4K --size 1,255:257:+1,1023:1025:+1,2047:2049:+1,4095:4097:+1,16385
  check_record "$connection.json" complete
  check_record "$connection.json" proved
done
# 14 sizes and 5 MTUs: RC does all three operations, UC no read, UD sends what fits the datagram.
check_record rc.json measured 210
check_record uc.json measured 140
check_record ud.json measured 34

loopback segmented.json 0 "${short[@]}" --connection ud --segment --mtu 1K,2K --size 1K,4K,10001
check_record segmented.json measured 6
check_record segmented.json lossless
