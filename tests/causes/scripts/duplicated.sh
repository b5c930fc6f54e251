# SPDX-License-Identifier: MIT
# A path sends some TCP segments twice: the sender itself sends nothing again.
acquainted
small client vc; small server vs
sink server 7
tap vc client vc
tap vs server vs
netem client vc duplicate $(pick 5 12)%
from client /stream tcp to=10.9.0.2 port=7 bytes=$(pick 150000 300000) chunk=1400 gap=300
sleep 0.5
