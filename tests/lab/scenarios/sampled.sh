# SPDX-License-Identifier: MIT
# One of two hosts at the ends of a cable; both record one connection in N.  role=: client or
# server; sample=: N; tcp= and udp=: number of connections.  Then the client records what it
# receives.
me=1; [ "$role" = server ] && me=2
hostname $role
# sniff_cable FILE
sniff_cable() {
	/bin/tcpdump -Z root -i eth0 -n -U --immediate-mode --time-stamp-precision=nano -s 128 \
		-w $1 2> $1.said & sniffers="$sniffers $!"
	until_said $1.said listening $! "the sniffer"
}
must $ip link set lo up
must $ip addr add 10.9.0.$me/24 dev eth0
mkdir /www
must dd if=/dev/urandom of=/www/file bs=1k count=64 2> /dev/null
load subbuf_kb=256 n_subbufs=32
start_recorder /tmp/out/sampled.kbl -f /probes.txt --sample $sample ip or arp
if [ "$role" = server ]; then
	/bin/busybox httpd -p 80 -h /www || fail "httpd"
	: > /tmp/serve; /traffic tcp server 81 > /tmp/serve & last=$!
	until_said /tmp/serve ready $last "the server"
fi
must $ip link set eth0 up
sniff_cable /tmp/out/sampled.pcap
if [ "$role" = server ]; then
	must wait $last
else
	i=0; until ping -q -c 1 -W 1 10.9.0.2; do
		i=$((i + 1)); [ $i -lt 300 ] || fail "the other host does not answer"; done
	i=0; while [ $i -lt $tcp ]; do
		i=$((i + 1)); must wget -q -O /dev/null http://10.9.0.2/file; done
	# Nobody listens there.
	i=0; while [ $i -lt $udp ]; do
		i=$((i + 1)); must /traffic udp send 10.9.0.2 $((2000 + i)); done
	must /traffic udp ports 10.9.0.2 3000
	must ping -q -c 3 -i 0.2 -s 4000 10.9.0.2
	must /traffic tcp client 10.9.0.2 81
fi
stop_sniffers
stop_recorder
# reach PORT: wait until the server listens there; it has stopped what it did before
reach() {
	i=0; until /traffic tcp client 10.9.0.2 $1; do
		i=$((i + 1)); [ $i -lt 100 ] || fail "the server does not listen at $1"
		sleep 0.2; done
}
# TCP merges received packets and frees their skbs without a function call that a probe sees.  The
# clones that the sniffer gets of the acknowledgements, which are refused, take the addresses.
if [ "$role" = server ]; then
	for port in 82 83; do /traffic tcp server $port > /tmp/serve & must wait $!; done
else
	reach 82
	sniff_cable /tmp/out/received.pcap
	start_recorder /tmp/out/received.kbl -f /probes.txt tcp and src host 10.9.0.2
	i=0; while [ $i -lt 20 ]; do
		i=$((i + 1)); must wget -q -O /dev/null http://10.9.0.2/file; done
	stop_recorder
	reach 83
	stop_sniffers
fi
unload
