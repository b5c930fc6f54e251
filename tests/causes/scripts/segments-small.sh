# SPDX-License-Identifier: MIT
# The same traffic without segments above the MTU.
acquainted
small client vc; small server vs
sink server 7
tap vs server vs
from client /stream tcp to=10.9.0.2 port=7 bytes=$(pick 100000 200000) chunk=1400 gap=2000
sleep 0.2
