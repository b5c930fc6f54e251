# SPDX-License-Identifier: MIT
"""All events at once, switched on and off under traffic; buffers too small."""

from __future__ import annotations

from collections import Counter

import pytest

from skbviewer.records import kbl_layout as layout
from tests.lab.events.conftest import Events
from tests.lab.events.guest_events import Case, ext, stat

Event, Kind = layout.KblEvent, layout.KblKind
CPUS = 2


@pytest.mark.parametrize("number", [1, 2])
def test_enough_room_loses_nothing(storm: Events, number: int) -> None:
    case = storm.case(f"storm{number}")
    assert stat(case, "lost") == 0
    assert len(case.records) == stat(case, "written") > 1000
    kinds = Counter(int(r.head["event"]) for r in case.events(*layout.KblEvent))
    for event in (layout.KblEvent.SOFTIRQ_ENTRY, layout.KblEvent.SYSCALL_EXIT,
                  layout.KblEvent.DROP, layout.KblEvent.LINK, layout.KblEvent.ROUTE,
                  layout.KblEvent.XMIT):  # fmt: skip
        assert kinds[event], event.name


def test_no_room_is_counted(storm: Events) -> None:
    case = storm.case("storm3")
    assert stat(case, "lost") > 1000
    assert len(case.records) == stat(case, "written")


def recorded_twice(case: Case) -> int:
    """Count drops recorded by a probe and again by a tracepoint, which knows the stack."""
    by_probe: set[int] = set()
    twice = 0
    for record in sorted(case.events(Event.DROP, Event.FREE), key=lambda r: int(r.head["ts"])):
        skb = int(record.head["skb"])
        alone = ext(record, layout.KblExtType.DROP) is None
        if record.head["event"] == Event.DROP and alone:
            by_probe.add(skb)
            continue
        twice += record.head["event"] == Event.DROP and skb in by_probe
        by_probe.discard(skb)
    return twice


def test_a_drop_is_recorded_once_from_the_begin(storm: Events) -> None:
    case = storm.case("begun")
    assert stat(case, "lost") == 0
    assert len(list(case.events(Event.DROP))) > CPUS
    # One a CPU may be on its way through the function when its tracepoint comes.
    assert recorded_twice(case) <= CPUS
