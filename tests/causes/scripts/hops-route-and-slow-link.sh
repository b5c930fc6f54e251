# SPDX-License-Identifier: MIT
# Three causes at a router: packets whose time to live is over, no route, and a slow link.
router
neighbours client vc 10.9.1.2 router rc 10.9.1.1
neighbours router rs 10.9.2.1 server vs 10.9.2.2
must $ip -n router route add unreachable 10.9.8.0/24
must $ip netns exec router /bin/tc qdisc add dev rs root tbf rate $(pick 1600 2400)kbit \
	burst 3000 limit 200000
sink server 7
tap vc client vc
tap vs server vs
more client /stream udp to=10.9.2.2 port=7 n=60 len=700 gap=1500
more client /send from=10.9.1.2 to=10.9.2.2 n=$(pick 10 20) ttl=1 gap=9000
from client /send from=10.9.1.2 to=10.9.8.1 n=$(pick 21 33) gap=7000
all_done
sleep 0.5
