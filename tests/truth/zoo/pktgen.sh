# SPDX-License-Identifier: MIT
# The kernel's generator gives one skb to the stack again and again, and sends to a device.
pair
sink server 9
tap vs server vs
tap vc client vc
mac=$(server cat /sys/class/net/vs/address)
pktgen() { # NETNS DEVICE MODE COUNT BURST
	$ip netns exec $1 sh -c "
	echo rem_device_all > /proc/net/pktgen/kpktgend_0
	echo add_device $2 > /proc/net/pktgen/kpktgend_0
	for w in 'xmit_mode $3' 'count $4' 'burst $5' 'delay 2000000' 'pkt_size 90' \
		'src_min 10.9.0.1' 'src_max 10.9.0.1' 'dst 10.9.0.2' 'dst_mac $mac' \
		'udp_dst_min 9' 'udp_dst_max 9' 'udp_src_min 4000' 'udp_src_max 4000'; do
		echo \$w > /proc/net/pktgen/$2 || echo refused \$w; done
	echo start > /proc/net/pktgen/pgctrl"
}
more client /stream udp to=10.9.0.2 port=9 n=150 len=90 gap=3000
pktgen server vs netif_receive 400 3
pktgen client vc start_xmit 300 1
pktgen client vc queue_xmit 300 1
all_done
