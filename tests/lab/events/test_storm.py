# SPDX-License-Identifier: MIT
"""All events at once, switched on and off under traffic; buffers too small."""

from __future__ import annotations

from collections import Counter

import pytest

from skbviewer.readers import _kbl_layout as layout
from tests.lab.events.conftest import Events
from tests.lab.events.guest_events import stat

Kind = layout.KblKind


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
