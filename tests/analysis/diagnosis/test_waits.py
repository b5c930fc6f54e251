# SPDX-License-Identifier: MIT
"""Rules about waiting: each story has exactly one cause, and a near miss has the symptom only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skbviewer.records.kbl_layout import KblEvent
from tests.matching.story import HOST, OTHER, SOFTIRQ, TASK, Story, tcp4, udp4

from .stories import (
    MINE,
    READER,
    SOCK,
    US,
    causes,
    delivered,
    diagnosed,
    freed,
    many,
    not_judged,
    only,
    read,
    received,
    skb,
)


def late_softirq() -> Story:
    """Packet 1 waits 500 us for the softirq; packets 2 and 3 are in the queue before it."""
    story = Story()
    many(story)
    ends = [received(story, n, at, 1500 - at + 40 * n) for n, at in ((2, 1490), (3, 1495))]
    end = received(story, 1, 2000 - 500, 500)
    for number, at in ((2, ends[0]), (3, ends[1]), (1, end)):
        freed(story, number, at + 1)
    story.call("tcp_sendmsg", 1650 * US, 1900 * US, skb(9), pid=55, ipv4=udp4(9), skbinfo=OTHER)
    return story


def test_a_wait_for_the_softirq_names_who_had_the_cpu(tmp_path: Path) -> None:
    made = diagnosed(late_softirq(), tmp_path)
    assert causes(made) == {"softirq-wait"}
    found = only(made, "softirq-wait")
    assert "waited 500.0 µs" in found.text
    assert "thread 55 for 250.0 µs (tcp_sendmsg)" in found.text
    assert "2 packets were in the queue before this packet" in found.text
    assert {fact.kind for fact in found.evidence} == {"leg", "packet", "call"}


def test_a_wait_for_ksoftirqd_is_another_cause(tmp_path: Path) -> None:
    """The symptom is the same: a packet waits in the backlog."""
    story = Story()
    story.thread(1, 44, "ksoftirqd/0")
    many(story)
    freed(story, 1, received(story, 1, 1500, 500, pid=44) + 1)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"ksoftirqd"}
    assert "thread ksoftirqd" in only(made, "ksoftirqd").text


def test_slow_work_in_the_softirq_is_no_wait(tmp_path: Path) -> None:
    story = Story()
    many(story)
    freed(story, 1, received(story, 1, 1500, 1, core=520) + 1)
    made = diagnosed(story, tmp_path)
    assert causes(made) == set()
    slow = only(made, "slow-packets")
    assert slow.cost_ns == 500 * US
    assert sum(fact.ns or 0 for fact in slow.evidence if fact.kind == "part") == 500 * US
    assert only(made, "unexplained").cost_ns == 500 * US


def queued(
    story: Story, number: int, at: int, wait: int, busy: int = 2, enters: bool = True
) -> None:
    """Send a packet through a queueing discipline in which it waits.

    A segment that is cut in the discipline leaves it, but does not enter it.
    """
    mine = skb(number)
    story.alloc(at * US - 20, mine, pid=READER)
    end = at + busy + wait
    where: dict[str, Any] = {"ipv4": udp4(number), "skbinfo": HOST}
    story.call("__dev_queue_xmit", at * US, (at + busy) * US, mine, pid=READER, **where)
    if enters:
        story.event((at + 1) * US, KblEvent.QDISC_ENQUEUE, mine, 1 << 16 | 2 << 32, pid=READER)
    story.event(end * US, KblEvent.QDISC_DEQUEUE, mine, 1 << 16 | 2 << 32, context=SOFTIRQ)
    sends = "dev_hard_start_xmit" if enters else "sch_direct_xmit"
    story.call(sends, end * US, (end + 3) * US, mine, context=SOFTIRQ, pid=0)
    story.free((end + 4) * US, mine, context=SOFTIRQ, pid=0)


@pytest.mark.parametrize("enters", [True, False])
def test_a_queueing_discipline_that_delays(enters: bool, tmp_path: Path) -> None:
    story = Story()
    for n in range(10):
        queued(story, n + 10, 100 * n + 50, 1)
    queued(story, 2, 1990, 505, enters=enters)
    queued(story, 1, 2000, 500, enters=enters)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"queueing-discipline"}
    found = only(made, "queueing-discipline")
    assert found.number == 2
    assert "in the queue 1: of if2" in found.text


def test_a_driver_that_is_slow_is_no_queueing_discipline(tmp_path: Path) -> None:
    story = Story()
    for n in range(10):
        queued(story, n + 10, 100 * n + 50, 1)
    queued(story, 1, 2000, 1, busy=500)
    made = diagnosed(story, tmp_path)
    assert "queueing-discipline" not in causes(made) | not_judged(made)


def test_without_its_events_a_queueing_discipline_cannot_be_judged(tmp_path: Path) -> None:
    made = diagnosed(late_softirq(), tmp_path)
    assert "queueing-discipline" in not_judged(made)
    (one,) = [one for one in made.judged if one.rule == "queueing-discipline"]
    assert one.missing == ("events of the group qdisc",)
    assert "does not say which event groups were on" in one.how_to_record


def test_a_log_whose_groups_are_known_needs_only_the_missing_one(tmp_path: Path) -> None:
    story = late_softirq()
    story.kbl.meta["events"] = "net,drop"
    made = diagnosed(story, tmp_path)
    (one,) = [one for one in made.judged if one.rule == "queueing-discipline"]
    assert (one.judged, one.how_to_record) == (False, "kblrecord -e all")


def test_a_reader_that_is_late(tmp_path: Path) -> None:
    story = Story()
    read(story, 1, delivered(story, 1, 100) + 3000)
    story.call("tcp_sendmsg", 1000 * US, 2000 * US, skb(9), pid=55, ipv4=udp4(9), skbinfo=OTHER)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"late-reader"}
    found = only(made, "late-reader")
    assert f"until thread {READER} read it" in found.text
    assert "thread 55 for 1.0 ms (tcp_sendmsg)" in found.text


def test_each_program_that_is_late_has_a_finding(tmp_path: Path) -> None:
    """Two threads of one program have one; the program that is later comes first."""
    story = Story()
    for number, pid, name, late in (
        (1, 7, "little", 4000),
        (2, 8, "much", 9000),
        (3, 9, "little", 4000),
    ):
        story.thread(number, pid, name)
        end = delivered(story, number, 100 * number)
        begin = (end + late) * US
        story.call("skb_consume_udp", begin, begin + 500, skb(number), pid=pid)
        story.free(begin + 600, skb(number), pid=pid)
    made = diagnosed(story, tmp_path)
    found = [one for one in made.findings if one.rule == "late-reader"]
    assert [(one.number, one.rows.tolist()) for one in found] == [(1, [-2]), (2, [-3, -1])]
    assert "until much (8) read it" in found[0].text
    assert "until little (" in found[1].text


def test_a_reader_that_reads_at_once_is_not_late(tmp_path: Path) -> None:
    """The packet is as old when it is read, but it waited for the softirq."""
    story = Story()
    many(story)
    read(story, 1, delivered(story, 1, 1500, 3000) + 100)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"softirq-wait"}


def sent(story: Story, number: int, at: int, end: int) -> None:
    """Send a packet: the thread works for it from `at` to `end`."""
    mine = skb(number)
    story.alloc(at * US - 20, mine, pid=READER)
    story.call("udp_send_skb", at * US, end * US, mine, pid=READER, ipv4=udp4(number), skbinfo=MINE)
    story.call("dev_hard_start_xmit", (end - 3) * US, (end - 1) * US, mine, pid=READER)
    story.free((end + 1) * US, mine, pid=READER)


def test_interrupts_in_the_middle(tmp_path: Path) -> None:
    story = Story()
    sent(story, 1, 100, 200)
    story.call(
        "ip_rcv", 120 * US, 180 * US, skb(2), context=SOFTIRQ, pid=READER,
        ipv4=udp4(2), skbinfo=OTHER,
    )  # fmt: skip
    made = diagnosed(story, tmp_path, packet=None)
    assert causes(made) == {"interrupts"}
    assert "the softirq for 60.0 µs (ip_rcv)" in only(made, "interrupts").text


def test_work_for_another_packet_is_no_interrupt(tmp_path: Path) -> None:
    story = Story()
    sent(story, 1, 100, 200)
    story.call(
        "ip_rcv", 120 * US, 180 * US, skb(2), context=TASK, pid=READER, ipv4=udp4(2), skbinfo=OTHER
    )
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"other-packets"}


def test_another_thread_on_the_cpu(tmp_path: Path) -> None:
    story = Story()
    sent(story, 1, 100, 200)
    story.call("ip_rcv", 120 * US, 180 * US, skb(2), pid=55, ipv4=udp4(2), skbinfo=OTHER)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"switched-out"}
    assert "thread 55" in only(made, "switched-out").text


def test_a_socket_that_a_thread_has_locked(tmp_path: Path) -> None:
    story = Story()
    end = received(story, 1, 100)
    story.sock_call("tcp_sendmsg", 90 * US, 400 * US, SOCK, pid=READER)
    story.call("tcp_v4_do_rcv", (end + 200) * US, (end + 220) * US, skb(1), pid=READER)
    story.free((end + 221) * US, skb(1), pid=READER)
    made = diagnosed(story, tmp_path)
    assert "socket-lock" in causes(made)
    assert only(made, "socket-lock").cost_ns == 200 * US


def contended(story: Story, begin: int, end: int, spins: bool = True, **where: Any) -> None:
    """A wait for a lock, us."""
    lock = 0x5000 | (int(spins) << 56)
    story.event(begin * US, KblEvent.LOCK_WAIT, 0, lock, **where)
    story.event(end * US, KblEvent.LOCK_GOT, 0, 0x5000, **where)


def test_a_packet_that_waits_for_a_lock(tmp_path: Path) -> None:
    story = Story()
    many(story)
    freed(story, 1, received(story, 1, 1500, core=400) + 1)
    contended(story, 1510, 1800, context=SOFTIRQ, pid=0)
    contended(story, 1505, 1600, cpu=1, pid=55)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"lock-contention"}
    found = only(made, "lock-contention")
    assert found.cost_ns == 290 * US
    assert "for the lock 0xff00000000005000, 290.0 µs" in found.text
    assert "Meanwhile thread 55 got the lock" in found.text
    assert {fact.kind for fact in found.evidence} == {"event", "packet"}


def test_a_wait_for_a_lock_outside_a_packets_calls_is_no_cause(tmp_path: Path) -> None:
    story = Story()
    many(story)
    freed(story, 1, received(story, 1, 1500, core=400) + 1)
    contended(story, 1510, 1800, cpu=1, pid=55)
    made = diagnosed(story, tmp_path)
    assert "lock-contention" not in causes(made) | not_judged(made)


def test_without_its_events_lock_contention_cannot_be_judged(tmp_path: Path) -> None:
    story = Story()
    many(story)
    made = diagnosed(story, tmp_path)
    assert "lock-contention" in not_judged(made)


def test_a_log_that_recorded_no_wait_for_a_lock_is_judged(tmp_path: Path) -> None:
    story = Story()
    story.kbl.meta["events"] = "net,lock"
    many(story)
    made = diagnosed(story, tmp_path)
    assert "lock-contention" not in causes(made) | not_judged(made)


def test_a_late_reader_slept_if_the_scheduler_says_so(tmp_path: Path) -> None:
    story = Story()
    story.thread(1, READER, "reader")
    end = delivered(story, 1, 100)
    asleep = 1 << 32
    story.event(50 * US, KblEvent.SCHED_SWITCH, 0, 55 | asleep, pid=READER)
    story.event(4000 * US, KblEvent.WAKE, 0, READER, pid=55)
    story.event(4500 * US, KblEvent.SCHED_SWITCH, 0, READER, pid=55)
    read(story, 1, end + 5000)
    story.event((end + 6000) * US, KblEvent.SCHED_SWITCH, 0, 55 | asleep, pid=READER)
    made = diagnosed(story, tmp_path)
    text = only(made, "late-reader").text
    assert "During this wait, the thread slept for 3.9 ms" in text
    assert "waited for a CPU for 500.0 µs" in text


@pytest.mark.parametrize("sleeps", [True, False])
def test_a_thread_that_sleeps_in_a_function_does_not_have_the_cpu(
    sleeps: bool, tmp_path: Path
) -> None:
    story = Story()
    end, asleep = delivered(story, 1, 100), 1 << 32
    story.event(150 * US, KblEvent.SCHED_SWITCH, 0, 55 | asleep, pid=READER)
    story.call("tcp_sendmsg", 200 * US, 5000 * US, skb(9), pid=55, ipv4=udp4(9), skbinfo=OTHER)
    if sleeps:
        story.event(300 * US, KblEvent.SCHED_SWITCH, 0, 0 | asleep, pid=55)
        story.event(4900 * US, KblEvent.SCHED_SWITCH, 0, 55, pid=0)
    story.event(5010 * US, KblEvent.SCHED_SWITCH, 0, READER | asleep, pid=55)
    read(story, 1, end + 5000)
    story.event((end + 6000) * US, KblEvent.SCHED_SWITCH, 0, 55 | asleep, pid=READER)
    text = only(diagnosed(story, tmp_path), "late-reader").text
    assert ("CPU 0 ran no thread for 4.6 ms" in text) == sleeps
    assert ("CPU 0 ran thread 55 for 4.8 ms (tcp_sendmsg)" in text) == (not sleeps)


def test_a_packet_that_another_cpu_goes_on_with(tmp_path: Path) -> None:
    story = Story()
    many(story)
    freed(story, 1, received(story, 1, 1500, 500, cpu=1) + 1)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"softirq-wait", "cpu-migration"}
    assert "from CPU 0 to CPU 1" in only(made, "cpu-migration").text


def test_a_packet_that_stays_on_its_cpu_does_not_migrate(tmp_path: Path) -> None:
    assert "cpu-migration" not in causes(diagnosed(late_softirq(), tmp_path))


def test_a_wait_inside_a_call_does_not_end_on_another_cpu(tmp_path: Path) -> None:
    """The call goes on after it has worked for others; another CPU has the packet only later."""
    story = Story()
    many(story)
    end = received(story, 1, 1500, core=600)
    story.call(
        "ip_output", 1510 * US, 2090 * US, skb(2), context=SOFTIRQ, pid=0, ipv4=udp4(2),
        skbinfo=OTHER,
    )  # fmt: skip
    later = {"context": SOFTIRQ, "pid": 0, "cpu": 1}
    story.call("ip_local_deliver", (end + 18) * US, (end + 20) * US, skb(1), **later)
    freed(story, 1, end + 21)
    made = diagnosed(story, tmp_path)
    assert "other-packets" in causes(made)
    assert "cpu-migration" not in causes(made)


def transmitted(story: Story, number: int, at: int, begin: int, end: int) -> None:
    """Let TCP queue a segment at `at` and send it from `begin` to `end`."""
    mine = skb(number)
    story.alloc(at * US - 20, mine, pid=READER)
    facts: dict[str, Any] = {"ipv4": tcp4(number), "skbinfo": MINE}
    story.call("tcp_skb_entail", at * US, (at + 1) * US, mine, pid=READER, **facts)
    story.call("__tcp_transmit_skb", begin * US, end * US, mine, context=SOFTIRQ, pid=0)
    story.call("dev_hard_start_xmit", (end - 3) * US, (end - 1) * US, mine, context=SOFTIRQ, pid=0)
    freed(story, number, end + 1)


def test_a_segment_that_tcp_may_not_send_yet(tmp_path: Path) -> None:
    story = Story()
    transmitted(story, 1, 100, 400, 420)
    made = diagnosed(story, tmp_path)
    assert causes(made) == {"send-queue"}
    assert only(made, "send-queue").cost_ns == (400 - 101) * US


def test_a_segment_that_tcp_sends_slowly_was_not_queued(tmp_path: Path) -> None:
    story = Story()
    transmitted(story, 1, 100, 102, 420)
    assert causes(diagnosed(story, tmp_path)) == set()


@pytest.mark.parametrize(("merged", "found"), [(400, {"reassembly"}), (122, set())])
def test_a_fragment_that_waits_for_the_last_one(
    merged: int, found: set[str], tmp_path: Path
) -> None:
    """For the second packet, the work takes long instead."""
    story = Story()
    end = received(story, 1, 100, core=20 if found else 300)
    begin = merged if found else end + 1
    story.call("skb_try_coalesce", begin * US, (begin + 2) * US, skb(1), context=SOFTIRQ, pid=0)
    freed(story, 1, begin + 3)
    assert causes(diagnosed(story, tmp_path)) == found
