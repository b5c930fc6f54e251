# SPDX-License-Identifier: MIT
"""Session time: one clock for all sources.

It is the wall clock, in ns since 1970, of the host of the first KBL (of the first capture where
there is no KBL).  Each source has rows that map its own clock to it, piecewise linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from .clock import ClockFit, Segment
from .oneway import OneWay
from .pairing import Index

UNKNOWN = -1  # error of a source that nothing joins to the first KBL
PROBE_NS = 1_000_000_000  # between two times whose distance tells a slope


class Piece(NamedTuple):
    """session time = ts + offset_ns + drift_ppm * 1e-6 * (ts - begin_ns), from begin_ns on.

    Before the first piece of a source the first one holds.  It may be `error_ns` off; UNKNOWN.
    """

    source: int
    begin_ns: int
    offset_ns: int
    drift_ppm: float
    error_ns: int


class Timebase:
    """Maps times of every source."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._of: dict[int, list[Piece]] = {}
        for piece in sorted(pieces):
            self._of.setdefault(piece.source, []).append(piece)

    def to_session(self, source: int, ts: Index) -> Index:
        """Times of a source's clock as session time; unchanged for a source that has no pieces."""
        made = np.asarray(ts, np.int64).copy()
        for piece, mine in self._parts(source, made, [p.begin_ns for p in self._pieces(source)]):
            past = (made[mine] - piece.begin_ns).astype(np.float64)
            made[mine] += piece.offset_ns + np.rint(past * (piece.drift_ppm * 1e-6)).astype(
                np.int64
            )
        return made

    def to_source(self, source: int, session_ns: Index) -> Index:
        """Session times on a source's clock; in a gap that a step made on the later side of it."""
        made = np.asarray(session_ns, np.int64).copy()
        begins = [p.begin_ns + p.offset_ns for p in self._pieces(source)]
        for piece, mine in self._parts(source, made, begins):
            rate = piece.drift_ppm * 1e-6
            past = made[mine] - piece.offset_ns - piece.begin_ns
            drift = past.astype(np.float64) * (rate / (1 + rate))
            made[mine] = past + piece.begin_ns - np.rint(drift).astype(np.int64)
        return made

    def error(self, source: int) -> int:
        """The greatest error of a source's pieces, ns; UNKNOWN (-1) if nothing tells it."""
        errors = [piece.error_ns for piece in self._pieces(source)]
        return UNKNOWN if not errors or UNKNOWN in errors else max(errors)

    def _pieces(self, source: int) -> list[Piece]:
        return self._of.get(source, [])

    def _parts(
        self, source: int, ts: Index, begins: list[int]
    ) -> Iterable[tuple[Piece, np.ndarray[tuple[int], np.dtype[np.bool_]]]]:
        which = np.maximum(np.searchsorted(begins, ts, "right") - 1, 0)
        for number, piece in enumerate(self._pieces(source)):
            yield piece, np.asarray(which == number)


def build(
    epochs: Mapping[int, int],
    captures: Iterable[int],
    clocks: Mapping[tuple[int, int], ClockFit],
    between: Mapping[tuple[int, int], OneWay],
) -> list[Piece]:
    """The pieces of all sources.

    `epochs`: per KBL its wall clock minus its own; `clocks`: per (capture, KBL) the fit; `between`:
    per pair of KBLs the bounds of their clocks.
    """
    captures = list(captures)
    pieces: dict[int, list[Piece]] = {}
    first = min(epochs, default=None)
    if first is not None:
        pieces[first] = [Piece(first, 0, epochs[first], 0.0, 0)]
    elif captures:
        pieces[captures[0]] = [Piece(captures[0], 0, 0, 0.0, 0)]
    for _ in range(len(epochs) + 1):  # each round reaches sources one step farther away
        for (a, b), way in between.items():
            if a in pieces and b not in pieces:
                pieces[b] = [_across(pieces[a], b, way)]
        for (capture, kbl), clock in clocks.items():
            if kbl in pieces and capture not in pieces:
                made = [_of_segment(capture, s, pieces[kbl]) for s in clock.segments]
                pieces[capture] = made
        for (capture, kbl), clock in clocks.items():
            if capture in pieces and kbl not in pieces:
                pieces[kbl] = [_of_kernel(kbl, s, pieces[capture]) for s in clock.segments]
    for source in (*epochs, *captures):
        pieces.setdefault(source, [Piece(source, 0, epochs.get(source, 0), 0.0, UNKNOWN)])
    return [piece for source in sorted(pieces) for piece in pieces[source]]


def _piece(source: int, times: tuple[int, int], session: Index, error_ns: int) -> Piece:
    """The piece through two times (PROBE_NS apart) of a source and of the session."""
    begin, offset = times[0], int(session[0]) - times[0]
    length = times[1] - times[0]
    drift = (int(session[1] - session[0]) - length) / length * 1e6
    return Piece(source, begin, offset, drift, error_ns)


def _add(error: int, more: int) -> int:
    return UNKNOWN if error == UNKNOWN else error + more


def _of_segment(capture: int, segment: Segment, kernel: list[Piece]) -> Piece:
    """A segment of a capture's fit to a KBL whose pieces are known."""
    times = (segment.begin_ns, segment.begin_ns + PROBE_NS)
    base = Timebase(kernel)
    session = base.to_session(kernel[0].source, segment.to_kernel(np.array(times)))
    return _piece(capture, times, session, _add(base.error(kernel[0].source), segment.residual_ns))


def _of_kernel(kbl: int, segment: Segment, capture: list[Piece]) -> Piece:
    """A KBL through a segment of the fit of a capture whose pieces are known.

    What is under way between them is part of the offset.
    """
    seen = np.array((segment.begin_ns, segment.begin_ns + PROBE_NS))
    base = Timebase(capture)
    session = base.to_session(capture[0].source, seen)
    begin, end = segment.to_kernel(seen).tolist()
    error = _add(base.error(capture[0].source), segment.residual_ns)
    return _piece(kbl, (begin, end), session, error)


def _across(a: list[Piece], b: int, way: OneWay) -> Piece:
    """KBL b by the middle of its bounds to KBL a."""
    times = np.array((way.origin_ns, way.origin_ns + PROBE_NS))
    low, high = way.offset(times)
    begin, end = (times + (low + high) // 2).tolist()
    base = Timebase(a)
    error = _add(base.error(a[0].source), (way.high_ns - way.low_ns + 1) // 2)
    return _piece(b, (begin, end), base.to_session(a[0].source, times), error)
