# SPDX-License-Identifier: MIT
"""The kernel functions that show where a packet is.

The names are those of Linux 4.x to 6.x; a name that a kernel does not have does no harm.
"""

from __future__ import annotations

# First functions of the receiving stack: when a packet that was transmitted reaches one of these,
# a new leg begins (net/core/dev.c, net/core/gro.c).
RECEIVE_START = frozenset(
    {
        "__netif_receive_skb",
        "__netif_receive_skb_core.constprop.0",
        "__netif_receive_skb_one_core",
        "__netif_rx",
        "dev_gro_receive",
        "enqueue_to_backlog",
        "gro_cells_receive",
        "napi_gro_frags",
        "napi_gro_receive",
        "netif_receive_skb",
        "netif_receive_skb_core",
        "netif_rx",
        "netif_rx_internal",
        "net:netif_receive_skb",  # a tracepoint, as tracers name it
    }
)

# Where packet taps see a received packet: net/core/dev.c hands it to ptype_all from here.
RECEIVE_TAP = (
    "__netif_receive_skb_core.constprop.0",
    "__netif_receive_skb_one_core",
    "__netif_receive_skb",
    "netif_receive_skb",
    "netif_rx_internal",
    "__netif_rx",
    "net:netif_receive_skb",
)

# The hand-over to the driver; taps see a packet on its way out just inside dev_hard_start_xmit.
TRANSMIT = frozenset(
    {
        "dev_hard_start_xmit",
        "loopback_xmit",
        "start_xmit",  # virtio_net
        "tun_net_xmit",
        "veth_xmit",
        "xmit_one",
        "net:net_dev_start_xmit",  # a tracepoint
    }
)

# A sniffer's stamp is made inside these, never before (net/core/dev.c: dev_queue_xmit_nit(),
# net_timestamp_check()).
STAMPS_SENT = frozenset({"dev_hard_start_xmit", "xmit_one"})
STAMPS_RECEIVED = frozenset(
    {
        "__netif_rx",
        "dev_gro_receive",
        "gro_cells_receive",
        "napi_gro_frags",
        "napi_gro_receive",
        "netif_receive_skb",
        "netif_rx",
        "netif_rx_internal",
    }
)

# The reading process takes the packet from its socket: the stack was done with it before.
READER = frozenset(
    {
        "__skb_datagram_iter",
        "__skb_recv_datagram",
        "__skb_recv_udp",
        "__skb_try_recv_datagram",
        "__skb_try_recv_from_queue",
        "__sock_recv_cmsgs",
        "__sock_recv_timestamp",
        "inet_recv_error",
        "ipv6_recv_error",
        "ping_recvmsg",
        "raw_recvmsg",
        "rawv6_recvmsg",
        "skb_attempt_defer_free",
        "skb_consume_udp",
        "skb_copy_and_csum_datagram_msg",
        "skb_copy_datagram_iter",
        "skb_free_datagram",
        "skb_recv_datagram",
        "tcp_eat_recv_skb",
        "tcp_recvmsg",
        "tcp_recvmsg_locked",
        "udp_recvmsg",
        "udpv6_recvmsg",
    }
)

# A packet socket gets a packet, and stamps it (net/packet/af_packet.c).
PACKET_SOCKET = frozenset({"packet_rcv", "packet_rcv_spkt", "tpacket_rcv"})

# Callers of skb_clone() that copy a packet for a sniffer (net/core/dev.c, net/packet/af_packet.c).
TAP_CLONER = frozenset(
    {"dev_queue_xmit_nit", "packet_rcv", "packet_rcv_fanout", "packet_rcv_spkt", "tpacket_rcv"}
)
SENDING_TAP = frozenset({"dev_queue_xmit_nit"})
# Return addresses while a function's return is hooked (kernel/trace/rethook.c, kernel/kprobes.c,
# arch/*/kernel/ftrace_64.S); they hide its caller.
RETURN_HOOK = frozenset({"arch_rethook_trampoline", "__kretprobe_trampoline", "return_to_handler"})
