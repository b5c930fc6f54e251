# SPDX-License-Identifier: MIT
"""Calls that have a socket but no packet find the packets they handle."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import Nesting, build_legs, build_series, join_sockets

from ..story import HOST, OTHER, SOFTIRQ, Story, udp4

A, B = 0xFFFF888000001000, 0xFFFF888000002000
SOCK, OTHER_SOCK = 0xFFFF888000003000, 0xFFFF888000004000
MINE = HOST._replace(sk=SOCK)


def joined(story: Story, folder: Path) -> list[tuple[str, int]]:
    """(function, packet's skb) of all pairs."""
    log = story.log(folder)
    series = build_series(log)
    legs = build_legs(log, series)
    pairs = join_sockets(log, series, legs, Nesting(log.records))
    names = {p.id: p.name for p in log.probes.values()}
    records = log.records
    skb = {}
    for row in range(len(records)):
        if records["skb"][row] and legs.of[row] >= 0:
            skb[int(legs.of[row])] = int(records["skb"][row]) & (1 << 64) - 1
    functions = [names[int(records["func"][row])] for row in pairs.entry]
    return sorted(zip(functions, [skb[int(leg)] for leg in pairs.leg], strict=True))


def sending() -> Story:
    """tcp_sendmsg makes two packets, of which one is its socket's; a third is sent elsewhere."""
    story = Story()
    story.sock_call("tcp_sendmsg", 1000, 5000, SOCK, pid=7)
    story.sock_call("tcp_push", 2000, 4000, SOCK, pid=7)
    story.alloc(1100, A, pid=7)
    story.call("ip_output", 2100, 2200, A, pid=7, skbinfo=MINE, ipv4=udp4(1))
    story.alloc(3000, B, pid=7)
    story.call("ip_output", 3100, 3200, B, pid=7, skbinfo=HOST, ipv4=udp4(2))
    return story


def test_a_call_that_sends_belongs_to_what_its_socket_sent(tmp_path: Path) -> None:
    assert joined(sending(), tmp_path) == [("tcp_push", A), ("tcp_sendmsg", A)]


def test_a_thread_beside_is_no_sender(tmp_path: Path) -> None:
    story = sending()
    story.sock_call("tcp_recvmsg", 900, 6000, SOCK, pid=8)
    assert ("tcp_recvmsg", A) not in joined(story, tmp_path)


def test_a_call_inside_a_packets_call_belongs_to_it(tmp_path: Path) -> None:
    story = Story()
    place = {"pid": 7, "context": SOFTIRQ}
    story.call("tcp_v4_rcv", 1000, 3000, A, skbinfo=MINE, **place)
    story.call("kfree_skb", 1500, 2500, B, skbinfo=HOST, **place)
    story.sock_call("tcp_ack", 1200, 1300, SOCK, **place)
    story.sock_call("tcp_data_ready", 1600, 1700, SOCK, **place)  # deeper, in another packet's call
    story.sock_call("tcp_done", 1800, 1900, OTHER_SOCK, **place)
    assert joined(story, tmp_path) == [("tcp_ack", A), ("tcp_data_ready", A)]


def test_the_sender_is_not_in_the_receivers_path(tmp_path: Path) -> None:
    story = Story()
    story.sock_call("tcp_sendmsg", 1000, 9000, SOCK, pid=7)
    story.alloc(1100, A, pid=7)
    story.call("dev_hard_start_xmit", 2000, 4000, A, pid=7, skbinfo=MINE, ipv4=udp4(1))
    story.call("__netif_rx", 3000, 3100, A, pid=7, skbinfo=OTHER._replace(sk=SOCK), ipv4=udp4(1))
    assert joined(story, tmp_path) == [("tcp_sendmsg", A)]


def test_a_log_without_such_calls(tmp_path: Path) -> None:
    story = Story()
    story.call("tcp_v4_rcv", 1000, 3000, A, skbinfo=MINE)
    assert joined(story, tmp_path) == []
