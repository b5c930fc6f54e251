# SPDX-License-Identifier: MIT
"""Session time: one clock for all sources.

It is the wall clock, in ns since 1970, of the host of the first KBL (of the first capture where
there is no KBL).  Each source has rows that map its own clock to it, piecewise linear; how they are
made is in session_clock.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import LATEST_NS, Int64s

UNKNOWN = -1  # error of a source that nothing joins to the first KBL
EVERY = -1  # the interface of a source that has one clock


class Piece(NamedTuple):
    """session time = ts + offset_ns + drift_ppm * 1e-6 * (ts - begin_ns).

    It holds from packet number `first` (0 of a KBL) and its clock's `begin_ns` on, up to the next
    piece of the same interface; before the first piece of a source that one holds.  It may be
    `error_ns` off; UNKNOWN.
    """

    source: int
    interface: int
    first: int
    begin_ns: int
    offset_ns: int
    drift_ppm: float
    error_ns: int

    def to_session(self, ts: Int64s) -> Int64s:
        """Times of the source's clock as session time."""
        made = np.asarray(ts + self.offset_ns, np.int64)
        if self.drift_ppm:
            past = (ts - self.begin_ns).astype(np.float64)
            made += np.rint(past * (self.drift_ppm * 1e-6)).astype(np.int64)
        return made

    def to_source(self, session_ns: Int64s) -> Int64s:
        """Session times on the source's clock."""
        past = np.asarray(session_ns - (self.offset_ns + self.begin_ns), np.int64)
        rate = self.drift_ppm * 1e-6
        drift = past.astype(np.float64) * (rate / (1 + rate))
        return past + self.begin_ns - np.rint(drift).astype(np.int64)


class Timebase:
    """Maps times of every source."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        """`pieces` of an interface stand in the order of its packets: a clock may be set back."""
        self._of: dict[int, dict[int, list[Piece]]] = {}
        for piece in pieces:
            clocks = self._of.setdefault(piece.source, {})
            clocks.setdefault(piece.interface, []).append(piece)

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Times of a source's clock as session time; unchanged for a source that has no pieces.

        A time that a clock showed twice, because it was set back, counts as the later one.  If
        interfaces have clocks of their own, all times count as those of the first interface.
        of_packets() distinguishes both.
        """
        ts, pieces = np.asarray(ts, np.int64), self._first(source)
        which = np.zeros(len(ts), np.int64)
        for number, piece in enumerate(pieces[1:], 1):  # in a gap that a step made: before it
            which[ts >= piece.begin_ns] = number
        for number, piece in enumerate(pieces):
            which[(ts >= piece.begin_ns) & (ts < _end(pieces, number))] = number
        return _mapped(pieces, which, ts)

    def of_packets(
        self, source: int, ts: Int64s, number: Int64s, interface: Int64s | None = None
    ) -> Int64s:
        """Session time of packets of a capture by their times and numbers.

        `interface` is needed where there are interfaces(); it is that of each packet.
        """
        ts, clocks = np.asarray(ts, np.int64), self._of.get(source, {})
        if len(clocks) < 2 or interface is None:
            return _by_number(self._first(source), ts, number)
        made = ts.copy()
        for one in np.unique(interface).tolist():
            mine = np.flatnonzero(interface == one)
            made[mine] = _by_number(self._clock(source, one), ts[mine], number[mine])
        return made

    def to_source(self, source: int, session_ns: Int64s, interface: int | None = None) -> Int64s:
        """Session times on a source's clock; in a gap that a step made on the later side of it.

        Where interfaces have clocks of their own, on that of `interface`, else of the first.
        """
        session = np.asarray(session_ns, np.int64)
        pieces = self._first(source) if interface is None else self._clock(source, interface)
        begins = [int(p.to_session(np.array([p.begin_ns]))[0]) for p in pieces]
        which = np.searchsorted(np.maximum.accumulate(begins or [0]), session, "right") - 1
        return _mapped(pieces, np.maximum(which, 0), session, back=True)

    def interfaces(self, source: int) -> tuple[int, ...]:
        """Those that have clocks of their own; none, if a source has one clock."""
        clocks = self._of.get(source, {})
        return tuple(clocks) if len(clocks) > 1 else ()

    def error(self, source: int, interface: int | None = None) -> int:
        """The greatest error of a source's pieces, ns; UNKNOWN (-1) if it is unknown.

        With an `interface` of those of its clock.
        """
        clocks = self._of.get(source, {})
        some = clocks.values() if interface is None else [self._clock(source, interface)]
        errors = [piece.error_ns for pieces in some for piece in pieces]
        return UNKNOWN if not errors or UNKNOWN in errors else max(errors)

    def _first(self, source: int) -> list[Piece]:
        return next(iter(self._of.get(source, {}).values()), [])

    def _clock(self, source: int, interface: int) -> list[Piece]:
        return self._of.get(source, {}).get(interface) or self._first(source)


def _end(pieces: Sequence[Piece], number: int) -> int:
    """Where a piece's clock stood when the next piece began."""
    if number + 1 == len(pieces):
        return LATEST_NS
    after = pieces[number + 1]
    session = after.to_session(np.array([after.begin_ns]))
    return int(pieces[number].to_source(session)[0])


def _by_number(pieces: Sequence[Piece], ts: Int64s, number: Int64s) -> Int64s:
    which = np.zeros(0, np.int64)
    if len(pieces) > 1:
        which = np.searchsorted([piece.first for piece in pieces], number, "right") - 1
    return _mapped(pieces, np.maximum(which, 0), ts)


def _mapped(
    pieces: Sequence[Piece], which: npt.NDArray[np.integer], ts: Int64s, back: bool = False
) -> Int64s:
    """Times by the piece that `which` says; it is not asked where there is one piece."""
    if not pieces:
        return ts.copy()
    if len(pieces) == 1:
        return pieces[0].to_source(ts) if back else pieces[0].to_session(ts)
    made = np.empty(len(ts), np.int64)
    for at in np.unique(which).tolist():
        mine = np.flatnonzero(which == at)
        made[mine] = pieces[at].to_source(ts[mine]) if back else pieces[at].to_session(ts[mine])
    return made
