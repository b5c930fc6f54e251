# SPDX-License-Identifier: MIT
# Two causes: a queueing discipline holds packets, and the reader's queue is full.
acquainted
sink server 7 pause=$(pick 9000 20000) rcvbuf=2304
tap vs server vs
netem client vc delay $(pick 5 12)ms
from client /stream udp to=10.9.0.2 port=7 n=100 len=200 gap=400
sleep 0.4
