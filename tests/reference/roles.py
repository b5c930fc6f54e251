# SPDX-License-Identifier: MIT
"""Functions, grouped by what their calls show about where a packet was before or after."""

from __future__ import annotations

MERGES = {"skb_morph", "skb_try_coalesce", "tcp_try_coalesce"}
SENDS_AGAIN = {"__tcp_transmit_skb", "tcp_retransmit_skb", "__tcp_retransmit_skb"}
# In TCP's queue of unsent or of unacknowledged data.
KEPT = {"tcp_insert_write_queue_after", "tcp_set_skb_tso_segs", "tcp_event_new_data_sent"} | {
    "tcp_rbtree_insert",
    "skb_can_shift",
}
DEQUEUES = {"sch_direct_xmit", "netem_skb_cb"}
QUEUED = {"enqueue_to_backlog", "skb_flow_limit", "netif_rx_internal", "__netif_rx", "netif_rx"}
RECEIVES = {"__netif_receive_skb", "__netif_receive_skb_one_core"}
GRO = "napi_gro_receive"
SCRUBS = "skb_scrub_packet"  # by WireGuard's worker after encryption, then by a tunnel's code
GENERATOR = "kpktgend_"  # names of threads that hold a packet until it is due to be sent
ACKNOWLEDGES = {"skb_release_data", "napi_consume_skb", "__kfree_skb", "tcp_ack"} | {
    "skb_can_shift",
    "skb_shift",
}
FLUSHES = {
    "napi_gro_complete",
    "inet_gro_complete",
    "ipv6_gro_complete",
    "netif_receive_skb_list_internal",
}
