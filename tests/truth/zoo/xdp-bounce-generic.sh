# SPDX-License-Identifier: MIT
# Generic XDP gives the very skb back to where it came from.
namespace client hub
must $ip link add vc netns client type veth peer name hc netns hub
must $ip -n client addr add 10.9.0.1/24 dev vc
must $ip -n client link set vc up; must $ip -n hub link set hc up
must $ip -n client neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev vc nud permanent
sleep 0.3
helper hub /redirect hc hc generic=1
tap vc client vc
tap any client any
more client /send from=10.9.0.1 to=10.9.0.2 n=200 id=const:7 gap=2000
more client /frame device=vc from=10.9.0.1 to=10.9.0.255 n=200 gap=2500 burst=3
more client /send from=10.9.0.1 to=10.9.0.2 n=200 id=cycle:30 gap=2000 sport=4100
all_done
