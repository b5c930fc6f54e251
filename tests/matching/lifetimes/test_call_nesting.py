# SPDX-License-Identifier: MIT
"""Which call runs inside which, whatever packets they handle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skbviewer.matching import Nesting
from skbviewer.records import RECORD_DTYPE, KernelLog
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.records.types import Int64s

from ..story import SOFTIRQ, Story, find

A, B = 0xFFFF888000001000, 0xFFFF888000002000


def parents(log: KernelLog) -> dict[str, str]:
    """The function around each function's one call, and around the one event."""
    nesting = Nesting(log.records)
    names = {p.id: p.name for p in log.probes.values()}
    found = {}
    for row in np.flatnonzero(
        (log.records["kind"] == 1) | (log.records["event"] == KblEvent.NEIGH)
    ):
        above = int(nesting.parent[row])
        name = names.get(int(log.records["func"][row]), "event")
        found[name] = "" if above < 0 else names[int(log.records["func"][above])]
    return found


def test_calls_of_other_packets_enclose_as_well(tmp_path: Path) -> None:
    story = Story()
    story.call("tcp_ack", 1000, 2000, A)
    story.call("tcp_rtx_queue_unlink", 1200, 1500, B)
    story.event(1300, KblEvent.NEIGH, 0)
    story.call("kfree_skb", 1600, 1700, B)
    assert parents(story.log(tmp_path)) == {
        "tcp_ack": "",
        "tcp_rtx_queue_unlink": "tcp_ack",
        "event": "tcp_rtx_queue_unlink",
        "kfree_skb": "tcp_ack",
    }


def test_contexts_do_not_enclose_each_other(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 1000, 2000, A, pid=7)
    story.call("ip_rcv", 1200, 1300, B, pid=7, context=SOFTIRQ)
    story.call("ip_forward", 1210, 1290, B, pid=8)
    story.event(1250, KblEvent.NEIGH, 0, pid=7)
    assert parents(story.log(tmp_path)) == {
        "ip_output": "",
        "ip_rcv": "",
        "ip_forward": "",
        "event": "ip_output",
    }


def test_a_call_without_an_end_encloses_nothing(tmp_path: Path) -> None:
    story = Story()
    story.call("udp_send_skb", 1000, 2000, A)
    story.enter(1100, "ip_send_skb", A)
    story.call("ip_output", 1200, 1500, A)
    found = parents(story.log(tmp_path))
    assert (found["ip_output"], found["ip_send_skb"]) == ("udp_send_skb", "udp_send_skb")


def _of(values: Int64s) -> Callable[[slice], Int64s]:
    return lambda some: values[some]


def test_what_is_inside_counts_on_all_levels(tmp_path: Path) -> None:
    story = Story()
    for begin, end in ((100, 500), (200, 400), (250, 300), (350, 360), (600, 700)):
        story.call("ip_rcv", begin, end, A)
    story.call("ip_output", 210, 220, A, pid=9)
    log = story.log(tmp_path)
    nesting = Nesting(log.records)
    inside = nesting.sums_inside(_of((log.records["kind"] == 1).astype(np.int64)))
    assert inside[find(log, "ip_rcv")].tolist() == [3, 2, 0, 0, 0]
    assert inside[find(log, "ip_output")].tolist() == [0]


def test_a_call_that_ended_is_not_around(tmp_path: Path) -> None:
    """A thread seen on two CPUs at once, as only a broken log has it: calls that do not nest."""
    story = Story()
    story.call("ip_rcv", 1000, 1300, A)
    story.call("ip_output", 1200, 2000, B, cpu=1)
    story.call("kfree_skb", 1500, 1600, A)
    log = story.log(tmp_path)
    nesting = Nesting(log.records)
    (freed,), (sent,) = find(log, "kfree_skb"), find(log, "ip_output")
    around = [call.tolist() for _, call in nesting.calls_around(np.array([freed]))]
    assert [call for part in around for call in part] == [sent]


def test_an_empty_log(tmp_path: Path) -> None:
    log = Story().log(tmp_path)
    nesting = Nesting(log.records)
    assert len(nesting.parent) == 0
    assert len(nesting.sums_inside(_of(np.zeros(0, np.int64)))) == 0


@pytest.mark.parametrize("seed", range(20))
def test_calls_that_do_not_nest(seed: int) -> None:
    """For random calls in two contexts, nesting equals a comparison of all pairs."""
    rng = np.random.default_rng(seed)
    records = np.zeros(300, RECORD_DTYPE)
    records["ts"] = np.sort(rng.integers(0, 1000, len(records)))
    lasts = rng.integers(-1, rng.choice([5, 50, 1000]), len(records))
    records["exit_ts"] = np.where(lasts < 0, -1, records["ts"] + lasts)
    records["kind"] = rng.choice([1, 4], len(records), p=[0.9, 0.1])
    records["data"] = np.where(rng.random(len(records)) < 0.1, 1, -1)
    records["pid"] = rng.integers(1, 3, len(records))
    nesting = Nesting(records)
    values = rng.integers(0, 1 << 40, len(records))
    inside = nesting.sums_inside(_of(values))
    for row, one in enumerate(records):
        before, after = np.arange(len(records)) < row, np.arange(len(records)) > row
        calls = (records["kind"] == 1) & (records["exit_ts"] >= 0)
        mine = records["pid"] == one["pid"]
        around = before & calls & mine & (records["data"] < 0) & (records["exit_ts"] > one["ts"])
        assert nesting.parent[row] == np.flatnonzero(around).max(initial=-1)
        within = after & mine & (records["ts"] < one["exit_ts"])
        assert inside[row] == (values[within].sum() if calls[row] else 0)
