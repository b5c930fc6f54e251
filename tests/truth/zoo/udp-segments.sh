# SPDX-License-Identifier: MIT
# The kernel cuts a large datagram; the receiver asks for merged ones.
pair
must server /bin/ethtool -K vs gro on > /tmp/ethtool
must server /bin/ethtool -K vs rx-udp-gro-forwarding on > /tmp/ethtool
must client /bin/ethtool -K vc tx-udp-segmentation off > /tmp/ethtool
sink server 7 proto=udp gro=1
tap vc client vc
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=120 len=5000 gso=1000 gap=4000
must client /bin/ethtool -K vc tx-udp-segmentation on > /tmp/ethtool
from client /stream udp to=10.9.0.2 port=7 n=150 len=3000 gso=500 gap=2000
