# SPDX-License-Identifier: MIT
pair
namespace box
must $ip -n server link add iv0 link vs netns box type ipvlan mode l2
must $ip -n box addr add 10.9.0.3/24 dev iv0; must $ip -n box link set iv0 up
sleep 0.3
sink box 7 echo=1
tap vs server vs
tap iv0 box iv0
mix client 10.9.0.1 10.9.0.3
