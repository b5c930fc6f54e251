# SPDX-License-Identifier: MIT
"""Calls: duration, self time, depth and parent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skbviewer.analysis import build_calls
from skbviewer.matching import build_legs, build_series
from skbviewer.records.kbl_layout import KblEvent
from tests.matching.story import HOST, SOFTIRQ, Story, udp4

A, B = 0xFFFF888000001000, 0xFFFF888000002000


class Calls:
    """The calls of a story, by function name."""

    def __init__(self, story: Story, folder: Path) -> None:
        log = story.log(folder)
        series = build_series(log)
        self.rows = build_calls(log, series, build_legs(log, series))
        self.names = [log.probes[int(func)].name for func in self.rows["func"]]

    def __getitem__(self, name: str) -> Any:
        return self.rows[self.names.index(name)]

    def parent(self, name: str) -> str | None:
        row = int(self[name]["parent"])
        return self.names[row] if row >= 0 else None


def nested() -> Story:
    story = Story()
    story.call("udp_send_skb", 1000, 2000, A, ipv4=udp4(1))
    story.call("ip_send_skb", 1100, 1900, A)
    story.call("nf_hook_slow", 1200, 1300, A)
    story.call("ip_output", 1400, 1800, A)
    story.call("eth_header", 1500, 1550, A)
    return story


def test_depth_and_parent_follow_the_nesting(tmp_path: Path) -> None:
    calls = Calls(nested(), tmp_path)
    assert calls.rows["depth"].tolist() == [0, 1, 2, 2, 3]
    assert [calls.parent(name) for name in calls.names] == [
        None,
        "udp_send_skb",
        "ip_send_skb",
        "ip_send_skb",
        "ip_output",
    ]


def test_self_time_is_what_the_inner_calls_leave(tmp_path: Path) -> None:
    calls = Calls(nested(), tmp_path)
    assert calls.rows["dur_ns"].tolist() == [1000, 800, 100, 400, 50]
    assert calls.rows["self_ns"].tolist() == [200, 300, 100, 350, 50]
    assert calls.rows["self_ns"].sum() == calls.rows["dur_ns"][0]


def test_recursion_has_its_own_depth(tmp_path: Path) -> None:
    story = Story()
    for begin, end in ((100, 500), (200, 400), (250, 300)):
        story.call("__netif_receive_skb_core", begin, end, A)
    calls = Calls(story, tmp_path)
    assert calls.rows["depth"].tolist() == [0, 1, 2]
    assert calls.rows["parent"].tolist() == [-1, 0, 1]
    assert calls.rows["self_ns"].tolist() == [200, 150, 50]


def test_a_call_without_an_exit_is_unknown_and_encloses_nothing(tmp_path: Path) -> None:
    story = Story()
    story.call("udp_send_skb", 1000, 2000, A)
    story.enter(1100, "ip_send_skb", A)
    story.call("ip_output", 1200, 1500, A)
    calls = Calls(story, tmp_path)
    lost = calls["ip_send_skb"]
    assert (lost["exit_ns"], lost["dur_ns"], lost["self_ns"]) == (-1, -1, -1)
    assert calls.parent("ip_send_skb") == "udp_send_skb"
    assert calls.parent("ip_output") == "udp_send_skb"
    assert calls["ip_output"]["depth"] == 1
    assert calls["udp_send_skb"]["self_ns"] == 700


def test_a_softirq_inside_a_task_nests_by_itself(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 1000, 2000, A, pid=7)
    story.call("net_rx_action", 1100, 1600, A, pid=7, context=SOFTIRQ)
    story.call("ip_rcv", 1200, 1300, A, pid=7, context=SOFTIRQ)
    calls = Calls(story, tmp_path)
    assert calls["net_rx_action"]["depth"] == 0
    assert calls["net_rx_action"]["self_ns"] == 400
    assert calls.parent("ip_rcv") == "net_rx_action"
    assert calls["ip_output"]["irq_ns"] == 500
    assert calls["ip_output"]["self_ns"] == 500


def test_a_task_that_changes_the_cpu_keeps_its_nesting(tmp_path: Path) -> None:
    story = Story()
    story.enter(1000, "tcp_sendmsg_skb", A, cpu=0, pid=7)
    story.call("ip_output", 1500, 1600, A, cpu=1, pid=7)
    story.leave(2000, "tcp_sendmsg_skb", A, cpu=1, pid=7)
    calls = Calls(story, tmp_path)
    assert calls.parent("ip_output") == "tcp_sendmsg_skb"
    assert calls["tcp_sendmsg_skb"]["self_ns"] == 400  # not 1000 to 1500, when it changed the CPU
    assert calls["tcp_sendmsg_skb"]["off_ns"] == 500
    assert calls["tcp_sendmsg_skb"]["cpu"] == 0


def test_a_call_of_another_packet_is_no_parent(tmp_path: Path) -> None:
    """Freeing acknowledged data inside the receipt of the acknowledgement."""
    story = Story()
    story.call("tcp_ack", 1000, 2000, A)
    story.call("tcp_rtx_queue_unlink", 1200, 1500, B)
    calls = Calls(story, tmp_path)
    assert calls["tcp_rtx_queue_unlink"]["depth"] == 0
    assert calls.parent("tcp_rtx_queue_unlink") is None
    assert calls["tcp_ack"]["self_ns"] == 700  # the rest is tcp_rtx_queue_unlink's


def test_a_drop_is_noted_at_the_call_that_dropped(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    story.call("udp_rcv", 1000, 2000, A, skbinfo=HOST)
    story.call("kfree_skb_reason", 1500, 1900, A)
    story.event(1501, KblEvent.DROP, A, data=(0x1234 << 32) | 5)
    story.call("skb_release_data", 1600, 1700, A)
    story.free(1750, A)
    calls = Calls(story, tmp_path)
    reasons = dict(zip(calls.names, calls.rows["drop_reason"].tolist(), strict=True))
    assert reasons.pop("kfree_skb_reason") == 5
    assert set(reasons.values()) == {-1}


def test_an_allocators_skb_is_the_one_it_returned(tmp_path: Path) -> None:
    story = Story()
    story.alloc(100, A)
    calls = Calls(story, tmp_path)
    assert int(calls["__alloc_skb"]["skb"]) & (1 << 64) - 1 == A


def test_a_log_without_records_has_no_calls(tmp_path: Path) -> None:
    assert len(Calls(Story(), tmp_path).rows) == 0
