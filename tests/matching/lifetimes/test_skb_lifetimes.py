# SPDX-License-Identifier: MIT
"""Lives are joined into series: one packet's way."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import SeriesTable, build_series
from skbviewer.records import KernelLog
from skbviewer.records.kbl_layout import KblEvent

from ..story import Story, find, of_packets, tcp4, udp4

A, B, C = 0xFFFF888000001000, 0xFFFF888000002000, 0xFFFF888000003000


def series_at(log: KernelLog, table: SeriesTable, name: str) -> list[int]:
    return [int(s) for s in table.of[find(log, name)]]


def sent_twice() -> Story:
    """TCP fills A and sends clones of it: B at 300, C at 1300."""
    story = Story()
    story.alloc(100, A)
    story.call("tcp_write_xmit", 150, 260, A)
    for begin, new in ((200, B), (1200, C)):
        story.clone(begin, A, new, by="__tcp_transmit_skb")
        story.call("__ip_queue_xmit", begin + 20, begin + 30, new)
        story.call("ip_output", begin + 30, begin + 40, new, ipv4=tcp4(7))
        story.call("dev_hard_start_xmit", begin + 40, begin + 50, new, ipv4=tcp4(7))
        story.free(begin + 100, new)
        if new == B:
            story.call("tcp_retransmit_skb", 1100, 1400, A)
    story.call("tcp_clean_rtx_queue", 2000, 2100, A)
    story.free(2050, A)
    return story


def test_what_tcp_did_before_the_clone_belongs_to_the_sent_packet(tmp_path: Path) -> None:
    log = sent_twice().log(tmp_path)
    table = build_series(log)
    first, second = series_at(log, table, "ip_output")
    assert first != second
    assert series_at(log, table, "__alloc_skb") == [first]
    assert series_at(log, table, "tcp_write_xmit") == [first]
    assert series_at(log, table, "skb_clone") == [first, second]
    assert series_at(log, table, "tcp_retransmit_skb") == [second]


def test_what_tcp_did_after_the_last_clone_stays_with_the_original(tmp_path: Path) -> None:
    log = sent_twice().log(tmp_path)
    table = build_series(log)
    (original,) = series_at(log, table, "tcp_clean_rtx_queue")
    assert original not in series_at(log, table, "ip_output")


def test_a_sniffers_clone_is_a_tap_with_its_packet_as_parent(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    story.call("dev_hard_start_xmit", 150, 400, A, ipv4=udp4(1))
    story.clone(200, A, B, by="dev_queue_xmit_nit")
    story.call("packet_rcv", 220, 230, B, ipv4=udp4(1))
    log = story.log(tmp_path)
    table = build_series(log)
    (copy,), (packet,) = series_at(log, table, "packet_rcv"), series_at(log, table, "skb_clone")
    assert copy != packet
    assert table.tap[copy]
    assert not table.tap[packet]
    assert table.parent[copy] == packet


def test_a_raw_sockets_clone_is_part_of_its_packet(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    story.call("ip_local_deliver", 150, 400, A, ipv4=udp4(1))
    story.clone(200, A, B, by="raw_v4_input")
    story.call("raw_rcv", 220, 230, B, ipv4=udp4(1))
    story.free(500, B)
    log = story.log(tmp_path)
    table = build_series(log)
    assert series_at(log, table, "raw_rcv") == series_at(log, table, "ip_local_deliver")
    assert len(table.parent) == 1


def test_a_clone_that_is_sent_is_a_packet_of_its_own(tmp_path: Path) -> None:
    """A bridge floods a packet to a second port."""
    story = Story()
    story.alloc(100, A)
    story.call("br_handle_frame", 150, 400, A, ipv4=udp4(1))
    story.clone(200, A, B, by="deliver_clone")
    story.call("dev_hard_start_xmit", 220, 230, B, ipv4=udp4(1))
    log = story.log(tmp_path)
    table = build_series(log)
    assert series_at(log, table, "dev_hard_start_xmit") != series_at(log, table, "br_handle_frame")
    assert not table.tap.any()


def test_what_is_cut_from_a_packet_has_it_as_parent(tmp_path: Path) -> None:
    """No driver ever has TCP's clone B of A, it is cut first; but it was sent."""
    story = Story()
    story.alloc(100, A)
    story.clone(200, A, B, by="__tcp_transmit_skb")
    story.call("ip_output", 250, 600, B, ipv4=tcp4(7))
    story.call("skb_segment", 300, 400, B, ipv4=tcp4(7))
    segments = (C, C + 0x1000)
    for number, segment in enumerate(segments):
        story.alloc(310 + 20 * number, segment)
        story.event(399, KblEvent.SEGMENT, B, segment)
    for number, segment in enumerate(segments):
        begin = 450 + 50 * number
        story.call("dev_hard_start_xmit", begin, begin + 10, segment, ipv4=tcp4(7 + number))
        story.free(begin + 20, segment)
    story.free(580, B)
    story.call("tcp_clean_rtx_queue", 1900, 1950, A)
    log = story.log(tmp_path)
    table = build_series(log)
    (original,) = series_at(log, table, "tcp_clean_rtx_queue")
    (whole,), parts = (
        series_at(log, table, "ip_output"),
        series_at(log, table, "dev_hard_start_xmit"),
    )
    assert len({original, whole, *parts}) == 4
    assert table.parent[parts].tolist() == [whole, whole]
    assert table.parent[whole] == original


def test_each_segment_of_a_list_is_a_lifetime(tmp_path: Path) -> None:
    """The driver's call names only the first of the list; net_dev_start_xmit names each."""
    story, segments = Story(), (B, C)
    story.alloc(100, A)
    story.call("skb_segment", 300, 400, A, ipv4=tcp4(7))
    for number, segment in enumerate(segments):
        story.alloc(310 + 20 * number, segment)
        story.event(399, KblEvent.SEGMENT, A, segment)
    story.call("dev_hard_start_xmit", 450, 600, B, ipv4=tcp4(7))
    for number, segment in enumerate(segments):
        begin = 460 + 50 * number
        story.call("dev_queue_xmit_nit", begin, begin + 10, segment, ipv4=tcp4(7 + number))
        story.event(begin + 20, KblEvent.START_XMIT, segment, 0)
    log = story.log(tmp_path)
    table = build_series(log)
    (whole,) = series_at(log, table, "skb_segment")
    parts = series_at(log, table, "dev_queue_xmit_nit")
    assert len({whole, *parts}) == 3
    assert table.parent[parts].tolist() == [whole, whole]


def test_series_are_numbered_by_their_first_record(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_rcv", 100, 110, C)
    story.call("ip_output", 200, 210, A)
    story.call("ip_forward", 300, 310, B)
    log = story.log(tmp_path)
    assert build_series(log).of[of_packets(log)].tolist() == [0, 1, 2]


def test_a_log_without_records_has_no_series(tmp_path: Path) -> None:
    table = build_series(Story().log(tmp_path))
    assert len(table.of) == len(table.parent) == 0
