# SPDX-License-Identifier: MIT
pair
sink server 7
netem client vc delay 4ms 3ms duplicate 20%
tap vc client vc
tap vs server vs
more client /send from=10.9.0.1 to=10.9.0.2 n=500 id=cycle:50
more client /send from=10.9.0.1 to=10.9.0.2 n=200 id=const:9 sport=4100 gap=2500
from client /stream tcp to=10.9.0.2 port=7 bytes=150000 chunk=1000 gap=800
all_done
sleep 0.2
