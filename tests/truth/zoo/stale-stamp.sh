# SPDX-License-Identifier: MIT
# A copy is sent inside one namespace, where a received skb keeps the stamp that its original had.
pair
must $ip -n server link add ta type veth peer name tb
must $ip -n server addr add 10.9.3.1/24 dev ta
must $ip -n server link set ta up; must $ip -n server link set tb up
must $ip -n server neigh add 10.9.3.2 lladdr $(server cat /sys/class/net/tb/address) dev ta nud permanent
rule server -t mangle -A PREROUTING -i vs -p udp -j TEE --gateway 10.9.3.2
netem server ta delay 8ms
sink server 7
sleep 0.3
tap vs server vs
tap ta server ta
tap tb server tb
from client /send from=10.9.0.1 to=10.9.0.2 n=60 id=cycle:60 sport=4300 gap=4000
more client /send from=10.9.0.1 to=10.9.0.2 n=300 id=const:3 gap=4000
more client /frame device=vc from=10.9.0.1 to=10.9.0.2 n=300 gap=4000
from client /stream udp to=10.9.0.2 port=7 n=150 len=90
all_done
sleep 0.2
