# SPDX-License-Identifier: MIT
# Packets copied: a rule sends a copy of each request on to a third host, the mirror; and a qdisc
# copies what it is going to corrupt, as TCP keeps a clone of it for the time it is lost.
pair
namespace mirror
join server sm 10.9.3.1/24 mirror ms 10.9.3.2/24
must server /bin/iptables-legacy -t mangle -A PREROUTING -i vs -p udp --dport 7 -j TEE --gateway 10.9.3.2
sleep 0.2
sniff mirror ms /tmp/out/copies.pcap
must server /bin/busybox ping -q -c 2 10.9.3.2
for i in 1 2 3 4; do
	serve server udp server 7; must client /traffic udp client 10.9.0.2 7; served
done
stop_sniffers
# Nobody sniffs here: of a corrupted packet no identity is left to be found again.
must client /bin/tc qdisc add dev vc root netem corrupt 100%
for i in 1 2 3 4; do
	$ip netns exec client /traffic tcp refused 10.9.0.2 9 & caller=$!
	# It calls (SYN_SENT), or is done: a corrupted bit may be one that nobody looks at.
	until client grep -q ':0009 02 ' /proc/net/tcp || [ ! -d /proc/$caller ]; do sleep 0.1; done
	sleep 0.3; kill $caller; wait $caller
done
part client server mirror
