# SPDX-License-Identifier: MIT
# A sniffer of all devices of one namespace; its socket is called for the others' devices, too.
namespace client server a b
join client vc 10.9.0.9/24 server vs 10.9.0.2/24
macvlan() {
	must $ip -n client link add $1 link vc netns $2 type macvlan mode bridge
	must $ip -n $2 addr add $3 dev $1; must $ip -n $2 link set $1 up
}
macvlan m1 a 10.9.0.11/24
macvlan m2 b 10.9.0.12/24
sink b 7 echo=1
tap m1 a m1
tap m2 b m2
tap any client any
mix a 10.9.0.11 10.9.0.12
more a /send from=10.9.0.11 to=10.9.0.255 n=100 id=const:4 gap=3000
more b /frame device=m2 from=10.9.0.12 to=10.9.0.255 n=100 burst=3 gap=3000
more client /frame device=vc from=10.9.0.12 to=10.9.0.255 n=100 burst=3 gap=3000
all_done
