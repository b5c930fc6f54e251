# SPDX-License-Identifier: MIT
# TCP at full speed between devices that take no large segments.  segments=: bytes to send
pair
for end in client/vc server/vs; do
	must $ip netns exec ${end%/*} /bin/ethtool -K ${end#*/} gso off tso off gro off > /tmp/ethtool
done
bulk_run segments ${segments:-16M}
part client server
