# SPDX-License-Identifier: MIT
# Two causes: a rule drops packets of one port, the reader of another port sleeps.
acquainted
rule server -A INPUT -p udp --dport 9 -j DROP
sink server 7 pause=$(pick 4000 9000)
sink server 9
tap vs server vs
more client /stream udp to=10.9.0.2 port=7 n=40 len=100 gap=3000
from client /stream udp to=10.9.0.2 port=9 n=$(pick 20 50) len=100 gap=4000
all_done
sleep 0.5
