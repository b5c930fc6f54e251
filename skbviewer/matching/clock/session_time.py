# SPDX-License-Identifier: MIT
"""Session time: one clock for all sources.

Session time is the wall clock, in ns since 1970, of the host of the first KBL; without a KBL, it is
the clock of the first capture.  Each source has pieces that map its own clock to session time,
piecewise linearly; session_clock.py makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import LATEST_NS, Int64s

UNKNOWN = -1  # error of a source that nothing connects to the first KBL
ROUNDED_NS = 1000  # more than what converting a time and back may change it by
EVERY = -1  # stands for all interfaces of a source that has one clock


class Piece(NamedTuple):
    """A piece: session time = ts + offset_ns + drift_ppm * 1e-6 * (ts - begin_ns).

    A piece of the conversion holds from packet number `first` (in a KBL: 0) and from the time
    `begin_ns` on its own clock, up to the next piece of the same interface.  The first piece of a
    source also holds for all earlier times.  `error_ns` is the possible error of the session time,
    or UNKNOWN.
    """

    source: int
    interface: int
    first: int
    begin_ns: int
    offset_ns: int
    drift_ppm: float
    error_ns: int

    def to_session(self, ts: Int64s) -> Int64s:
        """Convert the times `ts` of the source's clock to session time; ns."""
        made = np.asarray(ts + self.offset_ns, np.int64)
        if self.drift_ppm:
            past = (ts - self.begin_ns).astype(np.float64)
            made += np.rint(past * (self.drift_ppm * 1e-6)).astype(np.int64)
        return made

    def to_source(self, session_ns: Int64s) -> Int64s:
        """Convert the session times `session_ns` to the source's clock; ns."""
        past = np.asarray(session_ns - (self.offset_ns + self.begin_ns), np.int64)
        rate = self.drift_ppm * 1e-6
        drift = past.astype(np.float64) * (rate / (1 + rate))
        return past + self.begin_ns - np.rint(drift).astype(np.int64)

    def limit(self, session_ns: int) -> int:
        """Convert an end of a range of session time, of any size, to the source's clock; ns."""
        past = session_ns - (self.offset_ns + self.begin_ns)
        rate = self.drift_ppm * 1e-6
        return past + self.begin_ns - round(past * (rate / (1 + rate)))


class Timebase:
    """Converts times of every source to session time and back."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        """Use `pieces`; the pieces of an interface are in the order of its packets.

        The begins of successive pieces may go back in time, because a clock may be set back.
        """
        self._of: dict[int, dict[int, list[Piece]]] = {}
        for piece in pieces:
            clocks = self._of.setdefault(piece.source, {})
            clocks.setdefault(piece.interface, []).append(piece)

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Convert the times `ts` of a source's clock to session time (ns).

        If the source has no piece, the times do not change.  If a clock was set back, it showed
        some times twice; the later occurrence is taken.  If interfaces have clocks of their own,
        the clock of the first interface is used.  The method of_packets() makes neither choice,
        because it gets the numbers and interfaces of packets.
        """
        ts, pieces = np.asarray(ts, np.int64), self._first(source)
        which = np.zeros(len(ts), np.int64)
        for number, piece in enumerate(pieces[1:], 1):  # in a gap, the earlier piece holds
            which[ts >= piece.begin_ns] = number
        for number, piece in enumerate(pieces):
            which[(ts >= piece.begin_ns) & (ts < _end(pieces, number))] = number
        return _mapped(pieces, which, ts)

    def of_packets(
        self, source: int, ts: Int64s, number: Int64s, interface: Int64s | None = None
    ) -> Int64s:
        """Convert the times of a capture's packets to session time (ns), by their numbers.

        By packet: `ts` is its time on the capture's clock, `number` its number (from 1), and
        `interface` its interface, which is needed if interfaces() is not empty.
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
        """Convert the session times `session_ns` to a source's clock.

        A session time that the clock skipped when it was set is converted by the later piece.

        If interfaces have clocks of their own, `interface` selects one; None means the first
        interface.
        """
        session = np.asarray(session_ns, np.int64)
        pieces = self._first(source) if interface is None else self._clock(source, interface)
        begins = [int(p.to_session(np.array([p.begin_ns]))[0]) for p in pieces]
        which = np.searchsorted(np.maximum.accumulate(begins or [0]), session, "right") - 1
        return _mapped(pieces, np.maximum(which, 0), session, back=True)

    def spans(self, source: int, begin: int | None, end: int | None) -> list[tuple[int, int]]:
        """Return the spans (first, last) on a source's clock that may contain times of a range.

        The range is session time from `begin` up to `end`; None means that there is no limit.  Each
        piece of each interface gives one span, which may also contain times of other pieces.
        """
        every = [one for pieces in self._of.get(source, {}).values() for one in pieces]
        first = -LATEST_NS if begin is None else max(begin, -LATEST_NS)
        last = LATEST_NS if end is None else min(end, LATEST_NS)
        limits = [(one.limit(first), one.limit(last)) for one in every] or [(first, last)]
        return [
            (max(low - ROUNDED_NS, -LATEST_NS), min(high + ROUNDED_NS, LATEST_NS))
            for low, high in limits
        ]

    def interfaces(self, source: int) -> tuple[int, ...]:
        """Return the interfaces that have clocks of their own; none if the source has one clock."""
        clocks = self._of.get(source, {})
        return tuple(clocks) if len(clocks) > 1 else ()

    def error(self, source: int, interface: int | None = None) -> int:
        """Return the greatest error of a source's pieces, ns; UNKNOWN (-1) if an error is unknown.

        With `interface`, only the pieces of this interface's clock are considered.
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
    """Return the time on a piece's clock at which the next piece begins."""
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
    """Convert each time to session time, or `back` from it, by the piece with index `which`.

    If there is only one piece, `which` is ignored.
    """
    if not pieces:
        return ts.copy()
    if len(pieces) == 1:
        return pieces[0].to_source(ts) if back else pieces[0].to_session(ts)
    made = np.empty(len(ts), np.int64)
    for at in np.unique(which).tolist():
        mine = np.flatnonzero(which == at)
        made[mine] = pieces[at].to_source(ts[mine]) if back else pieces[at].to_session(ts[mine])
    return made
