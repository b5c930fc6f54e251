# SPDX-License-Identifier: MIT
# All processors are busy, bursts come from many programs: probes may miss hits.
namespace client server
join client vc 10.9.0.1/24 server vs 10.9.0.2/24
netem server vs delay 2ms 2ms duplicate 5%
sink server 7 echo=1
tap vc client vc
tap vs server vs
for i in 1 2 3 4; do
	more client /send from=10.9.0.1 to=10.9.0.2 n=150 id=cycle:40 burst=25 gap=9000 sport=4${i}00
	more client /stream udp to=10.9.0.2 port=7 n=120 len=90 gap=0
done
more client /stream tcp to=10.9.0.2 port=7 bytes=300000 chunk=3000
all_done
sleep 0.3
