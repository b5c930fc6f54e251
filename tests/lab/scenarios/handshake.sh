# SPDX-License-Identifier: MIT
# Two namespaces, one veth pair, one exchange: ARP, TCP, UDP, a ping.
pair
serve server tcp server 7; tcp=$server
serve server udp server 7; udp=$server
sniff server vs /tmp/out/handshake.pcap
must $ip -n client neigh flush dev vc; must $ip -n server neigh flush dev vs
must client /traffic tcp client 10.9.0.2 7
must client /traffic udp client 10.9.0.2 7
must client /bin/busybox ping -c 1 10.9.0.2
must wait $tcp; must wait $udp
stop_sniffers
part client server
