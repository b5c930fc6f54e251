# SPDX-License-Identifier: MIT
# The reader sleeps before each read; nothing is dropped, because the queue is long enough.
acquainted
sink server 7 pause=$(pick 3000 9000)
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=60 len=100 gap=2000
sleep 1
