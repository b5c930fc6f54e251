# SPDX-License-Identifier: MIT
# Nobody has the address of the next hop: the packets wait for an answer, and are dropped.
acquainted
sink server 7
tap vc client vc
more client /stream udp to=10.9.0.2 port=7 n=20 len=100 gap=20000
from client /stream udp to=10.9.0.77 port=7 n=$(pick 3 9) len=100 gap=1000
all_done
sleep 4
