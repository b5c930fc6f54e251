# SPDX-License-Identifier: MIT
# The reader sleeps, and its queue takes only a few packets.
acquainted
sink server 7 pause=$(pick 8000 20000) rcvbuf=2304
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=$(pick 80 200) len=200 gap=400
sleep 0.4
