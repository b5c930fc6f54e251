# SPDX-License-Identifier: MIT
# A permanent neighbour entry is wrong: what is sent to it arrives, but the host ignores it.
acquainted
sink server 7
tap vc client vc
tap vs server vs
more client /stream udp to=10.9.0.2 port=7 n=30 len=100 gap=5000
all_done
sleep 0.2
must $ip -n client neigh replace 10.9.0.2 dev vc nud permanent lladdr 02:00:00:00:00:77
from client /stream udp to=10.9.0.2 port=7 n=$(pick 15 40) len=100 gap=5000
sleep 0.2
