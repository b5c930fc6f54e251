# SPDX-License-Identifier: MIT
# A slow link marks segments (ECN) where others drop them: nothing is lost or sent again.
acquainted
small client vc; small server vs
for ns in client server; do
	echo 1 | $ip netns exec $ns tee /proc/sys/net/ipv4/tcp_ecn > /dev/null; done
must $ip netns exec client /bin/tc qdisc add dev vc root handle 1: tbf rate $(pick 3 6)mbit \
	burst 3000 limit 400000
must $ip netns exec client /bin/tc qdisc add dev vc parent 1:1 handle 2: codel limit 1000 \
	target 2ms interval 20ms ecn
sink server 7
tap vc client vc
tap vs server vs
from client /stream tcp to=10.9.0.2 port=7 bytes=$(pick 200000 300000) chunk=1400 gap=300
sleep 1
