# SPDX-License-Identifier: MIT
# A router between client and server which masquerades the client.
namespace client router server
join client vc 10.9.1.2/24 router rc 10.9.1.1/24
join router rs 10.9.2.1/24 server vs 10.9.2.2/24
must $ip -n client route add default via 10.9.1.1
must $ip netns exec router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
must $ip netns exec router /bin/iptables-legacy -t nat -A POSTROUTING -o rs -j MASQUERADE
sleep 0.2
sniff client vc /tmp/out/nat-inside.pcap
sniff server vs /tmp/out/nat.pcap
must client /bin/busybox ping -q -c 2 10.9.2.2
for p in tcp udp; do
	serve server $p server 7; must client /traffic $p client 10.9.2.2 7; served
done
stop_sniffers
part client router server
