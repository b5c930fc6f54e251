# SPDX-License-Identifier: MIT
# One of two hosts at the ends of a cable: pings, TCP, UDP.  role=: client or server
me=1; [ "$role" = server ] && me=2
out=/tmp/out/two-hosts.pcap
hostname $role
must $ip link set lo up
must $ip addr add 10.9.0.$me/24 dev eth0
ends=
if [ "$role" = server ]; then
	for p in tcp/7 udp/7 tcp/8 udp/99; do
		: > /tmp/serve; /traffic ${p%/*} server ${p#*/} > /tmp/serve & ends="$ends $!"
		until_said /tmp/serve ready $! "the server"; done
fi
# The other end answers as soon as it has all it needs.
must $ip link set eth0 up
/bin/tcpdump -Z root -i eth0 -n -U --immediate-mode --time-stamp-precision=nano -w $out \
	2> $out.said & sniffers="$sniffers $!"
until_said $out.said listening $! "the sniffer"
if [ "$role" = server ]; then
	for s in $ends; do must wait $s; done
else
	i=0; until ping -q -c 1 -W 1 10.9.0.2; do
		i=$((i + 1)); [ $i -lt 300 ] || fail "the other host does not answer"; done
	must ping -q -c 5 -i 0.2 10.9.0.2
	must /traffic tcp client 10.9.0.2 7; must /traffic udp client 10.9.0.2 7
	must ping -q -c 3 -i 0.2 -s 4000 10.9.0.2
	must /traffic tcp client 10.9.0.2 8
	must /traffic udp client 10.9.0.2 99
fi
stop_sniffers
