# SPDX-License-Identifier: MIT
"""Records are cut into the lives of skbs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skbviewer.matching.lifetimes.address_lifetimes import AddressLifetimes, assign_lifetimes
from skbviewer.records import KernelLog
from skbviewer.records.kbl_layout import KblEvent

from ..story import SOFTIRQ, Story, find, of_packets, udp4

A, B, C = 0xFFFF888000001000, 0xFFFF888000002000, 0xFFFF888000003000


def lives_of(log: KernelLog) -> AddressLifetimes:
    return assign_lifetimes(log)


def test_an_address_used_again_after_a_free_is_a_new_life(tmp_path: Path) -> None:
    story = Story()
    for begin in (1000, 2000):
        story.alloc(begin, A)
        story.call("ip_output", begin + 100, begin + 200, A)
        story.free(begin + 300, A)
    log = story.log(tmp_path)
    shown = of_packets(log)
    of, ts = lives_of(log).of[shown], log.records["ts"][shown]
    assert len(set(of[ts < 1900].tolist())) == 1
    assert len(set(of[ts > 1900].tolist())) == 1
    assert of[0] != of[-1]
    assert (of >= 0).all()


def test_an_allocation_cuts_even_if_the_free_was_not_seen(tmp_path: Path) -> None:
    story = Story()
    for begin in (1000, 2000):
        story.alloc(begin, A)
        story.call("ip_output", begin + 100, begin + 200, A)
    log = story.log(tmp_path)
    of = lives_of(log).of
    first, second = find(log, "ip_output")
    assert of[first] != of[second]
    assert of[find(log, "__alloc_skb")].tolist() == of[[first, second]].tolist()


def test_a_free_cuts_even_if_the_next_allocation_was_not_seen(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 100, 200, A)
    story.free(300, A)
    story.call("ip_output", 400, 500, A)
    log = story.log(tmp_path)
    first, second = lives_of(log).of[find(log, "ip_output")].tolist()
    assert first != second


def test_a_call_around_the_free_stays_in_the_old_life(tmp_path: Path) -> None:
    story = Story()
    story.call("consume_skb", 100, 200, A)
    story.free(120, A)
    story.alloc(300, A)
    log = story.log(tmp_path)
    of = lives_of(log).of
    assert of[find(log, "consume_skb")].tolist() == of[find(log, "kfree_skbmem")].tolist()
    assert of[find(log, "__alloc_skb")] != of[find(log, "consume_skb")]


def test_a_clone_is_a_life_with_a_parent(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    story.clone(200, A, B)
    story.call("ip_output", 300, 400, B)
    story.call("tcp_ack", 500, 600, A)
    log = story.log(tmp_path)
    lives = lives_of(log)
    child, parent = lives.of[find(log, "ip_output")[0]], lives.of[find(log, "tcp_ack")[0]]
    assert child != parent
    assert lives.parent[child] == parent
    assert lives.parent[parent] == -1
    assert log.records["event"][lives.birth[child]] == 2  # CLONE


def test_a_clone_that_reuses_an_address_is_a_new_life(tmp_path: Path) -> None:
    story = Story()
    for begin in (1000, 2000):
        story.alloc(begin, A)
        story.clone(begin + 50, A, B)
        story.call("ip_output", begin + 100, begin + 200, B)
    log = story.log(tmp_path)
    lives = lives_of(log)
    one, two = find(log, "ip_output")
    assert lives.of[one] != lives.of[two]
    assert lives.parent[lives.of[one]] != lives.parent[lives.of[two]]


@pytest.mark.parametrize("born", ["clone", "alloc"])
def test_memory_that_another_cpu_frees_while_it_is_being_given_out(
    tmp_path: Path, born: str
) -> None:
    """The function that gets the memory began before the one that frees it."""
    story = Story()
    story.alloc(20, A)
    story.call("tcp_rcv_established", 100, 110, B, cpu=1, pid=2)
    if born == "clone":
        story.clone(200, A, B, by="dev_queue_xmit_nit")
    else:
        story.alloc(200, B)
    story.free(203, B, cpu=1, pid=2)
    story.call("packet_rcv", 300, 310, B)
    story.free(400, B)
    log = story.log(tmp_path)
    lives = lives_of(log)
    first, second = lives.of[find(log, "kfree_skbmem")].tolist()
    assert first == lives.of[find(log, "tcp_rcv_established")]
    assert second == lives.of[find(log, "packet_rcv")] != first
    if born == "clone":
        assert lives.parent[second] == lives.of[find(log, "__alloc_skb")]
        assert lives.tap[second]
    else:
        assert second == lives.of[find(log, "__alloc_skb")][1]


def test_a_function_around_the_allocation_belongs_to_the_life(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 50, 60, A)  # what had the address before
    story.free(70, A)
    story.giver("sock_wmalloc", 100, 200, A)
    story.alloc(110, A)
    log = story.log(tmp_path)
    of = lives_of(log).of
    assert of[find(log, "sock_wmalloc")].tolist() == of[find(log, "__alloc_skb")].tolist()
    assert of[find(log, "sock_wmalloc")] != of[find(log, "ip_output")]


def test_a_reader_that_waited_belongs_to_the_packet_it_got(tmp_path: Path) -> None:
    """It began to wait before an earlier packet with this address came and went."""
    story = Story()
    story.enter(100, "__skb_recv_udp", 0, pid=9)
    story.alloc(200, A, pid=7, context=SOFTIRQ)
    story.free(300, A, pid=7, context=SOFTIRQ)
    story.alloc(400, A, pid=7, context=SOFTIRQ)
    story.call("udp_rcv", 500, 600, A, pid=7, context=SOFTIRQ)
    story.leave(700, "__skb_recv_udp", A, pid=9, flags=0x10)
    log = story.log(tmp_path)
    of = lives_of(log).of
    assert of[find(log, "__skb_recv_udp")].tolist() == of[find(log, "udp_rcv")].tolist()


def test_a_free_cuts_while_a_reader_waits_for_a_later_skb_at_the_address(tmp_path: Path) -> None:
    """XDP builds skbs without a birth that is recorded, so nothing but the free divides them."""
    story = Story()
    story.enter(100, "__skb_recv_udp", 0, pid=9)
    for begin in (200, 300):
        story.call("udp_rcv", begin, begin + 20, A, pid=1, context=SOFTIRQ)
        story.free(begin + 50, A)
    story.call("ip_rcv", 400, 420, A, pid=1, context=SOFTIRQ)
    story.leave(700, "__skb_recv_udp", A, pid=9, flags=0x10)
    log = story.log(tmp_path)
    of = lives_of(log).of
    first, second = of[find(log, "udp_rcv")].tolist()
    (third,) = of[find(log, "ip_rcv")].tolist()
    assert len({first, second, third}) == 3
    assert of[find(log, "__skb_recv_udp")].tolist() == [third]


def test_a_log_without_life_events_is_cut_where_the_identity_changes(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_rcv", 100, 110, A, ipv4=udp4(1))
    story.call("ip_local_deliver", 120, 130, A)
    story.call("ip_rcv", 200, 210, A, ipv4=udp4(2))
    story.call("ip_rcv", 300, 310, C, ipv4=udp4(3))
    log = story.log(tmp_path)
    of = lives_of(log).of
    one, two, three = of[find(log, "ip_rcv")].tolist()
    assert len({one, two, three}) == 3
    assert of[find(log, "ip_local_deliver")] == one


def test_a_clone_for_a_sniffer_is_known_by_who_cloned(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    story.clone(200, A, B, by="dev_queue_xmit_nit")
    story.clone(300, A, C, by="raw_v4_input")
    story.call("packet_rcv", 400, 410, B)
    story.call("raw_rcv", 500, 510, C)
    log = story.log(tmp_path)
    lives = lives_of(log)
    assert lives.tap[lives.of[find(log, "packet_rcv")]].all()
    assert not lives.tap[lives.of[find(log, "raw_rcv")]].any()


def test_a_clone_by_a_hooked_function_is_a_sniffers_if_a_sending_tap_gave_it_to_one(
    tmp_path: Path,
) -> None:
    """Another tool's kretprobe on skb_clone() hides who called it."""
    story = Story()
    story.alloc(100, A)
    story.clone(200, A, B, by="arch_rethook_trampoline")
    story.clone(300, A, C, by="arch_rethook_trampoline")
    sending, receiving = story.inside("dev_queue_xmit_nit"), story.inside("__netif_receive_skb")
    story.call("tpacket_rcv", 400, 410, B, caller=sending)
    story.call("packet_rcv", 500, 510, C, caller=receiving)
    log = story.log(tmp_path)
    lives = lives_of(log)
    assert lives.tap[lives.of[find(log, "tpacket_rcv")]].all()
    assert not lives.tap[lives.of[find(log, "packet_rcv")]].any()


def test_the_allocator_belongs_to_the_life_if_the_birth_is_recorded_after_its_exit(
    tmp_path: Path,
) -> None:
    story = Story()
    story.call("ip_output", 50, 60, A)  # what had the address before
    story.giver("__alloc_skb", 100, 200, A)
    story.event(200, KblEvent.ALLOC, A)
    story.call("skb_put", 300, 310, A)
    log = story.log(tmp_path)
    lives = lives_of(log)
    shown = of_packets(log)
    assert log.records["kind"][shown].tolist() == [1, 1, 4, 1]
    assert lives.of[shown].tolist() == [0, 1, 1, 1]
    assert lives.met[np.array(find(log, "__alloc_skb"))] == 100


def test_a_birth_that_began_before_the_address_was_free_is_one_birth(tmp_path: Path) -> None:
    """Its call began before a call returned the skb that the address had, which is freed then."""
    story, there = Story(), {"cpu": 1, "pid": 2}
    story.alloc(10, A, **there)
    story.call("netif_rx", 40, 50, A, **there)
    story.giver("__skb_recv_udp", 90, 140, A, **there)
    story.giver("sock_alloc_send_pskb", 100, 300, A)
    story.call("skb_copy_datagram_iter", 141, 145, A, **there)
    story.free(150, A, **there)
    story.event(280, KblEvent.ALLOC, A, 256)
    story.call("ip_output", 310, 320, A)
    log = story.log(tmp_path)
    lives = lives_of(log)
    of = lives.of
    (received,), (made,), (sent,) = (
        find(log, name) for name in ("__skb_recv_udp", "sock_alloc_send_pskb", "ip_output")
    )
    assert of[made] == of[sent] != of[received]
    assert len(set(of[of_packets(log)].tolist())) == len(lives.parent) == 2
