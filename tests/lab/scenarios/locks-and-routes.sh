# SPDX-License-Identifier: MIT
# An exchange like that of handshake.sh.  Functions without an skb are recorded inside its calls.
packets='__alloc_skb skb_clone consume_skb kfree_skb_reason __kfree_skb kfree_skbmem sock_wfree
	inet_sendmsg inet_recvmsg tcp_sendmsg tcp_sendmsg_locked tcp_recvmsg udp_sendmsg udp_recvmsg raw_sendmsg
	tcp_write_xmit __tcp_transmit_skb udp_send_skb __ip_queue_xmit ip_send_skb ip_local_out ip_output
	ip_finish_output2 nf_hook_slow neigh_resolve_output __neigh_event_send arp_solicit arp_create arp_xmit
	arp_rcv arp_process __dev_queue_xmit dev_queue_xmit_nit dev_hard_start_xmit veth_xmit packet_rcv tpacket_rcv
	enqueue_to_backlog __netif_receive_skb_core.constprop.0 ip_rcv ip_rcv_finish_core.constprop.0
	ip_rcv_finish_core.isra.0 ip_route_input_slow fib_validate_source ip_local_deliver icmp_rcv icmp_echo
	ping_rcv __udp4_lib_rcv udp_queue_rcv_skb __udp_enqueue_schedule_skb skb_consume_udp tcp_v4_rcv
	tcp_v4_do_rcv tcp_rcv_established tcp_rcv_state_process tcp_conn_request tcp_v4_syn_recv_sock
	tcp_data_queue skb_copy_datagram_iter'
inner='fib_table_lookup __neigh_create neigh_lookup kmem_cache_alloc_node_noprof kmem_cache_free
	_raw_spin_lock_bh _raw_spin_lock mod_timer'
for f in $packets; do grep "^$f " /probes.txt; done > /tmp/with-inner.txt
for f in $inner; do
	grep -q " [tT] $f\$" /proc/kallsyms && echo "$f inner" >> /tmp/with-inner.txt
done
load subbuf_kb=256 n_subbufs=32
start_recorder /tmp/out/locks-and-routes.kbl -f /tmp/with-inner.txt
pair
serve server tcp server 7; tcp=$server
serve server udp server 7; udp=$server
sniff server vs /tmp/out/locks-and-routes.pcap
must $ip -n client neigh flush dev vc; must $ip -n server neigh flush dev vs
must client /bin/busybox ping -c 1 10.9.0.2
must client /traffic udp client 10.9.0.2 7
must client /traffic tcp client 10.9.0.2 7
must wait $tcp; must wait $udp
stop_sniffers
stop_recorder; unload
part client server
