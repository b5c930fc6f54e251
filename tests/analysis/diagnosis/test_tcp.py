# SPDX-License-Identifier: MIT
"""Rules about TCP segments: sent again, and out of order."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skbviewer.analysis.diagnosis import Diagnosis
from skbviewer.analysis.stats import drop_rows
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session
from tests.matching.story import HOST, OTHER, SOFTIRQ, Story, tcp4
from tests.readers import build
from tests.readers.build import write_pcap
from tests.readers.build_kbl import STEXT

from .stories import READER, US, causes, diagnosed, only, skb

DATA = b"x" * 100
PLACE = 0x2000  # where a packet is dropped, from the start of the kernel's text


def frame(ip_id: int, seq: int, data: bytes = DATA) -> bytes:
    """A data segment from 10.0.0.1 to 10.0.0.2."""
    segment = build.tcp(1000, 80, seq, 1, 0x18, data)
    return build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 6, segment, ip_id))


def facts_of(ip_id: int, seq: int, size: int = len(DATA)) -> dict[str, Any]:
    """What the kernel knows of the same segment."""
    known = tcp4(ip_id, seq, 1, 0x18)._replace(tot_len=40 + size)
    return {"ipv4": known, "skbinfo": HOST}


def sent(
    story: Story, ip_id: int, seq: int, at: int, again: bool = False, size: int = len(DATA)
) -> None:
    """Send a data segment."""
    mine, facts = skb(ip_id), facts_of(ip_id, seq, size)
    story.alloc(at * US - 20, mine, pid=READER)
    if again:
        story.call("__tcp_retransmit_skb", at * US, (at + 9) * US, mine, pid=READER)
    story.call("ip_output", (at + 1) * US, (at + 8) * US, mine, pid=READER, **facts)
    story.call("dev_hard_start_xmit", (at + 2) * US, (at + 7) * US, mine, pid=READER)


def arrived(story: Story, ip_id: int, at: int, drop: bool = False, place: int = 0) -> None:
    """Let the other end of a veth pair receive a segment."""
    where = {"context": SOFTIRQ, "pid": 0}
    story.call("__netif_receive_skb", at * US, (at + 9) * US, skb(ip_id), skbinfo=OTHER, **where)
    if drop:
        reason = 3 | place << 32
        story.event((at + 5) * US, KblEvent.DROP, skb(ip_id), reason, **where)


def gone(story: Story, ip_id: int, at: int) -> None:
    story.free(at * US, skb(ip_id), context=SOFTIRQ, pid=0)


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("arrives", "the first segment arrived"),
        ("drops", "the first segment was dropped in a recorded kernel (reason 3)"),
        ("leaves", "the first segment was sent, but no recorded kernel received it"),
    ],
)
def test_a_segment_that_is_sent_again(first: str, says: str, tmp_path: Path) -> None:
    story = Story()
    sent(story, 1, 500, 100)
    if first != "leaves":
        arrived(story, 1, 110, first == "drops")
    gone(story, 1, 130)
    sent(story, 2, 500, 1000, again=True)
    arrived(story, 2, 1010)
    gone(story, 2, 1030)
    story.lasting(0)
    packets = [(103 * US, frame(1, 500)), (1003 * US, frame(2, 500))]
    write_pcap(tmp_path / "story.pcap", packets)
    made = diagnosed(story, tmp_path, "story.pcap")
    assert causes(made) - {"drop"} == {"retransmission"}
    found = only(made, "retransmission")
    assert says in found.text and found.packet == 2
    assert found.evidence[0].text == "packet 2 repeats packet 1"


@pytest.mark.parametrize(
    ("function", "first_arrives", "severity"),
    [
        ("tcp_v4_rcv", True, "note"),
        ("tcp_v4_rcv", False, "critical"),
        ("nf_hook_slow", True, "critical"),
    ],
)
def test_a_repeated_segment_that_tcp_discards_is_not_lost(
    function: str, first_arrives: bool, severity: str, tmp_path: Path
) -> None:
    """The third copy repeats the second one, whose data the receiver has from the first one."""
    story = Story()
    story.kbl.symbol(STEXT + PLACE - 8, function)
    for ip_id, at in ((1, 100), (2, 1000), (3, 2000)):
        sent(story, ip_id, 500, at, again=ip_id > 1)
        if first_arrives or ip_id > 1:
            arrived(story, ip_id, at + 10, drop=ip_id > 1, place=PLACE)
        gone(story, ip_id, at + 30)
    story.lasting(0)
    packets = [((at + 3) * US, frame(n, 500)) for n, at in ((1, 100), (2, 1000), (3, 2000))]
    write_pcap(tmp_path / "story.pcap", packets)
    made = diagnosed(story, tmp_path, "story.pcap")
    drop = only(made, "drop")
    assert (drop.number, drop.severity) == (2, severity)
    assert ("discarded by TCP" in drop.text) == (severity == "note")
    lost = 0 if severity == "note" else 2
    with closing(Session.open(tmp_path / "story.skbv")) as session:
        assert [row.lost for row in drop_rows(session.stats.scope())] == [lost]
        assert sum(row.lost for row in session.packets.numbered(1, 3)) == lost
        found = session.packets.listed("kbl.lost == 1")
        assert found is not None and len(found) == lost
    assert ("the first segment was dropped" in said(made)) == (severity == "critical")


def said(made: Diagnosis) -> str:
    """Return the sentences of all findings."""
    return " ".join(one.text for one in made.findings)


def test_the_next_segment_is_not_sent_again(tmp_path: Path) -> None:
    """It is as long, of the same connection, and as late."""
    story = Story()
    for ip_id, seq, at in ((1, 500, 100), (2, 600, 1000)):
        sent(story, ip_id, seq, at)
        gone(story, ip_id, at + 30)
    story.lasting(0)
    packets = [(103 * US, frame(1, 500)), (1003 * US, frame(2, 600))]
    write_pcap(tmp_path / "story.pcap", packets)
    assert causes(diagnosed(story, tmp_path, "story.pcap")) == set()


def test_a_segment_that_no_log_saw(tmp_path: Path) -> None:
    story = Story()
    story.lasting(0)
    packets = [(103 * US, frame(1, 500)), (1_003_000 * US, frame(2, 500))]
    write_pcap(tmp_path / "story.pcap", packets)
    made = diagnosed(story, tmp_path, "story.pcap")
    assert causes(made) == {"retransmission"}
    assert "is not known" in only(made, "retransmission").text


@pytest.mark.parametrize("inside", [True, False])
def test_segments_in_another_order(inside: bool, tmp_path: Path) -> None:
    """Segment 2 comes before segment 1: overtaken in the kernel, or sent in that order."""
    story = Story()
    first, second = (100, 150) if inside else (150, 100)
    mine = {1: first, 2: second}
    wire = {2: 160, 1: 170}
    for ip_id, seq in ((1, 600), (2, 700)):
        facts, at = facts_of(ip_id, seq), mine[ip_id]
        story.alloc(at * US - 20, skb(ip_id), pid=READER)
        story.call("ip_output", at * US, (at + 5) * US, skb(ip_id), pid=READER, **facts)
        begin = wire[ip_id]
        story.call("dev_hard_start_xmit", begin * US, (begin + 5) * US, skb(ip_id), pid=READER)
        gone(story, ip_id, begin + 6)
    story.lasting(0)
    packets = [(90 * US, frame(9, 500)), (161 * US, frame(2, 700)), (171 * US, frame(1, 600))]
    for name in ("story.pcap", "again.pcap"):  # two sniffers: each skb counts once
        write_pcap(tmp_path / name, packets)
    made = diagnosed(story, tmp_path, "story.pcap", "again.pcap")
    assert "reordering" in causes(made)
    found = only(made, "reordering")
    assert ("in a recorded kernel" in found.text) == inside
    assert found.number == 1


@pytest.mark.parametrize("drops", [True, False])
def test_segments_that_are_cut_anew_repeat_the_first_one(drops: bool, tmp_path: Path) -> None:
    """Two captures have each of the smaller segments: the earlier packet is the same skb."""
    story = Story()
    sent(story, 1, 500, 100)
    arrived(story, 1, 110, drops)
    gone(story, 1, 130)
    near, far = [(103 * US, frame(1, 500))], []
    for ip_id, seq, size, at in ((2, 500, 60, 1000), (3, 560, 40, 2000)):
        sent(story, ip_id, seq, at, again=True, size=size)
        arrived(story, ip_id, at + 10)
        gone(story, ip_id, at + 30)
        near.append(((at + 3) * US, frame(ip_id, seq, DATA[:size])))
        far.append(((at + 12) * US, frame(ip_id, seq, DATA[:size])))
    story.lasting(0)
    write_pcap(tmp_path / "near.pcap", near)
    write_pcap(tmp_path / "far.pcap", far)
    made = diagnosed(story, tmp_path, "near.pcap", "far.pcap")
    found = only(made, "retransmission")
    assert found.number == 2
    assert ("dropped in a recorded kernel (reason 3)" in found.text) == drops
    assert ("the first segment arrived" in found.text) == (not drops)


@pytest.mark.parametrize("ip_ids", [(2, 2), (2, 3)])
def test_a_copy_of_the_network_was_neither_sent_again_nor_late(
    ip_ids: tuple[int, int], tmp_path: Path
) -> None:
    """TCP sends a segment again with another identification."""
    story = Story()
    story.lasting(0)
    numbers = zip((1, *ip_ids), (500, 600, 600), (100, 1_003_000, 2_003_000), strict=True)
    packets = [(at * US, frame(ip_id, seq)) for ip_id, seq, at in numbers]
    write_pcap(tmp_path / "story.pcap", packets)
    made = diagnosed(story, tmp_path, "story.pcap")
    assert causes(made) == (set() if ip_ids == (2, 2) else {"retransmission"})


def test_a_copy_that_a_recorded_kernel_made_is_not_out_of_order(tmp_path: Path) -> None:
    story = Story()
    sent(story, 1, 500, 100)
    sent(story, 2, 600, 150)
    story.clone(151 * US + 100, skb(2), skb(3))
    story.call("dev_hard_start_xmit", 160 * US, 161 * US, skb(3), pid=READER, **facts_of(2, 600))
    for ip_id in (1, 2, 3):
        gone(story, ip_id, 170 + ip_id)
    story.lasting(0)
    packets = [(103 * US, frame(1, 500)), (153 * US, frame(2, 600)), (161 * US, frame(2, 600))]
    write_pcap(tmp_path / "story.pcap", packets)
    assert causes(diagnosed(story, tmp_path, "story.pcap")) == set()


@pytest.mark.parametrize(("makes", "found"), [
    ((1, 2), {"retransmission"}),
    ((1,), set()),  # the second one is a copy
    ((), {"retransmission"}),  # the log would not show which functions made them
])  # fmt: skip
def test_a_syn_ack_that_answers_a_repeated_syn_is_sent_again(
    makes: tuple[int, ...], found: set[str], tmp_path: Path
) -> None:
    """The kernel makes a new one.  No SYN/ACK is late."""
    story, times = Story(), (100, 1_003_000)
    known: dict[str, Any] = {"ipv4": tcp4(0, 500, 1, 0x12)._replace(tot_len=40), "skbinfo": HOST}
    for number, at in enumerate(times, 1):
        mine = skb(number)
        story.alloc(at * US - 20, mine, pid=READER)
        if number in makes:
            story.call("ip_build_and_send_pkt", at * US, (at + 9) * US, mine, pid=READER)
        story.call("ip_output", (at + 1) * US, (at + 8) * US, mine, pid=READER, **known)
        story.call("dev_hard_start_xmit", (at + 2) * US, (at + 7) * US, mine, pid=READER)
        gone(story, number, at + 30)
        if number == 1:
            sent(story, 7, 501, 300)
            gone(story, 7, 330)
    sent(story, 8, 1000, 2_000_000, again=True)  # the log shows what is sent again
    gone(story, 8, 2_000_030)
    story.lasting(0)
    segment = build.tcp(1000, 80, 500, 1, 0x12, b"")
    answer = build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 6, segment, 0))
    packets = [((at + 3) * US, answer) for at in times]
    write_pcap(tmp_path / "story.pcap", [packets[0], (303 * US, frame(7, 501)), packets[1]])
    made = diagnosed(story, tmp_path, "story.pcap")
    assert causes(made) == found
