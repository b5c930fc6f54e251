# SPDX-License-Identifier: MIT
# Containers behind a bridge whose host masquerades them, as they call the same server.
namespace host one two server
must $ip -n host link add br0 type bridge
n=1
for c in one two; do
	n=$((n + 1))
	must $ip link add eth0 netns $c type veth peer name $c netns host
	must $ip -n host link set $c master br0 up; must $ip -n $c link set eth0 up
	must $ip -n $c addr add 172.17.0.$n/24 dev eth0
	must $ip -n $c route add default via 172.17.0.1
done
must $ip -n host link set br0 up; must $ip -n host addr add 172.17.0.1/24 dev br0
join host wan 10.9.2.1/24 server vs 10.9.2.2/24
echo 1 | $ip netns exec host tee /proc/sys/net/ipv4/ip_forward > /dev/null
rule host -t nat -A POSTROUTING -s 172.17.0.0/24 -o wan -j MASQUERADE
sleep 0.5
sink server 7 echo=1
tap one host one
tap br0 host br0
tap wan host wan
tap vs server vs
more one /send from=172.17.0.2 to=10.9.2.2 n=120 id=const:7 gap=2000
more two /send from=172.17.0.3 to=10.9.2.2 n=120 id=const:7 gap=2000
more one /stream udp to=10.9.2.2 port=7 n=100 len=90 gap=2000 sport=5000
more two /stream udp to=10.9.2.2 port=7 n=100 len=90 gap=2000 sport=5000
more two /stream tcp to=10.9.2.2 port=7 bytes=50000 chunk=700 gap=1500
from one /stream tcp to=10.9.2.2 port=7 bytes=50000 chunk=700 gap=1500
all_done
