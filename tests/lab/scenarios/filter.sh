# SPDX-License-Identifier: MIT
# The same traffic under different filters, each into filter-NAME.kbl; nat is filtered by the
# address that the router takes off.
cat > /filter.txt <<LIST
__alloc_skb skb@ret alloc quiet
skb_clone skb@0 skb@ret clone quiet
kfree_skbmem skb@0 free quiet
tcp_sendmsg sock@0
udp_sendmsg sock@0
__tcp_transmit_skb sock@0 skb@1
ip_queue_xmit sock@0 skb@1
ip_output skb@2
__dev_queue_xmit skb@0
netif_rx skb@0
ip_rcv skb@0
ip_forward skb@0
tcp_v4_rcv skb@0
udp_rcv skb@0
icmp_rcv skb@0
arp_rcv skb@0
netlink_rcv_skb skb@0
LIST
# filtered NAME EXPRESSION...: the exchange, recorded with that filter
filtered() {
	name=$1; shift
	start_recorder /tmp/out/filter-$name.kbl -f /filter.txt -e none "$@"
	sniff server vs /tmp/out/filter-$name.pcap
	must $ip -n client neigh flush dev vc
	must client /bin/busybox ping -q -c 2 10.9.0.2
	for p in tcp udp; do
		serve server $p server 7; must client /traffic $p client 10.9.0.2 7; served
	done
	stop_sniffers
	stop_recorder
}
pair
load subbuf_kb=256 n_subbufs=32
filtered none
filtered udp udp and port 7
filtered icmp icmp or arp
filtered tcp tcp and host 10.9.0.2
filtered source src host 10.9.0.1 and not icmp
filtered dev dev vs and ip
filtered mark mark 7
filtered netns netns $(readlink /proc/self/ns/net | tr -dc 0-9)
filtered sample --sample 2
part client server
# Refused texts change nothing and are named in the kernel log.
echo 'udp and port 7' > $kbl/filter || fail "filter"
refused filter 'udp and foo' 'host 10.0.0.1/8' '(udp' 'port 70000' "$(head -c 2000 /dev/zero | tr '\0' x)"
grep -q '^udp and port 7$' $kbl/filter || fail "the filter is not shown"
dmesg | grep 'kbl: filter:' > /tmp/out/filter-refused
echo > $kbl/filter || fail "no filter"
namespace client router server
join client vc 10.9.1.2/24 router rc 10.9.1.1/24
join router rs 10.9.2.1/24 server vs 10.9.2.2/24
must $ip -n client route add default via 10.9.1.1
must $ip netns exec router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
must $ip netns exec router /bin/iptables-legacy -t nat -A POSTROUTING -o rs -j MASQUERADE
sleep 0.2
start_recorder /tmp/out/filter-nat.kbl -f /filter.txt -e none src host 10.9.1.2
sniff server vs /tmp/out/filter-nat.pcap
must client /bin/busybox ping -q -c 2 10.9.2.2
for p in tcp udp; do
	serve server $p server 7; must client /traffic $p client 10.9.2.2 7; served
done
stop_sniffers
stop_recorder
part client router server
unload
