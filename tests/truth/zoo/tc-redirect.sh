# SPDX-License-Identifier: MIT
# A hub of tc: what comes in at one device leaves at the other.
namespace client hub server
must $ip link add vc netns client type veth peer name hc netns hub
must $ip link add vs netns server type veth peer name hs netns hub
must $ip -n client addr add 10.9.0.1/24 dev vc; must $ip -n server addr add 10.9.0.2/24 dev vs
for d in client/vc hub/hc hub/hs server/vs; do must $ip -n ${d%/*} link set ${d#*/} up; done
for pair in hc/hs hs/hc; do
	must $ip netns exec hub /bin/tc qdisc add dev ${pair%/*} clsact
	must $ip netns exec hub /bin/tc filter add dev ${pair%/*} ingress matchall \
		action mirred egress redirect dev ${pair#*/}
done
sleep 0.3
sink server 7 echo=1
tap hc hub hc
tap hs hub hs
tap vs server vs
mix client 10.9.0.1 10.9.0.2
