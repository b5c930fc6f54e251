# SPDX-License-Identifier: MIT
"""The kernel path of a packet or of an skb lifetime: its legs, and the legs of related lifetimes.

If the legs are from logs of several hosts, they are in the order of session time.  The times in a
leg are times on the clock of its log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...analysis import VERDICTS, Names, as_captured, legs, series_reason
from ...matching import Timebase
from ...records import Leg, PacketPath, PacketRow, SourceRow
from ...records.view_rows import RELATIONS
from ...store import Database, queries
from ...store.query_rows import StoredLeg
from . import clocks
from .log_names import by_session_time, log_names, session_times

MOST_BRANCHES = 64  # legs of clones and segments in one path

NamesOf = Callable[[int], Names]  # takes a source id


def of_packet(
    db: Database, packet: PacketRow, names: NamesOf, sources: Sequence[SourceRow]
) -> PacketPath:
    """Return the path of `packet`; the path has no legs if no lifetime matches the packet.

    `names` is a function that returns the names of a log; `sources` are the inputs of the session.
    """
    maker = _Maker(db, names, sources)
    rows = by_session_time(queries.legs_of_packet(db, packet.number), maker.clock)
    captured_by = sources[packet.source - 1].kind
    wires = {
        row.source: None if captured_by.is_of_log else clocks.wire_time(db, packet, row.source)
        for row in rows
    }
    moments = {row.leg: row for row in queries.moments(db, packet.number)}
    own = []
    for leg, row in zip(maker.legs(rows), rows, strict=True):
        wire, moment = wires[leg.source] or (None, None), moments.get(row.id)
        seen = as_captured(moment, names(leg.source)) if moment else None
        own.append(leg._replace(wire_ns=wire[0], wire_error_ns=wire[1], captured=seen))
    return _since_first(packet, tuple(own), maker.branches(rows))


def of_series(
    db: Database, series: int, names: NamesOf, sources: Sequence[SourceRow]
) -> PacketPath:
    """Return the path of the skb lifetime with id `series`.

    `names` is a function that returns the names of a log; `sources` are the inputs of the session.
    Raises KeyError if the lifetime has no legs, or does not exist.
    """
    rows, maker = queries.legs_of_series(db, series), _Maker(db, names, sources)
    if not rows:
        raise KeyError(f"no series {series}")
    return _since_first(None, maker.of_lives(rows), maker.branches(rows))


def _since_first(
    packet: PacketRow | None, legs: tuple[Leg, ...], branches: tuple[Leg, ...]
) -> PacketPath:
    """Return the path; set `origin_ns` of all legs whose clock is connected to the first leg's.

    `origin_ns` is the start of the first leg, as a time on the clock of each leg's log.
    """
    if not legs:
        return PacketPath(packet, legs, branches)
    first = legs[0]
    if len({pair for leg in legs for pair in leg.addresses}) < 2:  # neither NAT nor a tunnel
        legs = tuple(leg._replace(addresses=()) for leg in legs)
    branches = tuple(leg._replace(addresses=()) for leg in branches)

    def placed(leg: Leg) -> Leg:
        if leg.source == first.source:
            return leg._replace(origin_ns=first.begin_ns)
        if leg.session_error_ns is None or first.session_error_ns is None:
            return leg
        return leg._replace(origin_ns=first.session_ns - leg.session_offset_ns)

    return PacketPath(packet, tuple(map(placed, legs)), tuple(map(placed, branches)))


def rows_of_packet(db: Database, number: int) -> list[StoredLeg]:
    """Return the rows of the legs that match packet `number`, in the order of its path."""
    return by_session_time(queries.legs_of_packet(db, number), clocks.timebase_of(db))


def _of_life(leg: Leg, verdict: int, rung: int, kernel_only: int, packet: int) -> Leg:
    why = series_reason(verdict, rung)
    row = str(packet) if packet > 0 else f"K{kernel_only}" if kernel_only > 0 else ""
    word = (*VERDICTS[:2], "kernel-only")[verdict]
    return leg._replace(match=word, reason=why, packet=packet if packet > 0 else None, row=row)


class _Maker:
    """Makes legs from rows of table `leg`, with their calls and events."""

    def __init__(self, db: Database, names: NamesOf, sources: Sequence[SourceRow]) -> None:
        self._db, self._names, self._sources = db, names, sources
        self.clock: Timebase = clocks.timebase_of(db)
        self._called = log_names(sources)

    def legs(self, rows: Sequence[StoredLeg]) -> tuple[Leg, ...]:
        """Return the legs of `rows`, with calls, events, log name and session time."""
        names = {source: self._names(source) for source in {row.source for row in rows}}
        timed = zip(legs(self._db, rows, names), session_times(rows, self.clock), strict=True)
        return tuple(self._placed(leg, at) for leg, at in timed)

    def branches(self, rows: Sequence[StoredLeg]) -> tuple[Leg, ...]:
        """Return the first leg of each lifetime that is related to a lifetime of the legs `rows`.

        Each source is queried on its own, because sources have no common clock.
        """
        own: dict[int, set[int]] = {}
        for row in rows:
            own.setdefault(row.source, set()).add(row.series)
        found: list[StoredLeg] = []
        for series in own.values():
            found += queries.related_legs(self._db, sorted(series), MOST_BRANCHES)
        found = by_session_time(found, self.clock)
        found.sort(key=lambda row: RELATIONS.index(row.relation))
        return self.of_lives(found[:MOST_BRANCHES])

    def of_lives(self, rows: Sequence[StoredLeg]) -> tuple[Leg, ...]:
        """Return the legs of `rows`, each with the verdict of its skb lifetime."""
        verdicts = queries.verdicts_of_series(self._db, sorted({row.series for row in rows}))
        return tuple(_of_life(leg, *verdicts[leg.series]) for leg in self.legs(rows))

    def _placed(self, leg: Leg, session_ns: int) -> Leg:
        error = self.clock.error(leg.source)
        detail = self._sources[leg.source - 1].detail
        return leg._replace(
            log=self._called.get(leg.source, ""),
            session_offset_ns=session_ns - leg.begin_ns,
            session_error_ns=None if error < 0 else error,
            epoch_offset_ns=int(detail.get("epoch_offset_ns", 0)),
        )
