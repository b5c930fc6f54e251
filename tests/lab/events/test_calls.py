# SPDX-License-Identifier: MIT
"""The system calls of a known program; interrupts and softirqs."""

from __future__ import annotations

import struct
from collections import defaultdict

import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.events.conftest import Events
from tests.lab.events.guest_events import Case, ext, stat
from tests.lab.events.histograms import signed
from tests.lab.kbl_check import Record

Event, Ext = layout.KblEvent, layout.KblExtType
AF_INET = 2
LOOPBACK = bytes([127, 0, 0, 1])
PORTS = {"bind": [4000], "connect": [4000, 4001]}


@pytest.fixture(scope="module")
def case(events: Events) -> Case:
    return events.case("syscalls")


def calls(case: Case) -> dict[int, list[tuple[Record, Record | None]]]:
    """Return the begins with their ends, by thread."""
    by_thread: dict[int, list[tuple[Record, Record | None]]] = defaultdict(list)
    both = case.events(Event.SYSCALL_ENTRY, Event.SYSCALL_EXIT)
    for record in sorted(both, key=lambda r: int(r.head["ts"])):
        thread = by_thread[int(record.head["pid"])]
        assert record.head["context"] == layout.KblContext.TASK
        if record.head["event"] == Event.SYSCALL_ENTRY:
            assert not thread or thread[-1][1] is not None, "a call inside a call"
            thread.append((record, None))
        else:
            assert thread and thread[-1][1] is None, "an end without its begin"
            thread[-1] = (thread[-1][0], record)
    return by_thread


def expected(case: Case) -> tuple[int, list[tuple[str, int, int, int]]]:
    """Return what the program wrote: its thread; name, number, descriptor, result."""
    first, *rest = (line.split() for line in (case.folder / "calls").read_text().splitlines())
    return int(first[1]), [(r[0], int(r[1]), int(r[2]), int(r[3])) for r in rest]


def test_calls_are_those_made(case: Case) -> None:
    thread, made = expected(case)
    recorded = []
    for begin, end in calls(case)[thread]:
        slot = ext(begin, Ext.SYSCALL)
        assert slot is not None and end is not None
        recorded.append((int(begin.head["data"]), int(slot["fd"]), signed(int(end.head["data"]))))
    assert recorded == [call[1:] for call in made]
    assert stat(case, "lost") == stat(case, "nested") == 0


def test_sockets_are_recorded(case: Case) -> None:
    thread, made = expected(case)
    socks: dict[int, set[int]] = defaultdict(set)
    for (begin, _), call in zip(calls(case)[thread], made, strict=True):
        slot = begin.slots[0]
        if call[0] in ("epoll_wait", "listen", "socket"):
            assert slot["sk"] == 0
            continue
        assert slot["family"] == AF_INET
        assert slot["sk"] >> 63 == 1, "no kernel address"
        socks[int(slot["fd"])].add(int(slot["sk"]))
    a, b = list(socks)[:2]
    assert len(socks[b]) == 1
    assert socks[a] & socks[b] == set()


def test_where_to_is_recorded(case: Case) -> None:
    thread, made = expected(case)
    ports = defaultdict(list)
    for (begin, _), call in zip(calls(case)[thread], made, strict=True):
        if call[0] in PORTS:
            family, port, host = struct.unpack_from("=H2s4s", bytes(begin.slots[0]["args"]))
            assert (family, host) == (AF_INET, LOOPBACK)
            ports[call[0]].append(int.from_bytes(port, "big"))
    assert ports == PORTS


def test_a_call_begun_before_has_no_end(case: Case) -> None:
    """A server waited in recvfrom when the recording began: it answers, then closes."""
    thread, _ = expected(case)
    others = [pairs for tid, pairs in calls(case).items() if tid != thread]
    assert len(others) >= 2
    assert all(end is not None for pairs in others for _, end in pairs)
    sendto, close = 44, 3
    assert [sendto, close] in [[int(b.head["data"]) for b, _ in pairs] for pairs in others]


@pytest.mark.parametrize(
    ("begin", "end", "context"),
    [
        (Event.IRQ_ENTRY, Event.IRQ_EXIT, layout.KblContext.HARDIRQ),
        (Event.SOFTIRQ_ENTRY, Event.SOFTIRQ_EXIT, layout.KblContext.SOFTIRQ),
    ],
)
def test_interrupts_nest(
    events: Events, begin: layout.KblEvent, end: layout.KblEvent, context: int
) -> None:
    open_on: dict[int, list[int]] = defaultdict(list)
    seen = 0
    for record in events.case("interrupts").events(begin, end):
        number = int(record.head["data"]) & 0xFFFFFFFF
        assert record.head["context"] == context
        if record.head["event"] == begin:
            open_on[record.cpu].append(number)
            continue
        assert open_on[record.cpu].pop() == number
        seen += 1
    assert seen > 20
    assert sum(map(len, open_on.values())) <= len(open_on)


def test_interrupts_are_named_once(events: Events) -> None:
    names: dict[tuple[int, int], list[bytes]] = defaultdict(list)
    for record in events.case("interrupts").events(Event.IRQ_ENTRY):
        names[record.cpu, int(record.head["data"])] += [bytes(s["comm"]) for s in record.slots]
    assert all(len(texts) == 1 for texts in names.values())
    assert any(texts[0].startswith(b"virtio0-req.") for texts in names.values())
