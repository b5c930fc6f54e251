# SPDX-License-Identifier: MIT
# Groups that every host has joined, and broadcasts: the sender hears them too.
pair
echo 0 | $ip netns exec server tee /proc/sys/net/ipv4/icmp_echo_ignore_broadcasts > /dev/null
sink client 7
sink server 7
tap vc client vc
tap vs server vs
more client /send from=10.9.0.1 to=224.0.0.1 n=250 device=vc id=cycle:20 gap=2000
more client /send from=10.9.0.1 to=10.9.0.255 n=200 id=const:8 sport=4100 gap=2500
more server /send from=10.9.0.2 to=255.255.255.255 device=vs n=150 sport=4200 gap=3000
from client /stream udp to=10.9.0.255 port=7 n=150 len=90 gap=2000
all_done
