# SPDX-License-Identifier: MIT
pair
sink server 7
netem client vc delay 3ms 2ms duplicate 15% loss 5%
tap vc client vc
tap vs server vs
from client /send from=10.9.0.1 to=10.9.0.2 n=500 id=const:1 checksum=0
from client /send from=10.9.0.1 to=10.9.0.2 n=300 id=zero df=1 burst=4 gap=4000
sleep 0.3
