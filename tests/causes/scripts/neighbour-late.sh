# SPDX-License-Identifier: MIT
# Nobody knows the server's hardware address, and its answer takes long.
pair
sink server 7
tap vc client vc
netem server vs delay $(pick 15 60)ms
from client /stream udp to=10.9.0.2 port=7 n=$(pick 2 6) len=100 gap=1000
sleep 0.3
