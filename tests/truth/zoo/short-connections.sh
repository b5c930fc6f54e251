# SPDX-License-Identifier: MIT
# Many handshakes from one port: sequence numbers differ, all else is alike.
pair
sink server 7
tap vc client vc
tap vs server vs
i=0; while [ $i -lt 45 ]; do
	from client /stream tcp to=10.9.0.2 port=$((i % 3 ? 7 : 99)) bytes=900 chunk=300 sport=$((i % 3 ? 0 : 5000)) 2> /tmp/refused || true
	i=$((i + 1)); done
