# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap vc client vc
tap vs server vs
netem client vc duplicate 3%
netem server vs duplicate 1%
mix client 10.9.0.1 10.9.0.2
sleep 0.5
