# SPDX-License-Identifier: MIT
# Two routers send a destination to each other until its time to live is over.
pair
for ns in client server; do
	echo 1 | $ip netns exec $ns tee /proc/sys/net/ipv4/ip_forward > /dev/null
	echo 0 | $ip netns exec $ns tee /proc/sys/net/ipv4/conf/*/send_redirects > /dev/null
	echo 0 | $ip netns exec $ns tee /proc/sys/net/ipv4/conf/*/rp_filter > /dev/null; done
must $ip -n client route add 10.77.0.0/16 via 10.9.0.2
must $ip -n server route add 10.77.0.0/16 via 10.9.0.1
tap vc client vc
tap vs server vs
# A source that is nobody's: from its own address a host takes nothing back.
from client /send from=10.88.0.1 to=10.77.0.1 n=20 ttl=20 id=count gap=20000
from client /send from=10.88.0.1 to=10.77.0.1 n=15 ttl=20 id=const:4 gap=20000 sport=4100
from client /stream udp to=10.77.0.2 port=7 n=4 len=90 gap=20000
sleep 0.3
