# SPDX-License-Identifier: MIT
pair
six client vc fd00::1; six server vs fd00::2
sleep 0.5
sink server 7
tap vc client vc
tap vs server vs
from client /bin/busybox ping -6 -q -c 2 fd00::2
n=0
for ext in h d r f hd hr hdr hdrf rf hf df; do
	n=$((n + 1))
	more client /send from=fd00::1 to=fd00::2 n=60 ext=$ext sport=40$n id=count gap=4000
done
all_done
