# SPDX-License-Identifier: MIT
# What comes in goes through an ifb device, whose qdisc delays and duplicates it.
pair
must $ip -n server link add ifb0 type ifb; must $ip -n server link set ifb0 up
must server /bin/tc qdisc add dev vs clsact
must server /bin/tc filter add dev vs ingress matchall action mirred egress redirect dev ifb0
netem server ifb0 delay 5ms 4ms duplicate 30%
sink server 7 echo=1
sleep 0.3
tap vs server vs
tap ifb server ifb0
tap any server any
more client /frame device=vc from=10.9.0.1 to=10.9.0.255 n=200 gap=3000 burst=2
mix client 10.9.0.1 10.9.0.2
sleep 0.3
