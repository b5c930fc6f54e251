# SPDX-License-Identifier: MIT
# The receiver of a stream reads slowly, so its window closes.
acquainted
small client vc; small server vs
sink server 7 proto=tcp pause=$(pick 20000 40000) rcvbuf=4608
tap vc client vc
tap vs server vs
from client /stream tcp to=10.9.0.2 port=7 bytes=60000 chunk=1000 gap=200
sleep 1
