# SPDX-License-Identifier: MIT
pair
namespace box
must $ip -n server link add mv0 link vs netns box type macvlan mode bridge
must $ip -n server link add mv1 link vs type macvlan mode bridge
must $ip -n box addr add 10.9.0.3/24 dev mv0; must $ip -n box link set mv0 up
must $ip -n server addr add 10.9.4.4/24 dev mv1; must $ip -n server link set mv1 up
must $ip -n box addr add 10.9.4.3/24 dev mv0
sleep 0.3
sink box 7 echo=1
tap vs server vs
tap mv0 box mv0
tap mv1 server mv1
more server /send from=10.9.4.4 to=10.9.4.3 n=250 id=cycle:11 gap=2000
mix client 10.9.0.1 10.9.0.3
