# SPDX-License-Identifier: MIT
# Neighbours, addresses, routes, links, modules, the clock; nothing else is recorded.
begin tables "-all +table"
must $ip -n client neigh flush dev vc
must client /bin/busybox ping -q -c 1 10.9.0.2
must $ip -n client neigh add 10.9.0.77 lladdr 02:00:00:00:00:77 nud permanent dev vc
must $ip -n client neigh del 10.9.0.77 dev vc
must $ip -n client addr add 192.0.2.1/28 dev vc
must $ip -n client route add 198.51.100.0/24 via 192.0.2.2 table 77
must $ip -n client route del 198.51.100.0/24 table 77
must $ip -n client addr del 192.0.2.1/28 dev vc
six client vc 2001:db8::1
must $ip -n client -6 route add 2001:db8:1::/48 via 2001:db8::2
must $ip -n client -6 route del 2001:db8:1::/48
must $ip -n client -6 addr del 2001:db8::1/64 dev vc
# A namespace made while active is watched too.
must $ip netns add late
$ip netns exec late readlink /proc/self/ns/net | tr -cd 0-9 > $out/late.netns
must $ip link add e0 netns late type veth peer name e1 netns late
must $ip -n late link set e0 up; must $ip -n late link set e1 up
must $ip -n late addr add 203.0.113.1/24 dev e0
must $ip -n late link set e1 down; must $ip -n late link set e1 name renamed
must $ip -n late link del e0
must $ip netns del late
must /bin/modprobe sch_netem
must /bin/rmmod sch_netem
date +%s > $out/clock.before
must date -s @2000000000 > /dev/null
must date -s @$(cat $out/clock.before) > /dev/null
client sh -c "echo 1 > /proc/sys/net/ipv6/conf/vc/disable_ipv6"
end
