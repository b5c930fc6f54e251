# SPDX-License-Identifier: MIT
# Large segments are sent, and merged where they arrive.
pair
for end in client/vc server/vs; do
	must $ip netns exec ${end%/*} /bin/ethtool -K ${end#*/} gro on > /tmp/ethtool; done
sink server 7
tap vc client vc
tap vs server vs
from client /stream tcp to=10.9.0.2 port=7 bytes=3000000 chunk=9000 gap=700
from client /stream tcp to=10.9.0.2 port=7 bytes=2000000 chunk=60000
