# SPDX-License-Identifier: MIT
namespace client server
for ns in client server; do
	must $ip -n $ns link add bond0 type bond mode broadcast miimon 100; done
for n in 1 2; do
	must $ip link add c$n netns client type veth peer name s$n netns server
	must $ip -n client link set c$n master bond0; must $ip -n server link set s$n master bond0
done
for n in 1 2; do must $ip -n client link set c$n up; must $ip -n server link set s$n up; done
must $ip -n client link set bond0 up; must $ip -n server link set bond0 up
must $ip -n client addr add 10.9.0.1/24 dev bond0; must $ip -n server addr add 10.9.0.2/24 dev bond0
sleep 1
sink server 7
tap c1 client c1
tap s2 server s2
tap bond-client client bond0
tap bond-server server bond0
more client /send from=10.9.0.1 to=10.9.0.2 n=200 id=cycle:20
more client /send from=10.9.0.1 to=10.9.0.2 n=100 id=const:9 sport=4100 gap=2000
pings client 10.9.0.2 40
from client /stream tcp to=10.9.0.2 port=7 bytes=60000 chunk=700 gap=1000
all_done
