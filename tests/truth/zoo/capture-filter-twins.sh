# SPDX-License-Identifier: MIT
# Frames whose identities are alike; the sniffers' filters take some of them.
pair
tap vc client vc
tap vs server vs
tap tos client vc "ip[1] = 4 or icmp"
tap mac server vs "ether src 02:00:00:00:00:08 or icmp"
tap vlan server vs "vlan or icmp"
pings client 10.9.0.2 30
more client /frame device=vc from=10.9.0.1 to=10.9.0.2 tos=0,4,4 mac=9,8 n=300 burst=5 gap=2500
more client /frame device=vc from=10.9.0.1 to=10.9.0.2 tos=0,4 mac=8,9 n=300 burst=7 gap=3100
more client /frame device=vc from=10.9.0.1 to=10.9.0.2 vlan=5,6,0,0 mac=8,9 n=200 burst=6 gap=2700
all_done
pings client 10.9.0.2 30
