# SPDX-License-Identifier: MIT
# No device computes or checks the CRC of large SCTP packets, so the CPUs do.
acquainted
must $ip -n client link set vc mtu 65000; must $ip -n server link set vs mtu 65000
must $ip netns exec client /bin/ethtool -K vc tx off > /tmp/ethtool
must $ip netns exec server /bin/ethtool -K vs rx off > /tmp/ethtool
sink server 7 proto=sctp
tap vs server vs
from client /stream sctp to=10.9.0.2 port=7 bytes=$(pick 900000 1400000) chunk=60000 gap=20000
sleep 0.2
