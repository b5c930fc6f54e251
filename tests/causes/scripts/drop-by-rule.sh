# SPDX-License-Identifier: MIT
# A rule of the packet filter drops what goes to one port.
acquainted
rule server -A INPUT -p udp --dport 9 -j DROP
sink server 7 9
tap vs server vs
more client /stream udp to=10.9.0.2 port=7 n=30 len=100 gap=9000
from client /stream udp to=10.9.0.2 port=9 n=$(pick 20 70) len=100 gap=5000
all_done
