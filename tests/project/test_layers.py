# SPDX-License-Identifier: MIT
"""The layer table: every function has a layer, every layer its own colours."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from skbviewer.records import resource

TABLE: dict[str, Any] = json.loads(resource("layers.json").read_text())


def layer(function: str) -> str:
    return next(str(name) for pattern, name in TABLE["functions"] if fnmatchcase(function, pattern))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("__x64_sys_sendto", "syscall"),
        ("sock_def_readable", "socket"),
        ("skb_copy_datagram_iter", "socket"),
        ("skb_consume_udp", "socket"),
        ("tcp_v4_rcv", "transport"),
        ("__tcp_transmit_skb", "transport"),
        ("icmp_rcv", "transport"),
        ("ip_local_deliver", "ip"),
        ("__ip_queue_xmit", "ip"),
        ("ip6_output", "ip"),
        ("nf_hook_slow", "netfilter"),
        ("__netif_receive_skb_core", "link"),
        ("dev_hard_start_xmit", "link"),
        ("sch_direct_xmit", "link"),
        ("arp_rcv", "link"),
        ("neigh_resolve_output", "link"),
        ("dev_queue_xmit_nit", "tap"),
        ("tpacket_rcv", "tap"),
        ("veth_xmit", "driver"),
        ("e1000_xmit_frame", "driver"),
        ("__alloc_skb", "memory"),
        ("kfree_skb_reason", "memory"),
        ("skb_clone", "memory"),
        ("selinux_socket_sock_rcv_skb", "security"),
        ("rtnetlink_rcv_msg", "netlink"),
        ("a_function_nobody_wrote", "other"),
    ],
)
def test_function_has_its_layer(function: str, expected: str) -> None:
    assert layer(function) == expected


def test_layers_of_functions_exist() -> None:
    names = [entry["name"] for entry in TABLE["layers"]]
    assert {name for _, name in TABLE["functions"]} == set(names)
    assert len(names) == len(set(names))


def test_no_pattern_is_hidden_by_an_earlier_one() -> None:
    patterns = [pattern for pattern, _ in TABLE["functions"]]
    assert len(patterns) == len(set(patterns))
    assert patterns.index("*") == len(patterns) - 1


@pytest.mark.parametrize("key", ["colour", "colour_dark"])
def test_colours_are_distinct(key: str) -> None:
    colours = [entry[key] for entry in TABLE["layers"]]
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    assert len(colours) == len(set(colours))
