# SPDX-License-Identifier: MIT
pair
small client vc; small server vs
must client /bin/ethtool -K vc tx off > /tmp/ethtool
sink server 7
tap vc client vc
tap vs server vs
from client /stream tcp to=10.9.0.2 port=7 bytes=600000 chunk=9000 gap=1500
from client /stream tcp to=10.9.0.2 port=7 bytes=300000 chunk=500 gap=700
