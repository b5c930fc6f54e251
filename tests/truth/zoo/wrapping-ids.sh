# SPDX-License-Identifier: MIT
pair
sink server 7
tap vc client vc
tap vs server vs
from client /send from=10.9.0.1 to=10.9.0.2 n=600 id=wrap
from client /send from=10.9.0.1 to=10.9.0.2 n=300 id=wrap sport=4100 burst=10 gap=4000
