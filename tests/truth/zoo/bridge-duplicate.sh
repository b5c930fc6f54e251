# SPDX-License-Identifier: MIT
# Packets are duplicated and delayed before a bridge and behind it.
namespace client switch server
must $ip -n switch link add br0 type bridge
for end in client/e1 server/e2; do
	must $ip link add eth0 netns ${end%/*} type veth peer name ${end#*/} netns switch
	must $ip -n switch link set ${end#*/} master br0 up; must $ip -n ${end%/*} link set eth0 up
done
must $ip -n switch link set br0 up
must $ip -n client addr add 10.9.0.1/24 dev eth0; must $ip -n server addr add 10.9.0.2/24 dev eth0
netem client eth0 delay 3ms 3ms duplicate 30%
netem switch e2 delay 3ms 3ms duplicate 30%
sleep 0.5
sink server 7 echo=1
tap e1 switch e1
tap e2 switch e2
tap eth0 server eth0
tap any switch any
more client /frame device=eth0 from=10.9.0.1 to=10.9.0.2 n=200 gap=4000
mix client 10.9.0.1 10.9.0.2
sleep 0.3
