# SPDX-License-Identifier: MIT
# Many handshakes; each third comes from one port and is refused.
pair
sink server 7
tap vc client vc
tap vs server vs
i=0; while [ $i -lt 20 ]; do
	for n in 1 2 3; do from client /stream tcp to=10.9.0.2 port=7 bytes=1200 chunk=300; done
	client /stream tcp to=10.9.0.2 port=99 sport=5000 2> /tmp/refused && fail "nobody refused"
	i=$((i + 1)); done
