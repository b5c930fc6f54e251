# SPDX-License-Identifier: MIT
# A queueing discipline holds each packet for some milliseconds.
acquainted
sink server 7
tap vs server vs
netem client vc delay $(pick 4 15)ms
from client /stream udp to=10.9.0.2 port=7 n=80 len=200 gap=$(pick 2000 6000)
sleep 0.2
