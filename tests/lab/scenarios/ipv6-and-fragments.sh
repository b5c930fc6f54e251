# SPDX-License-Identifier: MIT
# IPv6 as in basic; fragments of IPv4, in UDP too, and a route with a smaller MTU.
pair
sniff server vs /tmp/out/ipv6-and-fragments.pcap
must client /bin/busybox ping -q -c 1 -s 4000 10.9.0.2
. /scenarios/six.sh
stop_sniffers
part client server
