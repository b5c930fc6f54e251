# SPDX-License-Identifier: MIT
# A queueing discipline takes no segment above its burst, so the CPU cuts large datagrams for it.
acquainted
must $ip netns exec client /bin/tc qdisc add dev vc root tbf rate $(pick 80 200)mbit burst 1600 limit 4000000
sink server 7
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=$(pick 20 40) len=$(pick 40000 56000) gso=1400 gap=20000
sleep 0.2
