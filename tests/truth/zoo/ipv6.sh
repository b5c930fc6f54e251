# SPDX-License-Identifier: MIT
pair
six client vc fd00::1; six server vs fd00::2
sleep 0.5
sink server 7 echo=1
tap vc client vc
tap vs server vs
from client /bin/busybox ping -6 -q -c 3 fd00::2
more client /stream tcp to=fd00::2 port=7 bytes=120000 chunk=800 gap=1000
more client /stream udp to=fd00::2 port=7 n=150 len=90 gap=1500
from client /send from=fd00::1 to=fd00::2 n=250
all_done
