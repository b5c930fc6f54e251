# SPDX-License-Identifier: MIT
"""Interruptions between a call's entry and exit are marked; interrupt time is separate."""

from __future__ import annotations

from pathlib import Path

from skbviewer import readers
from skbviewer.analysis import build_calls
from skbviewer.analysis.calls.interruptions import (
    MARK_GAP,
    MARK_INTERRUPTED,
    MARK_MIGRATED,
    MARK_SLEPT,
)
from skbviewer.matching import build_legs, build_series
from skbviewer.records import KernelLog, Silent
from skbviewer.records.kbl_layout import KblEvent
from tests.matching.story import HARDIRQ, SOFTIRQ, Story, udp4
from tests.readers.build_kbl import KblBuilder

from .test_call_building import A, B, Calls


def test_a_call_that_nothing_interrupts_has_no_mark(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 1000, 2000, A, pid=7, ipv4=udp4(1))
    story.call("ip_rcv", 2100, 2200, B, pid=7, context=SOFTIRQ)
    calls = Calls(story, tmp_path)
    assert calls["ip_output"]["marks"] == 0
    assert calls["ip_output"]["irq_ns"] == 0


def test_another_task_on_its_cpu_means_that_it_slept(tmp_path: Path) -> None:
    story = Story()
    story.enter(1000, "tcp_recvmsg", A, cpu=0, pid=7)
    story.call("ip_output", 1500, 1600, B, cpu=0, pid=8)
    story.leave(2000, "tcp_recvmsg", A, cpu=0, pid=7)
    story.enter(3000, "tcp_sendmsg_skb", A, cpu=1, pid=9)
    story.call("eth_header", 3500, 3600, B, cpu=0, pid=8)
    story.leave(4000, "tcp_sendmsg_skb", A, cpu=1, pid=9)
    calls = Calls(story, tmp_path)
    assert calls["tcp_recvmsg"]["marks"] == MARK_SLEPT
    assert calls["tcp_sendmsg_skb"]["marks"] == 0


def test_its_own_task_on_two_cpus_means_that_it_migrated(tmp_path: Path) -> None:
    story = Story()
    story.enter(1000, "tcp_sendmsg_skb", A, cpu=0, pid=7)
    story.call("nf_hook_slow", 1100, 1200, A, cpu=0, pid=7)
    story.call("ip_output", 1500, 1600, A, cpu=1, pid=7)
    story.leave(2000, "tcp_sendmsg_skb", A, cpu=1, pid=7)
    calls = Calls(story, tmp_path)
    assert calls["tcp_sendmsg_skb"]["marks"] & MARK_MIGRATED
    assert calls["ip_output"]["marks"] == 0


def test_interrupts_in_one_another_count_once_and_only_on_their_cpu(tmp_path: Path) -> None:
    story = Story()
    story.enter(1000, "ip_output", A, cpu=0, pid=7)
    story.enter(1100, "ip_rcv", B, cpu=0, pid=7, context=SOFTIRQ)
    story.call("eth_header", 1200, 1250, B, cpu=0, pid=7, context=HARDIRQ)
    story.leave(1300, "ip_rcv", B, cpu=0, pid=7, context=SOFTIRQ)
    story.call("nf_hook_slow", 1400, 1900, B, cpu=1, pid=8, context=SOFTIRQ)
    story.leave(2000, "ip_output", A, cpu=0, pid=7)
    calls = Calls(story, tmp_path)
    assert calls["ip_output"]["marks"] == MARK_INTERRUPTED
    assert calls["ip_output"]["irq_ns"] == 200
    assert calls["ip_output"]["self_ns"] == 800
    assert calls["ip_rcv"]["irq_ns"] == 50


def test_interrupts_are_known_by_their_events_too(tmp_path: Path) -> None:
    story = Story()
    story.enter(1000, "ip_output", A, pid=7)
    story.event(1200, KblEvent.SOFTIRQ_ENTRY, 0, 3)
    story.event(1700, KblEvent.SOFTIRQ_EXIT, 0, 3)
    story.leave(2000, "ip_output", A, pid=7)
    calls = Calls(story, tmp_path)
    assert calls["ip_output"]["irq_ns"] == 500


def test_no_number_is_given_across_lost_records(tmp_path: Path) -> None:
    story = Story()
    story.call("ip_output", 1000, 2000, A, pid=7)
    story.lost(1500, 4, begin=1400)
    story.call("ip_rcv", 2500, 2600, B, pid=7)
    calls = Calls(story, tmp_path)
    assert calls["ip_output"]["marks"] & MARK_GAP
    # Version 2 records entry and exit separately: after a loss they cannot be paired.
    assert calls["ip_output"]["dur_ns"] == (1000 if story.version == 3 else -1)
    assert calls["ip_output"]["self_ns"] == -1
    assert calls["ip_rcv"]["marks"] == 0
    assert calls["ip_rcv"]["self_ns"] == 100


def test_a_call_that_changed_its_cpu_lacks_what_any_of_them_lost(tmp_path: Path) -> None:
    story = Story()
    story.enter(1000, "tcp_sendmsg_skb", A, cpu=0, pid=7)
    story.call("ip_output", 1500, 1600, A, cpu=1, pid=7)
    story.lost(1900, 40, begin=1650, cpu=1)
    story.leave(3000, "tcp_sendmsg_skb", A, cpu=1, pid=7)
    story.call("ip_rcv", 1010, 2010, B, cpu=0, pid=8)  # stays on its own
    calls = Calls(story, tmp_path)
    if story.version == 3:  # version 2 cannot pair its exit
        assert calls["tcp_sendmsg_skb"]["marks"] & MARK_GAP
    assert calls["tcp_sendmsg_skb"]["self_ns"] == -1
    assert calls["ip_rcv"]["self_ns"] == 1000
    assert calls["ip_output"]["self_ns"] == 100


def test_a_call_that_came_back_to_its_cpu_lacks_what_the_other_lost(tmp_path: Path) -> None:
    story = Story()
    story.enter(1000, "tcp_sendmsg_skb", A, cpu=0, pid=7)
    story.call("ip_output", 1500, 1600, A, cpu=1, pid=7)
    story.lost(1900, 40, begin=1650, cpu=1)
    story.leave(3000, "tcp_sendmsg_skb", A, cpu=0, pid=7)
    calls = Calls(story, tmp_path)
    assert calls["tcp_sendmsg_skb"]["marks"] & MARK_GAP


def test_a_call_of_an_unknown_thread_that_changed_its_cpu_does_so_too(tmp_path: Path) -> None:
    """Behind a hole in the file no thread is known, so nothing is marked as migrated."""
    build = KblBuilder(3)
    build.lost(1900, 1, 1650, 40)
    build.call(1000, 1, build.probe("tcp_sendmsg_skb"), A, 2000, entry_cpu=0)
    log = readers.read(build.write(tmp_path / "a.kbl"), Silent())
    assert isinstance(log, KernelLog)
    series = build_series(log)
    (call,) = build_calls(log, series, build_legs(log, series))[:]
    assert (call["pid"], call["marks"]) == (-1, MARK_GAP)
