# SPDX-License-Identifier: MIT
# IPv6 between client and server: neighbour discovery, pings, fragments, TCP, UDP, closed ports.
six client vc fd09::1; six server vs fd09::2
sleep 0.5
must client /bin/busybox ping -6 -q -c 2 fd09::2
must client /bin/busybox ping -6 -q -c 1 -s 4000 fd09::2
for p in tcp udp; do
	serve server $p server6 7; must client /traffic $p client fd09::2 7; served
	must client /traffic $p refused fd09::2 9
done
