# SPDX-License-Identifier: MIT
# Two causes: a queueing discipline holds packets a little, the reader sleeps long.
acquainted
sink server 7 pause=$(pick 9000 14000)
tap vs server vs
netem client vc delay $(pick 3 6)ms
from client /stream udp to=10.9.0.2 port=7 n=40 len=100 gap=3000
sleep 1
