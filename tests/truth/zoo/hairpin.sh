# SPDX-License-Identifier: MIT
# A client calls a server of its own network by the router's address: in and out at one device.
namespace client switch server
must $ip -n switch link add br0 type bridge
n=1
for ns in client server; do
	n=$((n + 1))
	must $ip link add eth0 netns $ns type veth peer name $ns netns switch
	must $ip -n switch link set $ns master br0 up; must $ip -n $ns link set eth0 up
	must $ip -n $ns addr add 10.9.0.$n/24 dev eth0
done
namespace router
must $ip link add eth0 netns router type veth peer name router netns switch
must $ip -n switch link set router master br0 up; must $ip -n switch link set br0 up
must $ip -n router link set eth0 up; must $ip -n router addr add 10.9.0.1/24 dev eth0
echo 1 | $ip netns exec router tee /proc/sys/net/ipv4/ip_forward > /dev/null
must $ip -n router addr add 10.9.9.9/32 dev lo
must $ip -n client route add 10.9.9.9/32 via 10.9.0.1
rule router -t nat -A PREROUTING -d 10.9.9.9 -j DNAT --to-destination 10.9.0.3
rule router -t nat -A POSTROUTING -d 10.9.0.3 -j MASQUERADE
sleep 0.5
sink server 7 echo=1
tap router router eth0
tap port switch router
tap server server eth0
mix client 10.9.0.2 10.9.9.9
