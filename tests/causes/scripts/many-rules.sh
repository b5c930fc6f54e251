# SPDX-License-Identifier: MIT
# Each packet passes some hundred rules that do not match.
acquainted
{ echo '*filter'; i=0; while [ $i -lt $(pick 300 500) ]; do i=$((i + 1))
	echo "-A INPUT -p udp --dport $((10000 + i)) -j DROP"; done; echo COMMIT; } > /tmp/rules
must $ip netns exec server /bin/iptables-legacy-restore /tmp/rules
sink server 7
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=60 len=100 gap=4000
sleep 0.2
