# SPDX-License-Identifier: MIT
"""Series are cut into legs: one pass through one stack."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import (
    FORWARD,
    RX,
    TX,
    LegTable,
    build_kernel_side,
    build_legs,
    build_series,
)
from skbviewer.records import KernelLog
from skbviewer.records.kbl_layout import KblEvent

from ..story import HOST, LOOPBACK, OTHER, SOFTIRQ, Story, find, udp4

A, B = 0xFFFF888000001000, 0xFFFF888000002000


def legs_of(log: KernelLog) -> LegTable:
    return build_legs(log, build_series(log))


def over_veth() -> Story:
    """One skb from a process through a veth pair to another namespace's socket."""
    story = Story()
    story.alloc(100, A)
    story.call("ip_output", 200, 900, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("dev_hard_start_xmit", 300, 800, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("veth_xmit", 310, 790, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("__netif_rx", 350, 700, A, skbinfo=OTHER, ipv4=udp4(1))
    story.call("__netif_receive_skb", 1000, 1500, A, skbinfo=OTHER, context=SOFTIRQ, ipv4=udp4(1))
    story.call("udp_rcv", 1100, 1400, A, skbinfo=OTHER, context=SOFTIRQ, ipv4=udp4(1))
    story.free(9000, A)
    return story


def test_a_packet_through_a_veth_pair_has_two_legs(tmp_path: Path) -> None:
    log = over_veth().log(tmp_path)
    legs = legs_of(log)
    tx, rx = legs.rows
    assert (tx["kind"], rx["kind"]) == (TX, RX)
    assert tx["series"] == rx["series"]
    assert (tx["begin_ns"], tx["end_ns"], tx["wire_ns"]) == (100, 800, 300)
    assert (rx["begin_ns"], rx["wire_ns"]) == (350, 1000)
    assert (tx["netns"], tx["ifindex"]) == (100, 2)
    assert (rx["netns"], rx["ifindex"]) == (200, 3)
    assert (tx["functions"], rx["functions"]) == (4, 4)
    assert tx["ethertype"] == 0x0800


def test_a_leg_ends_with_the_driver_not_with_the_other_end(tmp_path: Path) -> None:
    """veth_xmit returns after the other end has begun to receive."""
    log = over_veth().log(tmp_path)
    rows, (sends,), (receives,) = (
        legs_of(log).rows,
        legs_of(log).of[find(log, "veth_xmit")],
        legs_of(log).of[find(log, "__netif_rx")],
    )
    assert rows["begin_ns"][receives] < rows["end_ns"][sends]
    assert rows["end_ns"][sends] >= log.records["exit_ts"][find(log, "veth_xmit")[0]]


def test_a_packet_over_loopback_has_two_legs(tmp_path: Path) -> None:
    """Only their directions differ: device and namespace are equal."""
    story = Story()
    story.alloc(100, A)
    story.call("dev_hard_start_xmit", 300, 800, A, skbinfo=LOOPBACK, ipv4=udp4(1))
    story.call("loopback_xmit", 310, 790, A, skbinfo=LOOPBACK)
    story.call("netif_rx_internal", 350, 700, A, skbinfo=LOOPBACK)
    story.call("__netif_receive_skb", 1000, 1500, A, skbinfo=LOOPBACK, context=SOFTIRQ)
    legs = legs_of(story.log(tmp_path))
    assert legs.rows["kind"].tolist() == [TX, RX]
    assert legs.rows["begin_ns"].tolist() == [100, 350]
    assert legs.rows["end_ns"].tolist() == [800, 1500]


def test_a_forwarded_packet_has_one_leg(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A, context=SOFTIRQ)
    story.call("__netif_receive_skb", 200, 900, A, skbinfo=HOST, context=SOFTIRQ, ipv4=udp4(1))
    story.call("ip_forward", 300, 800, A, skbinfo=HOST, context=SOFTIRQ, ipv4=udp4(1))
    story.call("dev_hard_start_xmit", 400, 700, A, skbinfo=HOST, context=SOFTIRQ, ipv4=udp4(1))
    (leg,) = legs_of(story.log(tmp_path)).rows
    assert leg["kind"] == FORWARD
    assert (leg["begin_ns"], leg["end_ns"], leg["wire_ns"]) == (100, 700, 200)


def test_another_namespace_is_another_leg(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 100, 200, A, skbinfo=HOST)
    story.call("skb_scrub_packet", 210, 220, A)  # does not tell where it is
    story.call("ip_rcv", 300, 400, A, skbinfo=OTHER)
    legs = legs_of(story.log(tmp_path))
    assert legs.rows["begin_ns"].tolist() == [100, 300]


def test_the_first_receive_function_starts_no_leg_of_its_own(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A, context=SOFTIRQ)
    story.call("napi_gro_receive", 200, 900, A, skbinfo=HOST, context=SOFTIRQ)
    story.call("__netif_receive_skb", 300, 800, A, skbinfo=HOST, context=SOFTIRQ)
    (leg,) = legs_of(story.log(tmp_path)).rows
    assert (leg["kind"], leg["begin_ns"], leg["end_ns"]) == (RX, 100, 900)


def received() -> Story:
    story = Story()
    story.alloc(1000, A, pid=0, context=SOFTIRQ)
    story.call("__netif_receive_skb", 1100, 1500, A, pid=0, context=SOFTIRQ, skbinfo=HOST)
    story.call("udp_queue_rcv_skb", 1200, 1400, A, pid=0, context=SOFTIRQ, skbinfo=HOST)
    return story


def test_the_reading_process_is_no_part_of_the_time(tmp_path: Path) -> None:
    story = received()
    story.giver("__skb_recv_udp", 5000, 5100, A, pid=9)
    story.call("skb_consume_udp", 5200, 5300, A, pid=9)
    story.free(5210, A, pid=9)
    (leg,) = legs_of(story.log(tmp_path)).rows
    assert (leg["begin_ns"], leg["end_ns"]) == (1000, 1500)
    assert leg["reader_ns"] == 5100
    assert leg["functions"] == 6  # they are shown all the same


def test_a_process_that_waits_for_a_packet_does_not_lengthen_its_leg(tmp_path: Path) -> None:
    story = received()
    story.enter(10, "__skb_recv_udp", 0, pid=9)
    story.leave(2000, "__skb_recv_udp", A, pid=9, flags=0x10)
    (leg,) = legs_of(story.log(tmp_path)).rows
    assert (leg["begin_ns"], leg["end_ns"]) == (1000, 1500)
    assert leg["reader_ns"] == 2000


def test_what_is_merged_into_a_queued_packet_takes_none_of_its_time(tmp_path: Path) -> None:
    """A is in its socket's queue when B's bytes are added to it; nothing shows its reader yet."""
    story = Story()
    story.call("__netif_receive_skb", 1000, 1500, A, skbinfo=OTHER, context=SOFTIRQ, ipv4=udp4(1))
    story.call("tcp_queue_rcv", 1100, 1200, A, skbinfo=OTHER, context=SOFTIRQ)
    story.event(1200, KblEvent.SOCK_ENQUEUE, A, context=SOFTIRQ)
    story.call("sk_data_ready", 1300, 1400, A, skbinfo=OTHER, context=SOFTIRQ)
    story.call("tcp_try_coalesce", 7000, 7100, A, skbinfo=OTHER, context=SOFTIRQ)
    story.call("tcp_recvmsg_locked", 9000, 9900, A, pid=7)
    (leg,) = legs_of(story.log(tmp_path)).rows
    assert (leg["begin_ns"], leg["end_ns"], leg["functions"]) == (1000, 1500, 5)


def test_a_dropped_packet_ends_with_its_free(tmp_path: Path) -> None:
    story = received()
    story.call("kfree_skb_reason", 1300, 1390, A, pid=0, context=SOFTIRQ)
    (leg,) = legs_of(story.log(tmp_path)).rows
    assert leg["end_ns"] == 1500
    assert leg["reader_ns"] == -1


def test_a_sent_packet_ends_when_the_driver_has_it(tmp_path: Path) -> None:
    """It is freed milliseconds after transmission, which is not time in the stack."""
    story = Story()
    story.alloc(100, A)
    story.call("dev_hard_start_xmit", 300, 800, A, skbinfo=HOST)
    story.call("napi_consume_skb", 1_000_000, 1_000_100, A, context=SOFTIRQ)
    story.free(1_000_010, A, context=SOFTIRQ)
    (leg,) = legs_of(story.log(tmp_path)).rows
    assert (leg["kind"], leg["end_ns"]) == (TX, 800)


def test_two_series_do_not_share_a_leg(tmp_path: Path) -> None:
    story = Story()
    for skb, begin in ((A, 100), (B, 150)):
        story.alloc(begin, skb)
        story.call("dev_hard_start_xmit", begin + 300, begin + 400, skb, skbinfo=HOST)
    story.call("__netif_receive_skb", 900, 950, B, skbinfo=HOST, context=SOFTIRQ)
    legs = legs_of(story.log(tmp_path))
    assert legs.rows["series"].tolist() == [0, 1, 1]
    assert legs.rows["kind"].tolist() == [TX, TX, RX]


def test_a_log_without_records_has_no_legs(tmp_path: Path) -> None:
    assert len(legs_of(Story().log(tmp_path)).rows) == 0


def test_a_receive_handler_gives_a_packet_a_device_of_another_namespace(tmp_path: Path) -> None:
    """macvlan_handle_frame() does this. The packet is received there, and was stamped below."""
    story, place = Story(), {"context": SOFTIRQ}
    story.alloc(100, A)
    story.enter(200, "netif_receive_skb", A, skbinfo=HOST, ipv4=udp4(1), context=SOFTIRQ)
    story.call("tpacket_rcv", 300, 400, A, skbinfo=OTHER, ipv4=udp4(1), context=SOFTIRQ)
    story.call("ip_rcv", 500, 600, A, skbinfo=OTHER, ipv4=udp4(1), context=SOFTIRQ)
    story.leave(700, "netif_receive_skb", A, **place)
    story.free(800, A)
    log = story.log(tmp_path)
    series = build_series(log)
    legs = build_legs(log, series)
    assert legs.rows["kind"].tolist() == [RX, RX]
    assert legs.rows["ifindex"].tolist() == [HOST.ifindex, OTHER.ifindex]
    moments = build_kernel_side(log, series, legs).moments
    assert (moments["sends"] == 0).all()
    assert moments["after"].tolist() == [200, 200]
