# SPDX-License-Identifier: MIT
# Two causes: a path changes bits, so that checksums are wrong; a slow link makes packets wait.
acquainted
must $ip netns exec client /bin/tc qdisc add dev vc root handle 1: tbf rate $(pick 1600 2400)kbit \
	burst 3000 limit 200000
must $ip netns exec client /bin/tc qdisc add dev vc parent 1:1 handle 2: netem limit 5000 \
	corrupt $(pick 10 25)%
sink server 7
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=90 len=700 gap=1500
sleep 0.5
