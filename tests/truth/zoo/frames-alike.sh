# SPDX-License-Identifier: MIT
# Two programs give the same frames to a device at the same time.
pair
tap vc client vc
tap vs server vs
tap any server any
from client /send from=10.9.0.1 to=10.9.0.255 device=vc n=40 id=cycle:40 gap=3000
for i in 1 2; do
	more client /frame device=vc from=10.9.0.1 to=10.9.0.255 n=250 gap=2000 burst=5
	more server /frame device=vs from=10.9.0.1 to=10.9.0.255 n=150 gap=3000 burst=5; done
all_done
from client /send from=10.9.0.1 to=10.9.0.255 device=vc n=40 id=cycle:40 gap=3000
