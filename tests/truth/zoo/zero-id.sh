# SPDX-License-Identifier: MIT
pair
sink server 7
tap vc client vc
tap vs server vs
from client /send from=10.9.0.1 to=10.9.0.2 n=500 id=zero df=1
from client /send from=10.9.0.1 to=10.9.0.2 n=300 id=zero df=1 checksum=0 burst=5 gap=4000
