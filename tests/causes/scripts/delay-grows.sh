# SPDX-License-Identifier: MIT
# The acknowledgements of a stream suddenly take long, so TCP sends again what was never lost.
acquainted
small client vc; small server vs
sink server 7
tap vc client vc
tap vs server vs
netem server vs delay 2ms
more client /stream tcp to=10.9.0.2 port=7 bytes=60000 chunk=1400 gap=5000
sleep 0.1
must $ip netns exec server /bin/tc qdisc change dev vs root netem limit 5000 delay $(pick 300 500)ms
all_done
sleep 1.5
