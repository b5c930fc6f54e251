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
from .kinds import Index
from .oneway import OneWay

UNKNOWN = -1  # error of a source that nothing joins to the first KBL


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

    def drift_ppm(self, source: int, ts: int) -> float:
        """How much faster session time runs than a source's clock then."""
        pieces = self._pieces(source)
        before = [piece for piece in pieces if piece.begin_ns <= ts] or pieces[:1]
        return before[-1].drift_ppm if before else 0.0

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
        for (a, b), way in sorted(between.items()):
            if a in pieces and b not in pieces:
                pieces[b] = [_across(pieces[a], b, way)]
        near = [key for key in clocks if key[1] in pieces and key[0] not in pieces]
        for capture, kbl in sorted(near, key=lambda key: _error(pieces, clocks, key)):
            if capture not in pieces:
                segments = clocks[capture, kbl].segments
                pieces[capture] = [_of_segment(capture, s, pieces[kbl]) for s in segments]
        for (capture, kbl), clock in clocks.items():
            if capture in pieces and kbl not in pieces:
                pieces[kbl] = [_of_kernel(kbl, s, pieces[capture]) for s in clock.segments]
    for source in (*epochs, *captures):
        pieces.setdefault(source, [Piece(source, 0, epochs.get(source, 0), 0.0, UNKNOWN)])
    return [piece for source in sorted(pieces) for piece in pieces[source]]


def _error(
    pieces: Mapping[int, list[Piece]],
    clocks: Mapping[tuple[int, int], ClockFit],
    key: tuple[int, int],
) -> int:
    """How far off a capture is if it goes through a KBL."""
    residual = max(segment.residual_ns for segment in clocks[key].segments)
    return residual + max(piece.error_ns for piece in pieces[key[1]])


def _add(error: int, more: int) -> int:
    return UNKNOWN if error == UNKNOWN else error + more


def _behind(
    source: int, begin: int, base: list[Piece], at: int, rate: float, error_ns: int
) -> Piece:
    """A piece of `source` from `begin` on, when the clock of `base` showed `at`.

    `rate` is how fast that clock runs by the source's, `error_ns` how far off `at` may be.
    """
    known = Timebase(base)
    other = base[0].source
    session = int(known.to_session(other, np.array([at]))[0])
    faster = (1 + known.drift_ppm(other, at) * 1e-6) * rate
    error = _add(known.error(other), error_ns)
    return Piece(source, begin, session - begin, (faster - 1) * 1e6, error)


def _of_segment(capture: int, segment: Segment, kernel: list[Piece]) -> Piece:
    """A segment of a capture's fit to a KBL whose pieces are known."""
    at = int(segment.to_kernel(np.array([segment.begin_ns]))[0])
    rate = 1 / (1 + segment.drift_ppm * 1e-6)
    return _behind(capture, segment.begin_ns, kernel, at, rate, segment.residual_ns)


def _of_kernel(kbl: int, segment: Segment, capture: list[Piece]) -> Piece:
    """A KBL through a segment of the fit of a capture whose pieces are known.

    What is under way between them is part of the offset.
    """
    begin = int(segment.to_kernel(np.array([segment.begin_ns]))[0])
    rate = 1 + segment.drift_ppm * 1e-6
    return _behind(kbl, begin, capture, segment.begin_ns, rate, segment.residual_ns)


def _across(a: list[Piece], b: int, way: OneWay) -> Piece:
    """KBL b by the middle of its bounds to KBL a."""
    begin = way.origin_ns + (way.low_ns + way.high_ns) // 2
    rate = 1 / (1 + way.drift_ppm * 1e-6)
    half = (way.high_ns - way.low_ns + 1) // 2
    return _behind(b, begin, a, way.origin_ns, rate, half)
