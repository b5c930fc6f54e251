# SPDX-License-Identifier: MIT
"""The kernel path of a packet or of a series: its legs, and those of what it was cloned from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..analysis import Names, legs
from ..records import Leg, PacketPath, PacketRow, SourceRow
from ..store import queries
from . import clocks

MOST_BRANCHES = 64  # legs of clones and segments that are told of a packet

NamesOf = Callable[[int], Names]  # of a source


def of_packet(
    db: Any, packet: PacketRow, names: NamesOf, sources: Sequence[SourceRow]
) -> PacketPath:
    """The path of a packet; without legs if nothing matches it."""
    rows = queries.legs_of_packet(db, packet.number)
    wire, error = (rows and clocks.wire_time(db, packet, rows[0].source)) or (None, None)
    epoch = _epoch(sources, rows[0].source) if rows else 0
    own, branches = _legs(db, rows, names), _branches(db, rows, names)
    return PacketPath(packet, own, wire, error, epoch, branches)


def of_series(db: Any, series: int, names: NamesOf, sources: Sequence[SourceRow]) -> PacketPath:
    """The path of a series.  Raises KeyError if it has none."""
    rows = queries.legs_of_series(db, series)
    if not rows:
        raise KeyError(f"no series {series}")
    epoch = _epoch(sources, rows[0].source)
    return PacketPath(None, _legs(db, rows, names), None, None, epoch, _branches(db, rows, names))


def _legs(db: Any, rows: Sequence[Any], names: NamesOf) -> tuple[Leg, ...]:
    return legs(db, rows, {source: names(source) for source in {row.source for row in rows}})


def _branches(db: Any, rows: Sequence[Any], names: NamesOf) -> tuple[Leg, ...]:
    own = sorted({row.series for row in rows})
    return _legs(db, queries.related_legs(db, own, MOST_BRANCHES), names) if own else ()


def _epoch(sources: Sequence[SourceRow], source: int) -> int:
    return int(sources[source - 1].detail.get("epoch_offset_ns", 0))
