# SPDX-License-Identifier: MIT
router
must $ip -n router link add red type vrf table 10
must $ip -n router link set red up
must $ip -n router link set rc master red; must $ip -n router link set rs master red
sleep 0.3
sink server 7 echo=1
tap rc router rc
tap red router red
tap rs router rs
tap vs server vs
mix client 10.9.1.2 10.9.2.2
