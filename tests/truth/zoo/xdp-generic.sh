# SPDX-License-Identifier: MIT
# A hub of XDP: what comes in at one device leaves at the other.
namespace client hub server
must $ip link add vc netns client type veth peer name hc netns hub
must $ip link add vs netns server type veth peer name hs netns hub
must $ip -n client addr add 10.9.0.1/24 dev vc; must $ip -n server addr add 10.9.0.2/24 dev vs
for d in client/vc server/vs hub/hc hub/hs; do
	must $ip netns exec ${d%/*} /bin/ethtool -K ${d#*/} gro on tso off gso off > /tmp/ethtool
	must $ip netns exec ${d%/*} /bin/ethtool -K ${d#*/} tx off > /tmp/ethtool
	must $ip -n ${d%/*} link set ${d#*/} up; done
sleep 0.3
helper hub /redirect hc hs generic=1
helper hub /redirect hs hc generic=1
sink server 7 echo=1
tap vc client vc
tap vs server vs
mix client 10.9.0.1 10.9.0.2
