# SPDX-License-Identifier: MIT
"""A KBL's records as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skbviewer.export import dump_lines
from skbviewer.records import Hole, KernelLog
from skbviewer.records import kbl_layout as layout
from skbviewer.records.kbl_layout import KblEvent
from tests.matching.story import HOST, SOFTIRQ, Story, udp4
from tests.readers.build_kbl import STEXT, Ipv6

A = 0xFFFF888000001000


def log(folder: Path) -> KernelLog:
    story = Story()
    story.kbl.task(1, 0, 7, 7, "ping")
    by = STEXT + 0x10000 + story.function("ip_send_skb") * 0x1000 + 0x1C
    story.enter(12_000_000_345, "ip_output", A, pid=7, caller=by, skbinfo=HOST, ipv4=udp4(9))
    story.leave(12_000_000_500, "ip_output", A, cpu=1, pid=7, ret=-5)
    story.event(12_000_000_600, KblEvent.FREE, A, pid=0, cpu=1, context=SOFTIRQ)
    ip6 = Ipv6("fe80::1", "fe80::2", 58)
    story.call("ip6_input", 12_000_000_700, 12_000_000_800, A, pid=7, ipv6=ip6)
    arp = HOST._replace(ethertype=0x0806)
    story.call("arp_rcv", 12_000_000_900, 12_000_000_950, A, pid=99, skbinfo=arp)
    return story.log(folder)


def line(folder: Path, text: str) -> str:
    return next(line for line in dump_lines(log(folder)) if text in line)


def test_a_line_for_each_record_in_order_of_time(tmp_path: Path) -> None:
    made = log(tmp_path)
    for batch in (1, 3, 4096):
        lines = list(dump_lines(made, batch))
        assert len(lines) == len(made.records) + 3  # as many calls returned
        assert [text.split()[0] for text in lines] == sorted(text.split()[0] for text in lines)


def test_an_entry(tmp_path: Path) -> None:
    text = line(tmp_path, "-> ip_output")
    assert text.startswith("12.000000345 [0T] ping/7 ")
    assert "ffff888000001000" in text
    assert "from ip_send_skb+0x1c" in text
    assert text.endswith("10.0.0.1 > 10.0.0.2 id 9 proto 17 len 38")


def test_an_exit(tmp_path: Path) -> None:
    text = line(tmp_path, "<- ip_output")
    assert text.startswith("12.000000500 [1T] ping/7 ")
    assert text.endswith("= -5")


def test_an_event(tmp_path: Path) -> None:
    assert line(tmp_path, "** free").startswith("12.000000600 [1S] ")


def test_other_networks(tmp_path: Path) -> None:
    assert "fe80::1 > fe80::2" in line(tmp_path, "-> ip6_input")
    assert line(tmp_path, "-> arp_rcv").endswith("ethertype 0x0806")
    assert "?/99" in line(tmp_path, "-> arp_rcv")


def test_lost_records_stand_where_they_are_missing(tmp_path: Path) -> None:
    story = Story()
    story.kbl.lost(5000, 0, 2000, 17)
    (text,) = dump_lines(story.log(tmp_path))
    assert text.endswith("17 records lost in 3000 ns: buffers were full")


def test_a_hole_in_the_file_stands_where_records_follow_again(tmp_path: Path) -> None:
    made = log(tmp_path)
    holes = (Hole(1, 13_000_000_000, 13_000_000_009, 1), Hole(0, 12_000_000_501, 12_000_000_600, 3))
    for batch in (1, 4096):
        lines = list(dump_lines(replace(made, holes=holes), batch))
        assert [line for line in lines if "!!" not in line] == list(dump_lines(made))
        assert [text.split()[0] for text in lines] == sorted(text.split()[0] for text in lines)
        at = next(n for n, line in enumerate(lines) if "!!" in line)
        what = "at least 3 records lost in 99 ns: missing or damaged in the file"
        assert lines[at].startswith("12.000000600 [0?] -") and lines[at].endswith(f"!! {what}")
        assert "** free" in lines[at + 1]
        assert "at least 1 record lost in 9 ns" in lines[-1]


def test_an_interrupt_keeps_its_name(tmp_path: Path) -> None:
    """The log contains it once on each CPU, in slots of 15 bytes."""
    story = Story()
    for ts, event, parts in (
        (1000, KblEvent.IRQ_ENTRY, (b"i40e-eth0-TxRx-", b"12")),
        (2000, KblEvent.IRQ_EXIT, ()),
        (3000, KblEvent.IRQ_ENTRY, ()),
    ):
        fields = {"kind": layout.KblKind.EXT, "type": layout.KblExtType.COMM}
        extra = tuple((layout.KBL_EXT_COMM, fields | {"comm": part}) for part in parts)
        story.event(ts, event, 0, data=37, context=2, extra=extra)
    texts = [text.partition("** ")[2] for text in dump_lines(story.log(tmp_path))]
    name = "i40e-eth0-TxRx-12"
    assert texts == [f"irq_entry 37 {name}", f"irq_exit 37 {name} not ours", f"irq_entry 37 {name}"]
