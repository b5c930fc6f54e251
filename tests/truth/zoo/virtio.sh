# SPDX-License-Identifier: MIT
# Two network cards of the guest, joined outside of it; received packets are merged, then not.
namespace client server
card client vc 02:00:00:00:0a:01 10.9.0.1/24
card server vs 02:00:00:00:0a:02 10.9.0.2/24
i=0; until $ip netns exec client /bin/busybox ping -q -c 1 -W 1 10.9.0.2 > /tmp/ping; do
	i=$((i + 1)); [ $i -lt 30 ] || fail "the cards are not joined"; done
sink server 7 echo=1
sink client 7 echo=1
tap vc client vc
tap vs server vs
for merging in on off; do
	for end in client/vc server/vs; do
		must ${end%/*} /bin/ethtool -K ${end#*/} gro $merging > /tmp/ethtool; done
	more client /stream tcp to=10.9.0.2 port=7 bytes=150000 chunk=3000 gap=1500
	more server /stream tcp to=10.9.0.1 port=7 bytes=60000 chunk=700 gap=1500
	more client /stream udp to=10.9.0.2 port=7 n=120 len=90 gap=2000
	more server /stream udp to=10.9.0.1 port=7 n=120 len=90 gap=2000
	pings client 10.9.0.2 20
	all_done
done
