# SPDX-License-Identifier: MIT
# Some packets pass thousands of classifiers of tc: a cause that no rule covers.
acquainted
{ echo "qdisc add dev vs ingress"
	f="filter add dev vs parent ffff: protocol ip"
	echo "$f prio 1 u32 match ip dport 7 0xffff flowid :1"
	for p in 2 3 4; do
		i=0; while [ $i -lt $(pick 3000 3600) ]; do i=$((i + 1))
			echo "$f prio $p u32 match ip dport $((10000 + i)) 0xffff flowid :1"; done
	done; } > /tmp/batch
must $ip netns exec server /bin/tc -batch /tmp/batch
sink server 7 9
tap vs server vs
more client /stream udp to=10.9.0.2 port=7 n=60 len=100 gap=8000
from client /stream udp to=10.9.0.2 port=9 n=$(pick 12 20) len=100 gap=24000
all_done
sleep 0.2
