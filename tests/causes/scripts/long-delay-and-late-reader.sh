# SPDX-License-Identifier: MIT
# Two causes: a queueing discipline holds packets long, the reader sleeps a little.
acquainted
sink server 7 pause=$(pick 3600 4200)
tap vs server vs
netem client vc delay $(pick 60 90)ms
from client /stream udp to=10.9.0.2 port=7 n=20 len=100 gap=3000
sleep 0.5
