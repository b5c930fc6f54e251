# SPDX-License-Identifier: MIT
# A bridge learns nothing, so a third host gets what is for others, and ignores it.  All arrives.
namespace client switch server other
must $ip -n switch link add br0 type bridge ageing_time 0
host=0; for ns in client server other; do
	host=$((host + 1))
	must $ip link add eth0 netns $ns type veth peer name p$host netns switch
	must $ip -n switch link set p$host master br0 up
	must $ip -n $ns addr add 10.9.0.$host/24 dev eth0; must $ip -n $ns link set eth0 up
done
must $ip -n switch link set br0 up
neighbours client eth0 10.9.0.1 server eth0 10.9.0.2
sleep 0.5
sink server 7 echo=1
tap server server eth0
tap other other eth0
more client /stream udp to=10.9.0.2 port=7 n=$(pick 20 50) len=100 gap=20000
from client /stream tcp to=10.9.0.2 port=7 bytes=20000 chunk=500 gap=20000
all_done
