# SPDX-License-Identifier: MIT
"""Each exit finds its entry."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import pair

from .story import SOFTIRQ, Story, find

SKB = 0xFFFF888000001000


def test_a_task_that_changes_the_cpu_inside_a_call(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "tcp_sendmsg", SKB, cpu=0, pid=7)
    story.call("tcp_sendmsg", 110, 120, SKB, cpu=0, pid=8)  # another task on the CPU it left
    story.leave(200, "tcp_sendmsg", SKB, cpu=1, pid=7)
    log = story.log(tmp_path)
    partner = pair(log.records)
    assert log.records["ts"][partner].tolist() == [200, 120, 110, 100]


def test_recursion_nests(tmp_path: Path) -> None:
    story = Story()
    for begin, end in ((100, 400), (110, 300), (120, 200), (210, 220)):
        story.call("__netif_receive_skb_core", begin, end, SKB)
    log = story.log(tmp_path)
    times = dict(zip(log.records["ts"].tolist(), log.records["ts"][pair(log.records)], strict=True))
    assert {begin: times[begin] for begin in (100, 110, 120, 210)} == {
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
    log = story.log(tmp_path)
    assert pair(log.records).tolist() == [-1, 2, 1]


def test_an_entry_takes_no_exit_of_another_skb(tmp_path: Path) -> None:
    """The first call's exit and the second's entry were lost: what is left is no call."""
    story = Story()
    story.enter(100, "ip_output", SKB)
    story.leave(900, "ip_output", SKB + 0x100)
    assert pair(story.log(tmp_path).records).tolist() == [-1, -1]


def test_a_softirq_nested_in_a_task_pairs_by_itself(tmp_path: Path) -> None:
    story = Story()
    story.enter(100, "kfree_skb", SKB, pid=7)
    story.call("kfree_skb", 110, 120, SKB + 0x100, pid=7, context=SOFTIRQ)
    story.enter(130, "kfree_skb", SKB + 0x200, pid=7, context=SOFTIRQ)  # its exit was lost
    story.leave(200, "kfree_skb", SKB, pid=7)
    log = story.log(tmp_path)
    partner = pair(log.records)
    assert partner.tolist() == [4, 2, 1, -1, 0]


def test_the_idle_tasks_of_two_cpus_are_two_tasks(tmp_path: Path) -> None:
    story = Story()
    story.call("napi_gro_receive", 100, 300, SKB, cpu=0, pid=0)
    story.call("napi_gro_receive", 110, 200, SKB + 0x100, cpu=1, pid=0)
    log = story.log(tmp_path)
    assert log.records["ts"][pair(log.records)].tolist() == [300, 200, 110, 100]
