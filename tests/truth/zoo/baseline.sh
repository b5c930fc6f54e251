# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap vc client vc
tap vs server vs
more client /stream tcp to=10.9.0.2 port=7 bytes=200000 chunk=1000 gap=500
more client /stream udp to=10.9.0.2 port=7 n=250 len=100
pings client 10.9.0.2 50
all_done
