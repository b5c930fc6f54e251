# SPDX-License-Identifier: MIT
# The sender's device computes no checksums, and its packets are large.
acquainted
must $ip -n client link set vc mtu 60000; must $ip -n server link set vs mtu 60000
must $ip netns exec client /bin/ethtool -K vc tx off > /tmp/ethtool
sink server 7
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=$(pick 30 60) len=59000 gap=4000
sleep 0.2
