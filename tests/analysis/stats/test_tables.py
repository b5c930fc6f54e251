# SPDX-License-Identifier: MIT
"""Statistics of a small story; every number can be computed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skbviewer.analysis.stats import (
    Chosen,
    drop_rows,
    function_rows,
    layer_table,
    process_rows,
)
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session, import_files
from tests.matching.story import HOST, OTHER, SOFTIRQ, Story, udp4, udp4_frame
from tests.readers.build import write_pcap

A, B, SOCK = 0xFFFF888000001000, 0xFFFF888000002000, 0xFFFF888000003000
MINE = HOST._replace(sk=SOCK)


def udp_story() -> Story:
    """A datagram sent (A), one received that waits for its reader (B)."""
    story = Story()
    story.alloc(900, A, pid=7)
    story.call("udp_send_skb", 1000, 3000, A, pid=7, ipv4=udp4(1), skbinfo=HOST)
    story.call("ip_output", 1200, 2900, A, pid=7)
    story.call("__dev_queue_xmit", 1500, 2800, A, pid=7)
    story.call("dev_hard_start_xmit", 2000, 2600, A, pid=7)
    story.free(2700, A, pid=7)
    story.call("netif_rx_internal", 5000, 5100, B, context=SOFTIRQ, ipv4=udp4(2), skbinfo=HOST)
    story.call("__netif_receive_skb_one_core", 5400, 6000, B, context=SOFTIRQ)
    story.call("ip_rcv", 5500, 5900, B, context=SOFTIRQ)
    story.call("skb_consume_udp", 9000, 9300, B, pid=7)
    return story


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    yield from opened(udp_story(), tmp_path)


def opened(story: Story, folder: Path, *captures: str) -> Iterator[Session]:
    story.log(folder)
    out = folder / "story.skbv"
    import_files([folder / name for name in ("story.kbl", *captures)], out)
    session = Session.open(out)
    yield session
    session.close()


def test_functions(session: Session) -> None:
    rows = {row.function: row for row in function_rows(session.stats.scope())}
    output = rows["ip_output"]
    assert (output.layer, output.number, output.open) == ("ip", 1, 0)
    assert (output.total_ns, output.self_ns, output.p50_ns, output.max_ns) == (
        1700,
        400,
        1700,
        1700,
    )
    assert rows["dev_hard_start_xmit"].self_ns == 600
    assert next(iter(rows)) == "udp_send_skb"  # the longest first
    assert output.comp_mean_ns is None  # there is no calibration in the file


def test_layers_waits_and_stages(session: Session) -> None:
    table = layer_table(session.stats.scope())
    rows = {(row.kind, row.layer): row for row in table.rows}
    assert rows["busy", "ip"].total_ns == 400 + 400
    assert rows["busy", "ip"].number == 2
    assert rows["wait", "softirq"].total_ns == 5400 - 5100
    assert rows["later wait", "socket queue"].total_ns == 9000 - 6000  # the leg has ended
    assert ("wait", "socket queue") not in rows
    stages = {row.layer: row.total_ns for row in table.rows if row.kind == "stage"}
    assert stages == {
        "send: system call": 100,
        "send: transport": 200,
        "send: IP": 300,
        "send: queueing discipline": 500,
        "send: driver": 600,
        "receive: driver": 400,
        "receive: protocol stack": 600,
        "receive: receiving process": 300,
    }
    assert (table.legs, table.gaps) == (2, 0)


def test_sending_begins_when_the_packet_does(tmp_path: Path) -> None:
    """The system call's own functions joined the leg, though they began before the packet."""
    story = Story()
    story.sock_call("tcp_sendmsg", 100, 9000, SOCK, pid=7)
    story.alloc(900, A, pid=7)
    story.call("tcp_write_xmit", 1000, 3000, A, pid=7, ipv4=udp4(1), skbinfo=MINE)
    story.call("ip_output", 1200, 2900, A, pid=7)
    story.call("dev_hard_start_xmit", 2000, 2600, A, pid=7)
    for session in opened(story, tmp_path):
        by_layer = times(session)
        stages = {layer: ns for (kind, layer), ns in by_layer.items() if kind == "stage"}
        assert stages == {
            "send: system call": 100,
            "send: transport": 200,
            "send: IP": 800,
            "send: driver": 600,
        }
        assert sum(stages.values()) == 2600 - 900
        assert by_layer["busy", "transport"] == 9000 - 900 - 1700 - 10


def times(session: Session) -> dict[tuple[str, str], int]:
    """Return the total of each row of the layer table, in ns."""
    return {(r.kind, r.layer): r.total_ns for r in layer_table(session.stats.scope()).rows}


def test_a_reader_that_slept_before_its_packet_came_waits_in_its_queue(tmp_path: Path) -> None:
    story = Story()
    story.giver("skb_recv_datagram", 50, 9400, A, pid=7)
    story.giver("__skb_recv_datagram", 100, 9300, A, pid=7)
    story.call("eth_header", 1000, 1100, B, pid=8)
    story.alloc(4900, A, pid=0, context=SOFTIRQ)
    story.call("netif_rx_internal", 5000, 5100, A, context=SOFTIRQ, ipv4=udp4(2), skbinfo=HOST)
    story.call("__netif_receive_skb_one_core", 5400, 6000, A, context=SOFTIRQ)
    for session in opened(story, tmp_path):
        by_layer = times(session)
        assert ("wait", "switched out") not in by_layer  # that was before the packet came
        assert by_layer["later wait", "socket queue"] == 9300 - 6000


def test_a_reader_is_busy_only_since_it_has_its_packet(tmp_path: Path) -> None:
    """No other thread was seen on its CPU, so no record shows that it slept."""
    story = Story()
    story.sock_call("udp_recvmsg", 50, 9900, SOCK, pid=7, cpu=1)
    story.giver("__skb_recv_udp", 100, 9300, A, pid=7, cpu=1)
    story.call("skb_consume_udp", 9500, 9600, A, pid=7, cpu=1)
    story.alloc(4900, A, pid=0, context=SOFTIRQ)
    story.call("netif_rx_internal", 5000, 5100, A, context=SOFTIRQ, ipv4=udp4(2), skbinfo=MINE)
    story.call("__netif_receive_skb_one_core", 5400, 6000, A, context=SOFTIRQ)
    for session in opened(story, tmp_path):
        by_layer = times(session)
        assert by_layer["busy", "transport"] == 9900 - 9300 - 100
        assert by_layer["later wait", "socket queue"] == 9300 - 6000
        assert ("wait", "switched out") not in by_layer


@pytest.mark.parametrize("around", [True, False])
def test_a_packet_waits_while_interrupts_have_its_cpu(tmp_path: Path, around: bool) -> None:
    """Once, whatever calls are around; who is served meanwhile is busy."""
    story = Story()
    if around:
        story.sock_call("udp_sendmsg", 900, 9000, SOCK, pid=7)
    story.alloc(950, A, pid=7)
    story.call("udp_send_skb", 1000, 5000, A, pid=7, ipv4=udp4(1), skbinfo=MINE)
    story.call("ip_output", 1200, 4900, A, pid=7)
    story.call("ip_rcv", 2000, 2600, B, pid=7, context=SOFTIRQ, ipv4=udp4(2), skbinfo=OTHER)
    story.call("ip_rcv_core", 2100, 2200, B, pid=7, context=SOFTIRQ)
    story.call("ip_rcv", 6000, 6300, B, pid=7, context=SOFTIRQ)
    for session in opened(story, tmp_path):
        by_layer = times(session)
        assert by_layer["wait", "interrupts"] == 600
        assert by_layer["busy", "ip"] == (3700 - 600) + 600 + 300
        busy = sum(ns for (kind, _), ns in by_layer.items() if kind == "busy")
        assert busy <= (9000 - 900 if around else 10 + 4000 + 300)  # nothing twice


def test_a_range_counts_what_begins_in_it(session: Session) -> None:
    begin = session.stats.begin_ns()
    rows = function_rows(session.stats.scope(Chosen(None, begin + 1100 - 900, begin + 5100 - 900)))
    assert {row.function for row in rows} == {
        "ip_output",
        "__dev_queue_xmit",
        "dev_hard_start_xmit",
        "kfree_skbmem",
        "netif_rx_internal",
    }


@pytest.mark.parametrize("after_ns", [1, 400, 1500])
def test_a_leg_that_begins_in_a_range_counts_as_a_whole(session: Session, after_ns: int) -> None:
    begin = session.stats.begin_ns()
    table = layer_table(session.stats.scope(Chosen(None, begin, begin + after_ns)))
    assert table.legs == 1
    rows = layer_table(session.stats.scope()).rows
    sent = {row.layer: row.total_ns for row in rows if row.layer.startswith("send: ")}
    assert {row.layer: row.total_ns for row in table.rows if row.kind == "stage"} == sent
    (ip,) = [row for row in table.rows if row.layer == "ip"]
    assert (ip.calls, ip.total_ns) == (1, 400)


def test_programs_are_known_by_their_own_calls(tmp_path: Path) -> None:
    for session in opened(udp_story(), tmp_path):
        (row,) = process_rows(session.stats.scope())
        assert row.process == "thread 7"
        assert row.total_ns == 10 + 300 + 400 + 690 + 600 + 10 + 300


def test_programs_get_no_times_of_legs_that_lack_records(tmp_path: Path) -> None:
    story = udp_story()
    story.alloc(4990, B, context=SOFTIRQ)
    story.lost(2500, 3, begin=2400)
    for session in opened(story, tmp_path):
        (row,) = process_rows(session.stats.scope())
        assert row.total_ns == 300  # of the reader of B


def test_legs_across_lost_records_are_counted_and_left_out(tmp_path: Path) -> None:
    story = udp_story()
    story.alloc(4990, B, context=SOFTIRQ)
    story.lost(2500, 3, begin=2400)
    for session in opened(story, tmp_path):
        table = layer_table(session.stats.scope())
        assert (table.legs, table.gaps) == (1, 1)
        assert not [row for row in table.rows if row.layer.startswith("send")]


@pytest.mark.parametrize(
    ("begin", "end", "cpu"),
    [(5150, 5350, 0), (5150, 5350, 5), (6100, 8000, 0), (9300, 9400, 0), (4000, 5000, 1)],
)
def test_losses_between_the_calls_of_a_leg_count(
    tmp_path: Path, begin: int, end: int, cpu: int
) -> None:
    """Whether the packet waited there nobody knows, whichever CPU it was."""
    story = udp_story()
    story.lost(end, 500, begin, cpu)
    for session in opened(story, tmp_path):
        table = layer_table(session.stats.scope())
        assert (table.legs, table.gaps) == (1, 1)
        names = {row.layer for row in table.rows}
        assert not names & {"softirq", "socket queue", "receive: driver"}
        assert "send: driver" in names


def test_losses_beside_all_legs_do_not_count(tmp_path: Path) -> None:
    story = udp_story()
    story.alloc(4990, B, context=SOFTIRQ)
    story.free(9250, B, pid=7)
    for begin, end in ((100, 899), (3001, 4989), (9301, 9900)):
        story.lost(end, 1, begin)
    for session in opened(story, tmp_path):
        table = layer_table(session.stats.scope())
        assert (table.legs, table.gaps) == (2, 0)


@pytest.mark.parametrize(("lost", "gaps", "wait"), [(9000, 0, 1000 - 300), (900, 1, None)])
def test_the_time_on_the_wire_is_unknown_where_records_were_lost_meanwhile(
    tmp_path: Path, lost: int, gaps: int, wait: int | None
) -> None:
    """The receiving leg may be incomplete, too; the sending leg is known to be complete."""
    story = Story()
    story.alloc(100, A)
    story.call("dev_hard_start_xmit", 300, 800, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("veth_xmit", 310, 790, A, skbinfo=HOST, ipv4=udp4(1))
    story.call("__netif_receive_skb", 1000, 1500, A, skbinfo=OTHER, context=SOFTIRQ)
    story.lost(lost, 1, lost - 10)
    story.free(1600, A, context=SOFTIRQ)
    story.lasting(0)
    write_pcap(tmp_path / "story.pcap", [(400, udp4_frame(1))])
    for session in opened(story, tmp_path, "story.pcap"):
        table = layer_table(session.stats.scope())
        assert (table.legs, table.gaps) == (2 - gaps, gaps)
        assert times(session).get(("stage", "wire")) == wait


def test_drops(tmp_path: Path) -> None:
    story = udp_story()
    story.event(5800, KblEvent.DROP, B, 3, context=SOFTIRQ)
    for session in opened(story, tmp_path):
        (row,) = drop_rows(session.stats.scope())
        assert (row.reason, row.number, row.wire, row.packets) == ("reason 3", 1, 0, ())


def test_a_drop_is_in_the_range_by_when_it_happened(tmp_path: Path) -> None:
    """Not by when its packet's leg began."""
    story = udp_story()
    story.event(5800, KblEvent.DROP, B, 3, context=SOFTIRQ)
    for session in opened(story, tmp_path):
        first = session.stats.begin_ns() - 900
        for begin, end, number in ((5700, 5900, 1), (4900, 5100, 0), (5801, 9999, 0)):
            rows = drop_rows(session.stats.scope(Chosen(None, first + begin, first + end)))
            assert [row.number for row in rows] == [1] * number
