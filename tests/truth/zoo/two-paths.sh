# SPDX-License-Identifier: MIT
# The same frames come by two cables; a sniffer of all devices gets both.
pair
join client wc 10.9.3.1/24 server ws 10.9.3.2/24
must client /bin/tc qdisc add dev vc clsact
must client /bin/tc filter add dev vc egress matchall action mirred egress mirror dev wc
must $ip -n server link set ws address $(server cat /sys/class/net/vs/address)
netem client vc delay 2ms 2ms duplicate 10%
netem client wc delay 2ms 2ms duplicate 10%
sink server 7 echo=1
sleep 0.3
tap any server any
tap any1 server any -y LINUX_SLL
tap vs server vs
tap ws server ws
more client /frame device=vc from=10.9.0.1 to=10.9.0.2 n=150 gap=4000
mix client 10.9.0.1 10.9.0.2
sleep 0.3
