# SPDX-License-Identifier: MIT
"""Threads, locks, page faults and lengths of queues of stories computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.analysis.words.event_text import fault_text
from skbviewer.records import kbl_layout as kbl
from skbviewer.records.kbl_layout import KblEvent, KblLock
from tests.matching.story import Story
from tests.readers.build_kbl import STEXT, ext

from .test_more_tables import rows, table
from .test_tables import opened, udp_story

A, B, IDLE = 21, 22, 0
LOCK = 0xFF_8880_1234_5600 | 0xFF << 56
LOW = LOCK & (1 << 56) - 1
SLEEPS = 1  # kernel's TASK_INTERRUPTIBLE
ETH0 = (kbl.KblExtType.ADDR, {"ifindex": 2, "netns": 100, "flags": 5 << 16})


def switch(story: Story, ts: int, out: int, into: int, state: int = 0, cpu: int = 0) -> None:
    story.event(ts, KblEvent.SCHED_SWITCH, 0, into | state << 32, cpu, pid=out)


def scheduled() -> Story:
    """A is woken, runs, loses its CPU to B, and runs again until it sleeps."""
    story = udp_story()
    story.thread(1, A, "reader")
    story.thread(2, B, "burner")
    story.event(1000, KblEvent.WAKE, 0, A, cpu=1, pid=7)
    story.event(1010, KblEvent.WAKE, 0, A, cpu=1, pid=7)  # waits since the first time
    switch(story, 1100, IDLE, A)
    switch(story, 1400, A, B)
    switch(story, 2400, B, A, SLEEPS)
    switch(story, 2500, A, IDLE, SLEEPS)
    story.event(3000, KblEvent.WAKE, 0, A, pid=0)
    switch(story, 3020, IDLE, A)
    return story


def test_threads_run_wait_and_sleep(tmp_path: Path) -> None:
    for session in opened(scheduled(), tmp_path):
        found = {
            (row["process"], row["kind"]): (row["count"], row["total_ns"], row["max_ns"])
            for row in rows(session, "threads")
        }
        assert found == {
            ("reader", "ran"): (2, 400, 300),
            ("burner", "ran"): (1, 1000, 1000),
            ("the idle task", "ran"): (1, 520, 520),
            ("reader", "waited for a CPU"): (3, 100 + 1000 + 20, 1000),
            ("reader", "slept"): (1, 500, 500),
        }


def test_a_thread_that_lost_records_is_left_out(tmp_path: Path) -> None:
    story = scheduled()
    story.lost(2000, 1, 1500)
    for session in opened(story, tmp_path):
        kinds = {(row["process"], row["kind"]) for row in rows(session, "threads")}
        assert ("burner", "ran") not in kinds


def test_a_thread_woken_before_it_slept_did_not_wait(tmp_path: Path) -> None:
    story = udp_story()
    story.event(1000, KblEvent.WAKE, 0, A, pid=B)
    switch(story, 1200, A, IDLE, SLEEPS)
    story.event(1500, KblEvent.WAKE, 0, A, pid=B)
    switch(story, 1510, IDLE, A)
    for session in opened(story, tmp_path):
        (row,) = [row for row in rows(session, "threads") if row["kind"] == "waited for a CPU"]
        assert row["total_ns"] == 10


def wait(story: Story, begin: int, end: int, pid: int, how: int, *stack: str) -> None:
    """A wait for the lock; `stack` has the callers, innermost first."""
    offsets = [story.inside(name) - STEXT for name in stack]
    slot = ext(kbl.KBL_EXT_STACK, kbl.KblExtType.STACK, depth=len(stack),
               stack=offsets + [0] * (6 - len(stack)))  # fmt: skip
    story.event(begin, KblEvent.LOCK_WAIT, 0, LOW | how << 56, pid=pid, extra=[slot])
    story.event(end, KblEvent.LOCK_GOT, 0, LOW, pid=pid)


def test_locks_by_the_function_that_waited(tmp_path: Path) -> None:
    story = udp_story()
    wait(story, 1000, 1400, A, KblLock.MUTEX, "__mutex_lock", "rtnl_lock", "ip_rcv")
    wait(story, 2000, 2100, B, KblLock.MUTEX, "__mutex_lock", "rtnl_lock", "ip_output")
    # It first spins, then sleeps: one wait.
    story.event(3000, KblEvent.LOCK_WAIT, 0, LOW | KblLock.SPIN << 56, pid=A)
    story.event(3050, KblEvent.LOCK_WAIT, 0, LOW, pid=A)
    story.event(3300, KblEvent.LOCK_GOT, 0, LOW, pid=A)
    for session in opened(story, tmp_path):
        found = [
            (row["function"], row["kind"], row["locks"], row["count"], row["total_ns"])
            for row in rows(session, "locks")
        ]
        assert found == [("rtnl_lock", "mutex", 1, 2, 500), ("unknown", "lock", 1, 1, 300)]


def test_an_end_of_another_lock_or_thread_ends_no_wait(tmp_path: Path) -> None:
    story = udp_story()
    story.event(1000, KblEvent.LOCK_WAIT, 0, LOW, pid=A)
    story.event(1100, KblEvent.LOCK_GOT, 0, LOW + 64, pid=A)
    story.event(1200, KblEvent.LOCK_GOT, 0, LOW, pid=B)
    for session in opened(story, tmp_path):
        assert not rows(session, "locks")


def test_page_faults_of_programs(tmp_path: Path) -> None:
    story = udp_story()
    story.thread(1, A, "reader")
    page, write, user, present = 0x7F00_0000_1000, 2, 4, 1
    for ts, code in ((1000, write | user), (1100, write | user), (1200, user | present)):
        story.event(ts, KblEvent.PAGE_FAULT, 0, page | code, pid=A)
    story.event(1300, KblEvent.PAGE_FAULT, 0, page + 0x1000 | write | user, pid=A)
    for session in opened(story, tmp_path):
        found = [(row["process"], row["kind"], row["count"], row["pages"])
                 for row in rows(session, "faults")]  # fmt: skip
        assert found == [
            ("reader", "write of a missing page", 3, 2),
            ("reader", "read of a protected page", 1, 1),
        ]


def test_lengths_of_queues(tmp_path: Path) -> None:
    story = udp_story()
    for ts, packets in ((1000, 1), (1100, 2), (1200, 9)):
        slot = ext(kbl.KBL_EXT_ADDR, ETH0[0], **ETH0[1])
        story.event(ts, KblEvent.QUEUE_LENGTH, 0, packets | packets * 100 << 32, extra=[slot])
    backlog = ext(kbl.KBL_EXT_ADDR, kbl.KblExtType.ADDR)
    story.event(1300, KblEvent.QUEUE_LENGTH, 0, 3, cpu=1, extra=[backlog])
    story.event(1400, KblEvent.SOCK_ENQUEUE, 0x5000, 0x7000)
    story.event(1400, KblEvent.SOCK_LENGTH, 0, 4 | 3000 << 32)
    for session in opened(story, tmp_path):
        found = [
            (row["queue"], row["count"], row["mean"], row["p50"], row["most"], row["most_bytes"])
            for row in rows(session, "queues")
        ]
        assert found == [
            ("5:0 on if2", 3, 4, 2, 9, 900),
            ("socket 0x7000", 1, 4, 4, 4, 3000),
            ("the backlog of CPU 1", 1, 3, 3, 3, 0),
        ]


@pytest.mark.parametrize("name", ["threads", "locks", "faults", "queues"])
def test_a_log_without_these_events_says_so(name: str, tmp_path: Path) -> None:
    for session in opened(udp_story(), tmp_path):
        made = table(session, name)
        assert not made.rows
        assert "kblrecord -e all" in made.warnings[0]


def test_the_timeline_shows_what_cpus_and_queues_did(tmp_path: Path) -> None:
    story = scheduled()
    wait(story, 1150, 1350, A, KblLock.MUTEX, "__mutex_lock", "rtnl_lock")
    slot = ext(kbl.KBL_EXT_ADDR, ETH0[0], **ETH0[1])
    for ts, packets in ((1000, 2), (1500, 0), (1700, 1), (2000, 0)):
        story.event(ts, KblEvent.QUEUE_LENGTH, 0, packets, extra=[slot])
    for ts, code in ((1200, 2), (1250, 7)):  # x86: a write of a missing page, of a protected one
        story.event(ts, KblEvent.PAGE_FAULT, 0, 0x7000 | code, pid=A)
    for session in opened(story, tmp_path):
        timeline = session.timeline.lanes("cpu")
        shown = {}
        for lane in (one for one in timeline.lanes if one.what == "events"):
            low, high = timeline.boxes.starts[[lane.first, lane.first + lane.rows]].tolist()
            boxes = slice(low, high)
            names = [timeline.names[name] for name in timeline.boxes.name[boxes].tolist()]
            shown[lane.title] = list(zip(names, timeline.boxes.dur[boxes].tolist(), strict=True))
        assert shown == {
            "CPU 0: threads": [("reader (21)", 300), ("burner (22)", 1000), ("reader (21)", 100)],
            "CPU 0: waits for locks": [("lock in rtnl_lock", 200)],
            "CPU 0: page faults": [
                (fault_text(2), 1),
                (fault_text(7), 1),
            ],
            "queue: 5:0 on if2": [("2 in the queue", 500), ("1 in the queue", 300)],
        }
        assert not [one for one in session.timeline.lanes("process").lanes if one.what == "events"]
