# SPDX-License-Identifier: MIT
pair
six client vc fd00::1; six server vs fd00::2
sleep 0.5
sink server 7
tap vc client vc
tap vs server vs
from client /bin/busybox ping -6 -q -c 2 fd00::2
more client /send from=fd00::1 to=fd00::2 n=60 len=600 fragment=200 id=count gap=4000
more client /send from=fd00::1 to=fd00::2 n=60 len=300 fragment=160 id=const:5 sport=4100 gap=5000
more client /send from=fd00::1 to=fd00::2 n=50 len=500 fragment=256 ext=hd id=cycle:5 sport=4200 gap=5000
from client /stream udp to=fd00::2 port=7 n=60 len=3000 gap=4000
all_done
