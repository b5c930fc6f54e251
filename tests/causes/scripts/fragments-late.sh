# SPDX-License-Identifier: MIT
# Fragments of a datagram are delayed differently, so the first waits for the last.
acquainted
sink server 7
tap vs server vs
netem client vc delay 10ms $(pick 4 8)ms
from client /stream udp to=10.9.0.2 port=7 n=50 len=$(pick 3000 6000) gap=5000
sleep 0.3
