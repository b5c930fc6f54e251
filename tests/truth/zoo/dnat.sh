# SPDX-License-Identifier: MIT
# Two addresses of the router lead to one server; clients' numbers collide.
router
must $ip -n router addr add 10.9.1.9/24 dev rc
rule router -t nat -A PREROUTING -i rc -d 10.9.1.1 -j DNAT --to-destination 10.9.2.2
rule router -t nat -A PREROUTING -i rc -d 10.9.1.9 -j DNAT --to-destination 10.9.2.2
sink server 7 echo=1
tap vc client vc
tap rs router rs
tap vs server vs
more client /send from=10.9.1.2 to=10.9.1.1 n=150 id=const:7 gap=2000
more client /send from=10.9.1.2 to=10.9.1.9 n=150 id=const:7 gap=2000
more client /stream udp to=10.9.1.1 port=7 n=100 len=90 gap=3000
more client /stream udp to=10.9.1.9 port=7 n=100 len=90 gap=3000
from client /stream tcp to=10.9.1.1 port=7 bytes=80000 chunk=700 gap=1500
all_done
