# SPDX-License-Identifier: MIT
# A few packets, far apart, between neighbours that know each other.
acquainted
sink server 7 echo=1
tap vs server vs
from client /stream udp to=10.9.0.2 port=7 n=12 len=$(pick 60 400) gap=60000
