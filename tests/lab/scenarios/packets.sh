# SPDX-License-Identifier: MIT
# One packet in 4: refused as long as something merges, segments or rewrites packets, and then
# recorded; at last a device begins to merge them.
# wanted_whole NAME: what kblrecord says instead of recording
wanted_whole() {
	/kblrecord -w /tmp/none.kbl -f /probes.txt --sample-packets 4 2> /tmp/out/packets-$1 &&
		fail "packets are sampled in spite of $1"
	cat /tmp/out/packets-$1
}
places="client:lo client:vc server:lo server:vs"
# offload FEATURE on|off...: of each device
offload() {
	for place in $places; do
		must $ip netns exec ${place%:*} /bin/ethtool -K ${place#*:} "$@" > /tmp/ethtool; done
}
pair
load subbuf_kb=256 n_subbufs=32
wanted_whole merging
offload gro off
wanted_whole segmenting
offload tso off gso off tx-udp-segmentation off tx-sctp-segmentation off
wanted_whole large
for place in $places; do
	must $ip -n ${place%:*} link set ${place#*:} gso_max_segs 1; done
namespace router
must $ip -n router link set lo down
must $ip netns exec router /bin/iptables-legacy -t nat -A POSTROUTING -j MASQUERADE
wanted_whole nat
part router
start_recorder /tmp/out/packets.kbl -f /probes.txt --sample-packets 4
sniff server vs /tmp/out/packets.pcap
must client /bin/busybox ping -q -c 30 -i 0.05 10.9.0.2
must client /bin/busybox ping -q -c 10 -i 0.05 -s 4000 10.9.0.2
serve server udp server 7; must client /traffic udp client 10.9.0.2 7; served
must client /traffic udp ports 10.9.0.2 3000
server /bin/iperf3 -s -1 --forceflush > /tmp/iperf & server=$!
until_said /tmp/iperf listening $server "iperf3"
must client /bin/iperf3 -c 10.9.0.2 -n 500K > /tmp/out/packets.txt
served
server /bin/iperf3 -s -1 --forceflush > /tmp/iperf & server=$!
until_said /tmp/iperf listening $server "iperf3"
must client /bin/iperf3 -c 10.9.0.2 -u -b 4M -l 500 -n 100K > /tmp/out/packets-udp.txt
served
stop_sniffers
stop_recorder
cp /tmp/recorder /tmp/out/packets.said
start_recorder /tmp/out/packets-broken.kbl -f /probes.txt --sample-packets 4
sniff server vs /tmp/out/packets-broken.pcap
# Their identification is 0, and nothing else that the hash reads differs.
must client /traffic udp burst 10.9.0.2 9
must client /bin/busybox ping -q -c 10 -i 0.05 10.9.0.2
must client /bin/ethtool -K vc gro on > /tmp/ethtool
must client /bin/busybox ping -q -c 10 -i 0.05 10.9.0.2
stop_sniffers
stop_recorder
cp /tmp/recorder /tmp/out/packets-broken.said
wanted_whole again
part client server
unload
