# SPDX-License-Identifier: MIT
# What makes and changes neighbours: a question and its answer, a question that nobody answers,
# an announcement after a change of the hardware address, a link that goes down and comes back,
# an address and a route that come and go; for IPv6 the same questions.
pair
sniff server vs /tmp/out/arp-and-neighbour.pcap
must $ip -n client neigh flush dev vc; must $ip -n server neigh flush dev vs
must client /bin/busybox ping -q -c 1 10.9.0.2
client /bin/busybox ping -q -c 1 -W 4 10.9.0.99
must $ip -n server link set vs address 02:00:00:00:09:02
must server /bin/busybox arping -q -U -c 1 -I vs 10.9.0.2
must client /bin/busybox ping -q -c 1 10.9.0.2
must $ip -n client addr add 10.9.5.1/24 dev vc
must $ip -n client route add 10.9.6.0/24 via 10.9.0.2
must $ip -n client route del 10.9.6.0/24; must $ip -n client addr del 10.9.5.1/24 dev vc
must $ip -n client link set vc down; sleep 0.2; must $ip -n client link set vc up
must client /bin/busybox ping -q -c 1 10.9.0.2
six client vc fd09::1; six server vs fd09::2
must client /bin/busybox ping -6 -q -c 1 fd09::2
client /bin/busybox ping -6 -q -c 1 -W 4 fd09::99
stop_sniffers
part client server
