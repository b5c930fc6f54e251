# SPDX-License-Identifier: MIT
pair
sink server 7
tap vc client vc
tap vs server vs
from client /send from=10.9.0.1 to=10.9.0.2 n=700 id=cycle:16 ports=3
from client /send from=10.9.0.1 to=10.9.0.2 n=300 id=cycle:7 burst=20 gap=8000
