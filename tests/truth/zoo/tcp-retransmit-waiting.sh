# SPDX-License-Identifier: MIT
# A segment is sent again while its first clone still waits in the qdisc.
pair
small client vc
sink server 7 echo=1
must client /bin/tc qdisc add dev vc root netem delay 1ms limit 5000
tap vc client vc
tap vs server vs
more client /stream tcp to=10.9.0.2 port=7 bytes=250000 chunk=500 gap=15000
more client /stream tcp to=10.9.0.2 port=7 bytes=150000 chunk=300 gap=15000
more client /stream udp to=10.9.0.2 port=7 n=150 len=90 gap=20000
for i in 1 2 3; do
	sleep 0.7; must client /bin/tc qdisc change dev vc root netem delay 450ms 100ms limit 5000
	sleep 1.2; must client /bin/tc qdisc change dev vc root netem delay 1ms limit 5000
done
all_done
