# SPDX-License-Identifier: MIT
# Two causes: a router's next link takes no large segments, and a rule drops what it says of that.
router
neighbours client vc 10.9.1.2 router rc 10.9.1.1
neighbours router rs 10.9.2.1 server vs 10.9.2.2
must $ip -n router link set rs mtu $(pick 1200 1300)
rule router -A OUTPUT -p icmp -j DROP
echo 1 | $ip netns exec client tee /proc/sys/net/ipv4/tcp_mtu_probing > /dev/null
small client vc; small router rc; small router rs; small server vs
sink server 7
tap vc client vc
tap vs server vs
from client /stream tcp to=10.9.2.2 port=7 bytes=60000 chunk=1400 gap=5000
sleep 0.5
