# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap vc client vc
tap first server vs
more client /send from=10.9.0.1 to=10.9.0.2 n=1200 id=cycle:40 gap=3000
more client /stream udp to=10.9.0.2 port=7 n=400 len=90 gap=8000
sleep 2.5
for t in $taps; do case $t in first/*) end_tap $t ;; esac; done
taps=$(echo "$taps" | tr ' ' '\n' | grep -v '^first/' | tr '\n' ' ')
sleep 0.2
tap second server vs
all_done
