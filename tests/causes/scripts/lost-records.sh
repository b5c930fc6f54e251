# SPDX-License-Identifier: MIT
# Small buffers, and a recorder that is held up.
acquainted
sink server 7 echo=1
tap vs server vs
kill -STOP $recorder
from client /stream udp to=10.9.0.2 port=7 n=$(pick 200 400) len=100 gap=300
kill -CONT $recorder
sleep 0.5
