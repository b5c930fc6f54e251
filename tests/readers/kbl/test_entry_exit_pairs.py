# SPDX-License-Identifier: MIT
"""Each exit finds its entry, and is no record of its own then."""

from __future__ import annotations

from pathlib import Path

from skbviewer import readers
from skbviewer.records import KernelLog, Silent
from skbviewer.records.kbl_layout import KBL_FLAG_OPEN
from tests.matching.story import SOFTIRQ, Story
from tests.readers.build_kbl import KblBuilder

SKB = 0xFFFF888000001000


ENTRY, EXIT = 1, 2


def times(log: KernelLog) -> dict[int, int]:
    """When each call ended (-1: unknown), by when it began."""
    records = log.records[["ts", "exit_ts"]][log.records["kind"] == ENTRY]
    return dict(records.tolist())


def alone(log: KernelLog) -> list[int]:
    """Times of exits without an entry."""
    return list(log.records["ts"][log.records["kind"] == EXIT].tolist())


def test_a_task_that_changes_the_cpu_inside_a_call(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "tcp_sendmsg", SKB, cpu=0, pid=7)
    story.call("tcp_sendmsg", 110, 120, SKB, cpu=0, pid=8)  # another task on the CPU it left
    story.leave(200, "tcp_sendmsg", SKB, cpu=1, pid=7)
    assert times(story.log(tmp_path)) == {100: 200, 110: 120}


def test_recursion_nests(tmp_path: Path) -> None:
    story = Story()
    for begin, end in ((100, 400), (110, 300), (120, 200), (210, 220)):
        story.call("__netif_receive_skb_core", begin, end, SKB)
    assert times(story.log(tmp_path)) == {100: 400, 110: 300, 120: 200, 210: 220}


def test_a_lost_exit_harms_no_other_call(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "ip_output", SKB)
    story.call("ip_output", 200, 210, SKB)
    story.call("ip_output", 300, 310, SKB)
    assert times(story.log(tmp_path)) == {100: -1, 200: 210, 300: 310}


def test_a_lost_entry_harms_no_other_call(tmp_path: Path) -> None:
    story = Story()
    story.leave(50, "ip_output", SKB)
    story.call("ip_output", 200, 210, SKB)
    log = story.log(tmp_path)
    assert times(log) == {200: 210}
    assert alone(log) == [50]


def test_an_entry_takes_no_exit_of_another_skb(tmp_path: Path) -> None:
    """The first call's exit and the second's entry were lost: what is left is no call."""
    story = Story()
    story.enter(100, "ip_output", SKB)
    story.leave(900, "ip_output", SKB + 0x100)
    log = story.log(tmp_path)
    assert times(log) == {100: -1}
    assert alone(log) == [900]


def test_a_softirq_nested_in_a_task_pairs_by_itself(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "kfree_skb", SKB, pid=7)
    story.call("kfree_skb", 110, 120, SKB + 0x100, pid=7, context=SOFTIRQ)
    story.enter(130, "kfree_skb", SKB + 0x200, pid=7, context=SOFTIRQ)  # its exit was lost
    story.leave(200, "kfree_skb", SKB, pid=7)
    assert times(story.log(tmp_path)) == {100: 200, 110: 120, 130: -1}


def test_the_idle_tasks_of_two_cpus_are_two_tasks(tmp_path: Path) -> None:
    story = Story()
    story.call("napi_gro_receive", 100, 300, SKB, cpu=0, pid=0)
    story.call("napi_gro_receive", 110, 200, SKB + 0x100, cpu=1, pid=0)
    assert times(story.log(tmp_path)) == {100: 300, 110: 200}


def test_what_the_log_records_is_not_guessed(tmp_path: Path) -> None:
    """Two threads nobody can tell apart: by context alone the calls would seem nested."""
    build = KblBuilder(3)
    func = build.probe("tcp_sendmsg")
    build.call(110, 0, func, SKB, 200)
    build.call(100, 0, func, SKB, 20)
    build.entry(105, 0, func, SKB, flags=KBL_FLAG_OPEN)  # open at stop: takes nobody's exit
    build.exit(400, 0, func, SKB)
    log = readers.read(build.write(tmp_path / "a.kbl"), Silent())
    assert isinstance(log, KernelLog)
    assert times(log) == {100: 120, 105: -1, 110: 310}
    assert alone(log) == [400]


def test_calls_that_version_3_could_not_hold_open(tmp_path: Path) -> None:
    """Too many were open at once: their entries and exits are separate records."""
    build = KblBuilder(3)
    func, inner = build.probe("tcp_sendmsg"), build.probe("ip_output")
    build.entry(100, 0, func, SKB, pid=7)
    build.call(110, 0, inner, SKB, 20)
    build.exit(150, 1, func, SKB, pid=7, ret=-5)
    log = readers.read(build.write(tmp_path / "a.kbl"), Silent())
    assert isinstance(log, KernelLog)
    assert times(log) == {100: 150, 110: 130}
    assert alone(log) == []
    exits = log.records[["exit_cpu", "ret"]][log.records["ts"] == 100]
    assert exits.tolist() == [(1, -5)]


def test_the_exit_of_another_call_behind_a_loss_is_none(tmp_path: Path) -> None:
    """Lost are the first call's exit and the second call's entry, at one skb address."""
    story = Story()
    story.enter(100, "ip_rcv", SKB, context=SOFTIRQ)
    story.lost(9000, 9, begin=140)
    story.leave(9500, "ip_rcv", SKB, context=SOFTIRQ)
    log = story.log(tmp_path)
    if log.version == 2:  # version 3 records a whole call
        assert times(log) == {100: -1}
        assert alone(log) == [9500]


def test_a_loss_of_another_cpu_parts_no_call(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "ip_rcv", SKB, context=SOFTIRQ)
    story.lost(900, 9, begin=140, cpu=1)
    story.leave(950, "ip_rcv", SKB, context=SOFTIRQ)
    assert times(story.log(tmp_path)) == {100: 950}


def test_a_call_that_changed_its_cpu_is_parted_by_any_loss(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "tcp_sendmsg", SKB, cpu=0, pid=7)
    story.lost(900, 9, begin=140, cpu=1)
    story.leave(950, "tcp_sendmsg", SKB, cpu=1, pid=7)
    log = story.log(tmp_path)
    if log.version == 2:
        assert times(log) == {100: -1}
