# SPDX-License-Identifier: MIT
# TCP sent in single segments to a device that merges what it receives.  merge=: bytes to send
pair
must client /bin/ethtool -K vc gso off tso off > /tmp/ethtool
must server /bin/ethtool -K vs gro on > /tmp/ethtool
sniff client vc /tmp/out/merge-sent.pcap -s 128 -B 16384
bulk_run merge ${merge:-2M}
part client server
