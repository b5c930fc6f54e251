# SPDX-License-Identifier: MIT
# The sender segments at the last moment; the router merges what it forwards.
router
must client /bin/ethtool -K vc tso off gso off > /tmp/ethtool
must $ip netns exec router /bin/ethtool -K rc gro on > /tmp/ethtool
sink server 7
tap vc client vc
tap rc router rc
tap rs router rs
tap vs server vs
from client /stream tcp to=10.9.2.2 port=7 bytes=600000 chunk=9000 gap=1000
