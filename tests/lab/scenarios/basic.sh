# SPDX-License-Identifier: MIT
# ARP, pings whole and in fragments, TCP, UDP, closed ports, loopback; then the same over IPv6.
pair
sniff server vs /tmp/out/basic.pcap
sniff client lo /tmp/out/loopback.pcap
must $ip -n client neigh flush dev vc; must $ip -n server neigh flush dev vs
must client /bin/busybox ping -q -c 2 10.9.0.2
must client /bin/busybox ping -q -c 1 -s 4000 10.9.0.2
for p in tcp udp; do
	serve server $p server 7; must client /traffic $p client 10.9.0.2 7; served
	must client /traffic $p refused 10.9.0.2 9
done
must client /bin/busybox ping -q -c 1 127.0.0.1
serve client tcp server 7; must client /traffic tcp client 127.0.0.1 7; served
. /scenarios/six.sh
stop_sniffers
part client server
