# SPDX-License-Identifier: MIT
# The same large SCTP packets, whose CRC the devices compute and check.
acquainted
must $ip -n client link set vc mtu 65000; must $ip -n server link set vs mtu 65000
sink server 7 proto=sctp
tap vs server vs
from client /stream sctp to=10.9.0.2 port=7 bytes=$(pick 900000 1400000) chunk=60000 gap=20000
sleep 0.2
