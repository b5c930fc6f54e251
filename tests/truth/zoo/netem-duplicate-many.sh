# SPDX-License-Identifier: MIT
pair
sink server 7 echo=1
tap vc client vc
tap vs server vs
netem client vc duplicate 30%
netem server vs duplicate 10%
mix client 10.9.0.1 10.9.0.2
sleep 0.5
