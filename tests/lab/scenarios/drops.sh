# SPDX-License-Identifier: MIT
# Packets that do not arrive: a rule of iptables, closed ports, a qdisc that loses one of five.
pair
must server /bin/iptables-legacy -A INPUT -p udp --dport 1009:1010 -j DROP
sniff server vs /tmp/out/drops.pcap
must client /bin/busybox ping -q -c 1 10.9.0.2
for i in 1 2 3 4 5; do must client /traffic udp send 10.9.0.2 1009; done
for p in tcp udp; do must client /traffic $p refused 10.9.0.2 9; done
must client /bin/tc qdisc add dev vc root netem loss 20%
i=0; while [ $i -lt ${sent:-60} ]; do must client /traffic udp send 10.9.0.2 1010; i=$((i + 1)); done
client /bin/tc -s qdisc show dev vc > /tmp/out/netem.txt
stop_sniffers
part client server
