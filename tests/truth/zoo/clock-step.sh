# SPDX-License-Identifier: MIT
# The wall clock is set forward and back between a packet and its duplicate.
pair
netem client vc delay 3ms 2ms duplicate 20%
sink server 7 echo=1
tap vc client vc
tap vs server vs
more client /send from=10.9.0.1 to=10.9.0.2 n=500 id=const:7 gap=4000
more client /send from=10.9.0.1 to=10.9.0.2 n=300 id=cycle:30 gap=6000 sport=4100
for ms in 2 -2 15 -30 700 -700 40000 -3; do sleep 0.25; must /clock ms=$ms; done
all_done
sleep 0.3
