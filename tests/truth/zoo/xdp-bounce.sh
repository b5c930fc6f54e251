# SPDX-License-Identifier: MIT
# XDP in the driver gives frames back to where they came from, in another skb.
namespace client hub
must $ip link add vc netns client type veth peer name hc netns hub
must $ip -n client addr add 10.9.0.1/24 dev vc
for d in client/vc hub/hc; do
	must $ip netns exec ${d%/*} /bin/ethtool -K ${d#*/} gro on tso off gso off > /tmp/ethtool
	must $ip netns exec ${d%/*} /bin/ethtool -K ${d#*/} tx off > /tmp/ethtool
	must $ip -n ${d%/*} link set ${d#*/} up; done
must $ip -n client neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev vc nud permanent
sleep 0.3
helper hub /redirect hc hc
tap vc client vc
tap any client any
more client /send from=10.9.0.1 to=10.9.0.2 n=200 id=const:7 gap=2000
more client /frame device=vc from=10.9.0.1 to=10.9.0.255 n=200 gap=2500 burst=3
more client /send from=10.9.0.1 to=10.9.0.2 n=200 id=cycle:30 gap=2000 sport=4100
all_done
