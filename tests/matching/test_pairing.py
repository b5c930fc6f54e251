# SPDX-License-Identifier: MIT
"""Each exit finds its entry."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skbviewer import readers
from skbviewer.matching import pair
from skbviewer.readers._kbl_layout import KBL_FLAG_OPEN
from skbviewer.records import KernelLog, Silent
from tests.readers.build_kbl import KblBuilder

from .story import SOFTIRQ, Story, find

SKB = 0xFFFF888000001000


def times(log: KernelLog) -> dict[int, int | None]:
    """When each call ended, by when it began; and the same of exits."""
    records, partner = log.records, pair(log.records)
    calls = np.flatnonzero(records["kind"] <= 2).tolist()
    return {int(records["ts"][i]): _time(log, int(partner[i])) for i in calls}


def _time(log: KernelLog, record: int) -> int | None:
    return None if record < 0 else int(log.records["ts"][record])


def test_a_task_that_changes_the_cpu_inside_a_call(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "tcp_sendmsg", SKB, cpu=0, pid=7)
    story.call("tcp_sendmsg", 110, 120, SKB, cpu=0, pid=8)  # another task on the CPU it left
    story.leave(200, "tcp_sendmsg", SKB, cpu=1, pid=7)
    assert times(story.log(tmp_path)) == {100: 200, 110: 120, 120: 110, 200: 100}


def test_recursion_nests(tmp_path: Path) -> None:
    story = Story()
    for begin, end in ((100, 400), (110, 300), (120, 200), (210, 220)):
        story.call("__netif_receive_skb_core", begin, end, SKB)
    found = times(story.log(tmp_path))
    assert {begin: found[begin] for begin in (100, 110, 120, 210)} == {
        100: 400,
        110: 300,
        120: 200,
        210: 220,
    }


def test_a_lost_exit_harms_no_other_call(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "ip_output", SKB)
    story.call("ip_output", 200, 210, SKB)
    story.call("ip_output", 300, 310, SKB)
    log = story.log(tmp_path)
    partner = pair(log.records)
    first, second, third = find(log, "ip_output")
    assert partner[first] == -1
    assert log.records["ts"][partner[[second, third]]].tolist() == [210, 310]


def test_a_lost_entry_harms_no_other_call(tmp_path: Path) -> None:
    story = Story()
    story.leave(50, "ip_output", SKB)
    story.call("ip_output", 200, 210, SKB)
    assert times(story.log(tmp_path)) == {50: None, 200: 210, 210: 200}


def test_an_entry_takes_no_exit_of_another_skb(tmp_path: Path) -> None:
    """The first call's exit and the second's entry were lost: what is left is no call."""
    story = Story()
    story.enter(100, "ip_output", SKB)
    story.leave(900, "ip_output", SKB + 0x100)
    assert times(story.log(tmp_path)) == {100: None, 900: None}


def test_a_softirq_nested_in_a_task_pairs_by_itself(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "kfree_skb", SKB, pid=7)
    story.call("kfree_skb", 110, 120, SKB + 0x100, pid=7, context=SOFTIRQ)
    story.enter(130, "kfree_skb", SKB + 0x200, pid=7, context=SOFTIRQ)  # its exit was lost
    story.leave(200, "kfree_skb", SKB, pid=7)
    assert times(story.log(tmp_path)) == {100: 200, 110: 120, 120: 110, 130: None, 200: 100}


def test_the_idle_tasks_of_two_cpus_are_two_tasks(tmp_path: Path) -> None:
    story = Story()
    story.call("napi_gro_receive", 100, 300, SKB, cpu=0, pid=0)
    story.call("napi_gro_receive", 110, 200, SKB + 0x100, cpu=1, pid=0)
    assert times(story.log(tmp_path)) == {100: 300, 110: 200, 200: 110, 300: 100}


def test_what_the_log_tells_is_not_guessed(tmp_path: Path) -> None:
    """Two threads nobody can tell apart: by context alone the calls would seem nested."""
    build = KblBuilder(3)
    func = build.probe("tcp_sendmsg")
    build.call(110, 0, func, SKB, 200)
    build.call(100, 0, func, SKB, 20)
    build.entry(105, 0, func, SKB, flags=KBL_FLAG_OPEN)  # open at stop: takes nobody's exit
    build.exit(400, 0, func, SKB)
    log = readers.read(build.write(tmp_path / "a.kbl"), Silent())
    assert isinstance(log, KernelLog)
    expected = {100: 120, 105: None, 110: 310, 120: 100, 310: 110, 400: None}
    assert times(log) == expected
