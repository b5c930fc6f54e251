# SPDX-License-Identifier: MIT
"""The field kbl.lost: whether a drop lost the packet, or freed only a copy or leftovers.

The packet list colours a drop by the same rule (row_summary.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.kbl_layout import KblEvent
from ...records.types import Bools
from ..row_summary import FREED_WITH_ITS_WHOLE, PURGED
from .field_data import DROP, LEG, PACKET, Data, View
from .field_kind import Field, Kind, Values

OFFSET = 32  # the upper half of a drop's data is its place


class _Legs(NamedTuple):
    """Flags by leg: a drop happened; it lost the packet; a closed socket freed it; it was read."""

    dropped: Bools
    lost: Bools
    purged: Bools
    read: Bools


def _lost(view: View) -> list[Values]:
    whole = View(view.data, view.table)
    lost, known = view.data.cached(f"lost {view.table}", lambda: _of_rows(whole))
    if view.rows is None:
        return [Values(lost, known)]
    return [Values(lost[view.rows], known[view.rows])]


def _of_rows(view: View) -> tuple[Bools, Bools]:
    """Return for each row whether it was lost, and whether a drop happened."""
    data = view.data
    legs: _Legs = data.cached("lost legs", lambda: _of_legs(data))
    dropped, lost, purged, read = (data.rows_with(view, flags) for flags in legs)
    if view.table == PACKET:
        purged &= view.column("payload") > 0
    else:
        purged[:] = False
    return (lost | purged) & ~read, dropped


def _of_legs(data: Data) -> _Legs:
    columns = data.columns
    dropped = np.asarray(columns.array(LEG, "drop_reason") >= 0)
    place = _places(data)
    purged = np.array([one.startswith(PURGED) for one in place], np.bool_)
    freed = np.array([one.startswith(FREED_WITH_ITS_WHOLE) for one in place], np.bool_)
    queued = columns.array("event", "event") == int(KblEvent.SOCK_ENQUEUE)
    in_socket = np.zeros(len(dropped) + 2, np.bool_)  # the last one is that of -1, no leg
    in_socket[columns.array("event", "leg")[queued]] = True
    lost = dropped & ~in_socket[1:-1] & ~purged & ~freed
    read = np.asarray(columns.array(LEG, "reader_ns") >= 0)
    return _Legs(dropped, lost, dropped & purged, read)


def _places(data: Data) -> list[str]:
    """Return for each leg where its first drop happened: "icmp_rcv+0x1f4"; "" if nowhere."""
    drops, legs = data.table(DROP), data.columns.length(LEG)
    found = [""] * legs
    leg = drops.column("leg").astype(np.int64) - 1
    offset = drops.column("data").astype(np.int64) >> OFFSET
    source = data.columns.array(LEG, "source")
    known: dict[tuple[int, int], str] = {}
    for at in np.flatnonzero(leg >= 0)[::-1].tolist():  # the first one is assigned last
        key = int(source[leg[at]]), int(offset[at])
        if key not in known:
            known[key] = data.names(key[0]).symbol_at_offset(key[1])
        found[leg[at]] = known[key]
    return found


LOST_FIELDS = (
    Field(
        "kbl.lost",
        Kind.BOOLEAN,
        "Whether the drop lost the packet; if not, it freed a copy or leftovers of it",
        _lost,
        bits=1,
    ),
)
