# SPDX-License-Identifier: MIT
# Packets whose headers are the same, with offloads on and off: datagrams without an identification,
# TCP that loses packets, ARP.  Sniffed at both ends: evidence-OFFLOADS-END.pcap
evidence_run() {
	must client /bin/ethtool -K vc tx $1 tso $1 gso $1 gro $1
	must server /bin/ethtool -K vs tx $1 tso $1 gso $1 gro $1
	sniff client vc /tmp/out/evidence-$1-client.pcap -s 160 -B 16384
	sniff server vs /tmp/out/evidence-$1-server.pcap -s 160 -B 16384
	must $ip -n client neigh flush dev vc
	for to in 10.9.0.2 fd09::2; do
		must client /traffic udp burst $to 9
		server /bin/iperf3 -s -1 --forceflush > /tmp/iperf & server=$!
		until_said /tmp/iperf listening $server "iperf3"
		must client /bin/tc qdisc add dev vc root netem delay 3ms loss 3%
		must server /bin/tc qdisc add dev vs root netem delay 3ms loss 3%
		must client /bin/iperf3 -c $to -n 1M > /dev/null
		must client /bin/tc qdisc del dev vc root
		must server /bin/tc qdisc del dev vs root
		served
	done
	stop_sniffers
}
pair
six client vc fd09::1; six server vs fd09::2
sleep 0.5
evidence_run on
evidence_run off
part client server
