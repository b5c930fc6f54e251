# SPDX-License-Identifier: MIT
"""The names of a leg's stages, and the functions that begin some of them."""

from __future__ import annotations

# Functions in which the protocol stack receives a packet from the driver or a backlog queue.
STACK = frozenset(
    {
        "netif_receive_skb",
        "netif_receive_skb_core",
        "netif_receive_skb_list_internal",
        "__netif_receive_skb",
        "__netif_receive_skb_core",
        "__netif_receive_skb_core.constprop.0",
        "__netif_receive_skb_list_core",
        "__netif_receive_skb_one_core",
    }
)
QUEUE = frozenset({"dev_queue_xmit", "__dev_queue_xmit", "dev_queue_xmit_accel"})

RECEIVING = ("receive: driver", "receive: protocol stack", "receive: receiving process")
SENDING = (
    "send: system call",
    "send: transport",
    "send: IP",
    "send: queueing discipline",
    "send: driver",
)
FORWARDING = (
    "forward: driver in",
    "forward: protocol stack",
    "forward: queueing discipline",
    "forward: driver out",
)
