# SPDX-License-Identifier: MIT
# The recorder is held up again and again: its small buffers lose records.
pair
netem client vc delay 3ms 2ms duplicate 10%
sink server 7 echo=1
tap vc client vc
tap vs server vs
more client /send from=10.9.0.1 to=10.9.0.2 n=400 id=cycle:30 gap=4000
more client /stream tcp to=10.9.0.2 port=7 bytes=150000 chunk=800 gap=6000
more client /stream udp to=10.9.0.2 port=7 n=250 len=90 gap=6000
for i in 1 2 3 4; do
	sleep 0.3; kill -STOP $recorder; sleep 0.25; kill -CONT $recorder; done
all_done
sleep 0.3
