# SPDX-License-Identifier: MIT
# The same new connections, while the table of connections has room.
acquainted
track_connections $(pick 4000 5000)
sink server 7
tap vs server vs
from client /send from=10.9.0.1 to=10.9.0.2 n=160 ports=160 sport=1000 gap=1500
sleep 0.2
