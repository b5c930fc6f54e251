# SPDX-License-Identifier: MIT
# TCP over a path that sends some segments before those that wait.
acquainted
small client vc; small server vs
sink server 7
tap vc client vc
tap vs server vs
netem client vc delay 8ms reorder $(pick 70 80)%
from client /stream tcp to=10.9.0.2 port=7 bytes=200000 chunk=1400 gap=300
sleep 0.5
