# SPDX-License-Identifier: MIT
# A queueing discipline takes no segment above its burst, so the CPU cuts them before it.
acquainted
must $ip netns exec client /bin/tc qdisc add dev vc root tbf rate $(pick 80 200)mbit \
	burst 8k latency 100ms
sink server 7
tap vs server vs
from client /stream tcp to=10.9.0.2 port=7 bytes=$(pick 400000 900000) chunk=60000
sleep 0.2
