# SPDX-License-Identifier: MIT
"""The scheduler, locks and page faults of a known program; lengths of queues."""

from __future__ import annotations

from collections import defaultdict

import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.events.conftest import Events
from tests.lab.events.guest_events import Case, ext, stat
from tests.lab.kbl_check import Record

Event, Ext = layout.KblEvent, layout.KblExtType
LOCK_BITS, PAGE_BITS = 56, 0xFFF
NAPS, NAP_NS = 10, 5_000_000
NETEM = 0x50000


@pytest.fixture(scope="module")
def case(events: Events) -> Case:
    return events.case("machine")


@pytest.fixture(scope="module")
def lengths(events: Events) -> Case:
    return events.case("lengths")


def noted(case: Case) -> dict[str, list[tuple[int, ...]]]:
    """What the program wrote down, by the first word of the line."""
    lines: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for line in (case.folder / "machine").read_text().splitlines():
        word, *numbers = line.split()
        lines[word].append(tuple(map(int, numbers)))
    return lines


def in_time(case: Case, *kinds: layout.KblEvent) -> list[Record]:
    """The events of these kinds, in order of time."""
    return sorted(case.events(*kinds), key=lambda record: int(record.head["ts"]))


def low(record: Record) -> int:
    return int(record.head["data"]) & 0xFFFFFFFF


def high(record: Record) -> int:
    return int(record.head["data"]) >> 32


def test_nothing_is_lost(case: Case, lengths: Case) -> None:
    for one in (case, lengths):
        assert {name: stat(one, name) for name in ("lost", "nested", "missed")} == {
            "lost": 0, "nested": 0, "missed": 0}  # fmt: skip
        assert stat(one, "written") == len(one.records)


def test_each_thread_that_comes_is_the_one_that_leaves_next(case: Case) -> None:
    comes: dict[int, int] = {}
    for record in in_time(case, Event.SCHED_SWITCH):
        assert int(record.head["pid"]) == comes.get(record.cpu, int(record.head["pid"]))
        assert record.head["skb"] == 0
        comes[record.cpu] = low(record)
    assert len(comes) == 2


def steps_of(case: Case, tid: int) -> list[tuple[str, int]]:
    """When the thread went to sleep, was woken, and came to a CPU."""
    steps = []
    for record in in_time(case, Event.SCHED_SWITCH, Event.WAKE):
        if record.head["event"] == Event.WAKE:
            steps += [("woken", int(record.head["ts"]))] * (low(record) == tid)
        elif low(record) == tid:
            steps.append(("comes", int(record.head["ts"])))
        elif record.head["pid"] == tid and high(record):
            steps.append(("sleeps", int(record.head["ts"])))
    return steps


def test_a_sleeper_is_woken_and_comes_each_time(case: Case) -> None:
    """The kernel's counter says how often: a paused guest's timer may expire before the sleep."""
    ((tid,),), naps = noted(case)["sleeper"], noted(case)["nap"]
    assert len(naps) == NAPS
    assert sum(switches for _, _, switches in naps) >= NAPS / 2
    steps = steps_of(case, tid)
    for begin, end, switches in naps:
        inside = [(what, when) for what, when in steps if begin <= when <= end]
        asleep = [at for at, (what, _) in enumerate(inside) if what == "sleeps"]
        assert len(asleep) == switches
        for at in asleep:
            assert [what for what, _ in inside[at : at + 3]] == ["sleeps", "woken", "comes"]
        if asleep:
            assert inside[asleep[-1] + 1][1] - begin >= NAP_NS


def test_a_burner_is_not_asleep_when_it_loses_its_cpu(case: Case) -> None:
    """The sleeper wakes up on the burner's CPU."""
    ((burner,),) = noted(case)["burner"]
    states = [high(r) for r in case.events(Event.SCHED_SWITCH) if r.head["pid"] == burner]
    assert 0 in states


def test_page_faults_are_those_made(case: Case) -> None:
    made = noted(case)["fault"]
    pages = {address for address, _ in made}
    found = [
        (data & ~PAGE_BITS, data & PAGE_BITS)
        for data in (int(r.head["data"]) for r in in_time(case, Event.PAGE_FAULT))
        if data & ~PAGE_BITS in pages
    ]
    # Later on, the pages may be mapped again.
    assert found[: len(made)] == made


def test_threads_wait_for_the_lock_of_their_address_space(events: Events, case: Case) -> None:
    mappers = {tid for (tid,) in noted(case)["mapper"]}
    waits: dict[int, list[Record]] = defaultdict(list)
    for record in in_time(case, Event.LOCK_WAIT, Event.LOCK_GOT):
        if int(record.head["pid"]) in mappers:
            waits[int(record.head["pid"])].append(record)
    assert waits, "no thread had to wait"
    locks = set()
    for records in waits.values():
        begins = [r for r in records if r.head["event"] == Event.LOCK_WAIT]
        ends = [r for r in records if r.head["event"] == Event.LOCK_GOT]
        assert len(begins) >= len(ends) >= 1
        assert all(int(r.head["data"]) >> LOCK_BITS == 0 for r in ends), "none gave up"
        locks |= {int(r.head["data"]) & (1 << LOCK_BITS) - 1 for r in ends}
        for record in begins:
            slot = ext(record, Ext.STACK)
            assert slot is not None
            names = [events.symbols.name(int(o)) for o in slot["stack"] if o]
            if "do_exit" in names:
                continue  # its end waits for the list of all tasks
            assert names[0].startswith(("rwsem_down_", "__mutex_", "mutex_", "down_")), names
            assert "do_syscall_64" in names or len(names) == 6, names
    assert locks


def test_lengths_follow_the_packets(lengths: Case) -> None:
    """netem held the packets: its length is that of the packets it took and did not yet give."""
    held, checked = 0, 0
    kinds = (Event.QDISC_ENQUEUE, Event.QDISC_DEQUEUE, Event.QUEUE_LENGTH)
    for record in in_time(lengths, *kinds):
        slot = ext(record, Ext.ADDR)
        if record.head["event"] == Event.QDISC_ENQUEUE and low(record) == NETEM:
            held += 1
        elif record.head["event"] == Event.QDISC_DEQUEUE and low(record) == NETEM:
            held -= 1
        elif slot is not None and int(slot["flags"]) == NETEM:
            assert low(record) == held
            assert (high(record) > 0) == (held > 0)
            checked += 1
    assert checked >= 10


def test_the_backlog_has_no_device(lengths: Case) -> None:
    slots = [ext(record, Ext.ADDR) for record in lengths.events(Event.QUEUE_LENGTH)]
    assert any(slot is not None and slot["ifindex"] == 0 == slot["flags"] for slot in slots)


def test_a_sockets_length_is_beside_the_packet_it_took(lengths: Case) -> None:
    added = {(r.cpu, int(r.head["ts"])) for r in lengths.events(Event.SOCK_ENQUEUE)}
    found = list(lengths.events(Event.SOCK_LENGTH))
    assert {(r.cpu, int(r.head["ts"])) for r in found} == added


def test_an_unread_sockets_length_is_what_the_socket_says(lengths: Case) -> None:
    """Of a socket that is read, the reader may have taken the packet already: it has no rule."""
    lines = (lengths.folder / "unread").read_text().splitlines()
    said = [tuple(map(int, line.split())) for line in lines]
    assert [packets for packets, _ in said] == [1, 2, 3, 4, 5]
    socket = {(r.cpu, int(r.head["ts"])): r for r in lengths.events(Event.SOCK_ENQUEUE)}
    found = defaultdict(list)
    for record in in_time(lengths, Event.SOCK_LENGTH):
        added = socket[record.cpu, int(record.head["ts"])]
        found[int(added.head["data"])].append((low(record), high(record)))
    # An earlier socket, closed since, may have been at the same address.
    assert any(pairs[-5:] == said for pairs in found.values())


def test_off_unless_asked_for(events: Events) -> None:
    """The other cases switch on all but these, or few groups."""
    new = (Event.SCHED_SWITCH, Event.WAKE, Event.LOCK_WAIT, Event.PAGE_FAULT, Event.QUEUE_LENGTH)
    assert not list(events.case("tables").events(*new))
