# SPDX-License-Identifier: MIT
pair
sink server 7
netem client vc delay 3ms 2ms duplicate 15%
tap vc client vc
tap vs server vs
more client /send from=10.9.0.1 to=10.9.0.2 n=80 len=600 fragment=200 id=count gap=4000
more client /send from=10.9.0.1 to=10.9.0.2 n=60 len=300 fragment=160 id=const:5 sport=4100 gap=5000
from client /stream udp to=10.9.0.2 port=7 n=60 len=3000 gap=4000
all_done
sleep 0.3
