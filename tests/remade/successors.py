# SPDX-License-Identifier: MIT
"""What became of the functions that the thesis names and that newer kernels do not have."""

from __future__ import annotations

# function: (its successor, why)
SUCCESSORS = {
    "skb_copy_datagram_iovec": (
        "skb_copy_datagram_iter",
        "messages are described by an iov_iter instead of an iovec",
    ),
    "__netif_rx_schedule": ("__napi_schedule", "a NAPI instance is scheduled, no longer a device"),
    "udp_encap_rcv": (
        "xfrm4_udp_encap_rcv",
        "UDP calls the receive function of the socket's own encapsulation; this is IPsec's",
    ),
    "udp_sendpage": (
        "udp_sendmsg",
        "sendpage is gone since 6.5: sendmsg takes pages by MSG_SPLICE_PAGES",
    ),
    "ip_append_page": (
        "ip_append_data",
        "sendpage is gone since 6.5: ip_append_data takes pages by MSG_SPLICE_PAGES",
    ),
}
