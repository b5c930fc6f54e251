# SPDX-License-Identifier: MIT
# As bridge, but no sniffer makes its device promiscuous.
namespace client switch server
must $ip -n switch link add br0 type bridge
for end in client/e1 server/e2; do
	must $ip link add eth0 netns ${end%/*} type veth peer name ${end#*/} netns switch
	must $ip -n switch link set ${end#*/} master br0 up; must $ip -n ${end%/*} link set eth0 up
done
must $ip -n switch link set br0 up; must $ip -n switch addr add 10.9.0.3/24 dev br0
must $ip -n client addr add 10.9.0.1/24 dev eth0; must $ip -n server addr add 10.9.0.2/24 dev eth0
sleep 0.5
sink server 7 echo=1
sink switch 7
tap e1 switch e1 -p
tap e2 switch e2 -p
tap eth0 server eth0 -p
mix client 10.9.0.1 10.9.0.2
from client /stream udp to=10.9.0.3 port=7 n=100 len=100
