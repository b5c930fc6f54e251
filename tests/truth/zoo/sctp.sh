# SPDX-License-Identifier: MIT
pair
sink server 9 proto=sctp
sink server 7
tap vc client vc
tap vs server vs
more client /stream udp to=10.9.0.2 port=7 n=150 len=90 gap=3000
more client /stream sctp to=10.9.0.2 port=9 bytes=60000 chunk=400 gap=1500
from client /stream sctp to=10.9.0.2 port=9 bytes=120000 chunk=600 gap=1500
all_done
