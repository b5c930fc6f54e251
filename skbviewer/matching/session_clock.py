# SPDX-License-Identifier: MIT
"""Convert the clocks of all sources to session time.

Input: the clock fits between captures and KBLs, and bounds of the offsets between KBLs.  Output:
the pieces of a Timebase.  The first KBL defines session time; without a KBL, the first capture
does.  One source after the other is then connected to a source that is connected already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .clock.clock_fit import ClockFit, Segment
from .clock.session_time import EVERY, UNKNOWN, Piece, Timebase
from .one_way_delay import OneWay

Node = tuple[int, int]  # a source and an interface, which have a clock
Pieces = dict[Node, list[Piece]]


class Host(NamedTuple):
    """The clock of a KBL, ns.

    `epoch_ns` is the wall clock of the KBL's host minus the KBL's clock.  The legs in the KBL are
    from `begin_ns` to `end_ns` on its clock.
    """

    epoch_ns: int
    begin_ns: int
    end_ns: int


class Apart(NamedTuple):
    """A log of points and a KBL of its host: KBL time = point time + offset_ns, +- error_ns."""

    offset_ns: int
    error_ns: int


NO_PAIRS: Mapping[tuple[int, int], Apart] = MappingProxyType({})


class Joint(NamedTuple):
    """A clock fit between a capture's interface (EVERY if all have one clock) and a KBL."""

    capture: int
    interface: int
    kbl: int

    @property
    def wire(self) -> Node:
        """Return the clock of the capture's interface."""
        return self.capture, self.interface

    @property
    def kernel(self) -> Node:
        """Return the clock of the KBL."""
        return self.kbl, EVERY


def build(
    hosts: Mapping[int, Host],
    captures: Mapping[int, Sequence[int]],
    clocks: Mapping[Joint, ClockFit],
    between: Mapping[tuple[int, int], OneWay],
    same: Mapping[tuple[int, int], Apart] = NO_PAIRS,
) -> list[Piece]:
    """Return the pieces that map the clock of each source to session time.

    `hosts` are the kernel logs' clocks by source.  By capture: `captures` lists its interfaces in
    the order of first use, or EVERY.  `clocks` are clock fits; each of their segments begins with a
    packet number.  By pair of KBLs: `between` has the bounds that their common packets set for the
    offset between the two clocks.  By log of points and KBL of one host: `same` has the offset
    between the two clocks.  EVERY stands for all interfaces of a capture, if they have one clock.
    """
    pieces = _begin(hosts, captures)
    for kbl, host in sorted(hosts.items()):
        _reach(pieces, hosts, clocks, between, same)
        alone = [Piece(kbl, EVERY, 0, 0, host.epoch_ns, 0.0, UNKNOWN)]
        pieces.setdefault((kbl, EVERY), alone)
    _reach(pieces, hosts, clocks, between, same)
    ordered = [pieces[kbl, EVERY] for kbl in hosts]
    ordered += [clock for each in captures for clock in _of_capture(each, captures[each], pieces)]
    ordered.sort(key=lambda clock: clock[0].source)  # keeps the order of interfaces
    return [piece for clock in ordered for piece in clock]


def _reach(
    pieces: Pieces,
    hosts: Mapping[int, Host],
    clocks: Mapping[Joint, ClockFit],
    between: Mapping[tuple[int, int], OneWay],
    same: Mapping[tuple[int, int], Apart],
) -> None:
    """Add pieces for each source that a fit or a bound connects to a source that has pieces."""
    for _ in range(len(hosts) + 1):  # each round reaches sources that are one step farther away
        for (points, kbl), one in same.items():
            if (kbl, EVERY) in pieces and (points, EVERY) not in pieces:
                pieces[points, EVERY] = _beside(pieces[kbl, EVERY], points, one.offset_ns, one)
            elif (points, EVERY) in pieces and (kbl, EVERY) not in pieces:
                pieces[kbl, EVERY] = _beside(pieces[points, EVERY], kbl, -one.offset_ns, one)
        for (a, b), way in sorted(between.items(), key=lambda item: item[0]):
            if (a, EVERY) in pieces and (b, EVERY) not in pieces:
                pieces[b, EVERY] = [_across(pieces[a, EVERY], b, way, hosts[b])]
        near = [j for j in clocks if j.kernel in pieces and j.wire not in pieces]
        for joint in sorted(near, key=lambda joint: _error(pieces, clocks, joint)):
            if joint.wire not in pieces:
                base = pieces[joint.kernel]
                pieces[joint.wire] = [_of_segment(joint, s, base) for s in clocks[joint].segments]
        for joint, clock in clocks.items():
            if joint.wire in pieces and joint.kernel not in pieces:
                base = pieces[joint.wire]
                pieces[joint.kernel] = [_of_kernel(joint, s, base) for s in clock.segments]


def _beside(base: Sequence[Piece], source: int, offset: int, one: Apart) -> list[Piece]:
    """Return the pieces of a log of the same host: the pieces `base`, shifted by `offset`."""
    error = _add(base, one.error_ns)
    return [
        piece._replace(
            source=source,
            begin_ns=piece.begin_ns - offset,
            offset_ns=piece.offset_ns + offset,
            error_ns=error,
        )
        for piece in base
    ]


def _begin(hosts: Mapping[int, Host], captures: Mapping[int, Sequence[int]]) -> Pieces:
    """Return the piece of the source whose clock defines session time; its error is 0."""
    first = min(hosts, default=None)
    if first is not None:
        return {(first, EVERY): [Piece(first, EVERY, 0, 0, hosts[first].epoch_ns, 0.0, 0)]}
    alone = next(iter(captures), None)
    return {} if alone is None else {(alone, EVERY): [Piece(alone, EVERY, 0, 0, 0, 0.0, 0)]}


def _of_capture(capture: int, interfaces: Sequence[int], pieces: Pieces) -> list[list[Piece]]:
    """Return the pieces of each clock of a capture; the clocks that are connected come first.

    An interface that is not connected gets the clock of the first connected interface, with an
    unknown error.
    """
    known = [pieces[capture, one] for one in (EVERY, *interfaces) if (capture, one) in pieces]
    if not known:
        return [[Piece(capture, EVERY, 0, 0, 0, 0.0, UNKNOWN)]]
    if known[0][0].interface == EVERY:
        return known[:1]
    left = [one for one in interfaces if (capture, one) not in pieces]
    same = [p._replace(error_ns=UNKNOWN) for p in known[0]]
    return known + [[piece._replace(interface=one) for piece in same] for one in left]


def _error(pieces: Pieces, clocks: Mapping[Joint, ClockFit], joint: Joint) -> int:
    """Return the possible error (ns) of a capture's clock that is connected through a KBL."""
    residual = max(segment.residual_ns for segment in clocks[joint].segments)
    return residual + max(piece.error_ns for piece in pieces[joint.kernel])


def _add(base: Sequence[Piece], more: int) -> int:
    errors = [piece.error_ns for piece in base]
    return UNKNOWN if UNKNOWN in errors else max(errors) + more


def _of_segment(joint: Joint, segment: Segment, kernel: Sequence[Piece]) -> Piece:
    """Return the piece that converts a segment of a capture's clock to session time.

    `kernel` are the pieces of the KBL to which the segment was fitted.
    """
    at = segment.to_kernel(np.array([segment.begin_ns]))
    session = int(Timebase(kernel).to_session(joint.kbl, at)[0])
    base = [piece for piece in kernel if piece.begin_ns <= at[0]] or kernel[:1]
    rate = (1 + base[-1].drift_ppm * 1e-6) / (1 + segment.drift_ppm * 1e-6)
    begin, error = segment.begin_ns, _add(kernel, segment.residual_ns)
    mapped = (begin, session - begin, (rate - 1) * 1e6, error)
    return Piece(joint.capture, joint.interface, segment.first, *mapped)


def _of_kernel(joint: Joint, segment: Segment, wire: Sequence[Piece]) -> Piece:
    """Return the piece that converts a KBL to session time, through a segment of a capture's fit.

    `wire` are the pieces of that capture.  The offset includes the time that the packets were in
    transit.
    """
    seen = np.array([segment.begin_ns])
    begin = int(segment.to_kernel(seen)[0])
    base = ([piece for piece in wire if piece.first <= segment.first] or wire[:1])[-1]
    session = int(base.to_session(seen)[0])
    rate = (1 + base.drift_ppm * 1e-6) * (1 + segment.drift_ppm * 1e-6)
    mapped = (begin, session - begin, (rate - 1) * 1e6, _add(wire, segment.residual_ns))
    return Piece(joint.kbl, EVERY, 0, *mapped)


def _across(a: Sequence[Piece], b: int, way: OneWay, host: Host) -> Piece:
    """Return the piece that converts KBL `b` to session time, through a KBL with the pieces `a`.

    The clock of b is converted to that of a by the middle of all lines that no packet contradicts.
    """
    origin, middle, drift_ppm = way.middle()
    rate = 1 + drift_ppm * 1e-6
    session = int(Timebase(a).to_session(a[0].source, np.array([origin]))[0])
    base = ([piece for piece in a if piece.begin_ns <= origin] or a[:1])[-1]
    begin, faster = origin + middle, (1 + base.drift_ppm * 1e-6) / rate
    ends = [int((end - begin) / rate) + origin for end in (host.begin_ns, host.end_ns)]
    error = _add(a, ceil(_off(way, min(ends[0], origin), max(ends[1], int(way.at_ns[-1]))) / rate))
    return Piece(b, EVERY, 0, begin, session - begin, (faster - 1) * 1e6, error)


def _off(way: OneWay, begin: int, end: int) -> int:
    """Return the largest error of way.middle(), ns, from `begin` to `end` and at all packets.

    `begin` and `end` are times on clock a.  The lines are farthest apart at the ends of this time,
    so only the ends are looked at.
    """
    origin, middle, drift_ppm = way.middle()
    low, high = way.offset(np.array([begin, end]))
    wide = high - low  # `begin` and `end` have the same uncertainty
    ends = np.array([begin - wide[0], end + wide[1]])
    low, high = way.offset(ends)
    line = middle + np.rint((ends - origin) * (drift_ppm * 1e-6)).astype(np.int64)
    return int(np.max(np.maximum(high - line, line - low))) + 1
