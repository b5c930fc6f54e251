# SPDX-License-Identifier: MIT
# Two clients with one source port and one identification behind one address.
router
namespace second
must $ip link add vc netns second type veth peer name rd netns router
must $ip -n second addr add 10.9.3.2/24 dev vc; must $ip -n router addr add 10.9.3.1/24 dev rd
must $ip -n second link set vc up; must $ip -n router link set rd up
must $ip -n second route add default via 10.9.3.1
rule router -t nat -A POSTROUTING -o rs -j SNAT --to-source 10.9.2.1
sleep 0.3
sink server 7 echo=1
tap rc router rc
tap rd router rd
tap rs router rs
tap vs server vs
more client /send from=10.9.1.2 to=10.9.2.2 n=150 id=const:7 gap=2000
more second /send from=10.9.3.2 to=10.9.2.2 n=150 id=const:7 gap=2000
more client /stream udp to=10.9.2.2 port=7 n=100 len=90 gap=3000 sport=5000
more second /stream udp to=10.9.2.2 port=7 n=100 len=90 gap=3000 sport=5000
more second /stream tcp to=10.9.2.2 port=7 bytes=50000 chunk=700 gap=1500 sport=6000
from client /stream tcp to=10.9.2.2 port=7 bytes=50000 chunk=700 gap=1500 sport=6000
all_done
