# SPDX-License-Identifier: MIT
pair
small client vc
netem client vc delay 4ms 3ms loss 4%
netem server vs delay 2ms 2ms loss 2%
sink server 7
tap vc client vc
tap vs server vs
more client /stream tcp to=10.9.0.2 port=7 bytes=500000 chunk=2000 gap=1500
from client /stream tcp to=10.9.0.2 port=7 bytes=200000 chunk=700 gap=1500
all_done
