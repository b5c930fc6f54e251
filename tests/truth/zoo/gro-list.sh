# SPDX-License-Identifier: MIT
# A router that merges datagrams, and puts packets together without merging them.
router
for end in client/vc router/rc router/rs server/vs; do
	for feature in gro rx-udp-gro-forwarding rx-gro-list; do
		must $ip netns exec ${end%/*} /bin/ethtool -K ${end#*/} $feature on > /tmp/ethtool
	done; done
sink server 7 gro=1
tap vc client vc
tap rc router rc
tap rs router rs
tap vs server vs
more client /stream udp to=10.9.2.2 port=7 n=60 len=5000 gso=500 gap=3000
more client /stream tcp to=10.9.2.2 port=7 bytes=300000 chunk=9000 gap=2000
more client /stream udp to=10.9.2.2 port=7 n=100 len=90 gap=1000
all_done
sleep 0.2
