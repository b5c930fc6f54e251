# SPDX-License-Identifier: MIT
# The table of connections is full: for a new connection, the kernel first evicts others.
acquainted
track_connections $(pick 5000 6000)
sink server 7
tap vs server vs
from client /send from=10.9.0.1 to=10.9.0.2 n=$most ports=$most sport=2000 gap=60
sleep 0.1
from client /send from=10.9.0.1 to=10.9.0.2 n=40 ports=40 sport=1000 gap=4000
sleep 0.2
