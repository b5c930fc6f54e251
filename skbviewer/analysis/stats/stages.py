# SPDX-License-Identifier: MIT
"""The stages of each leg, and the time of its packet on the wire.

Receiving, after Wu & Crawford ("The performance analysis of Linux networking - packet receiving",
2007): NIC and driver; protocol stack; data receiving process.  Sending: system call, transport, IP,
queueing discipline, driver.  A stage ends where the next recorded one begins, and the first begins
with the leg.  So the stages of sending, of forwarding, and of receiving up to the process add up to
the leg.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import FORWARD, RX, TRANSMIT, TX
from ...records.types import LATEST_NS, Int64s
from ..words.stage_names import FORWARDING, QUEUE, RECEIVING, SENDING, STACK
from .scope import Scope


class Sections(NamedTuple):
    """The stages of legs of one `kind`: each ends where the next existing stage begins.

    `begins` holds the start of each stage for all legs, LATEST_NS if the leg does not show it.
    """

    kind: int
    names: tuple[str, ...]
    begins: tuple[Int64s, ...]


class Stages(NamedTuple):
    """The time (ns) of each stage and of each wait: by name, an array by leg.

    -1 means that the leg does not show the time.
    """

    stages: dict[str, Int64s]
    waits: dict[str, Int64s]


def leg_stages(scope: Scope) -> Stages:
    """Return stages and waits of all legs of the session; valid for the selected legs.

    All calls of these legs are used.  A range selects legs by their start and does not cut them
    off; otherwise a stage would include the stages after it.
    """
    scope = scope.whole
    kind, end = scope.of_leg("kind"), scope.of_leg("end_ns")
    stages: dict[str, Int64s] = {}
    for part in sections(scope):
        _cut(stages, part.names, kind == part.kind, part.begins, end)
    rows, process = reading_times(scope)
    stages[RECEIVING[2]] = np.full(len(kind), -1)
    stages[RECEIVING[2]][rows] = process
    return Stages(stages, {"wire": wire_times(scope)})


def sections(scope: Scope) -> tuple[Sections, ...]:
    """Return when the stages of sending, forwarding and receiving legs begin, ns.

    The stage of the receiving process is left out.
    """
    begin = scope.of_leg("begin_ns")
    first = _Firsts(scope, begin)
    received = first.named(STACK)
    queued, sent = first.named(QUEUE), first.named(TRANSMIT)
    sending = (begin, first.layer("transport"), first.layer("ip"), queued, sent)
    return (
        Sections(TX, SENDING, sending),
        Sections(FORWARD, FORWARDING, (begin, received, queued, sent)),
        Sections(RX, RECEIVING[:2], (begin, received)),
    )


def reading_times(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return the legs whose packet a process read, and the time (ns) from then to the last exit."""
    reader = scope.of_leg("reader_ns")
    rows = np.flatnonzero((scope.of_leg("kind") == RX) & (reader >= 0))
    if not len(rows):
        return rows, reader[rows]
    return rows, np.maximum(_last_exit(scope, len(reader))[rows] - reader[rows], 0)


class _Firsts:
    """Finds when each leg first entered one of several functions, in calls entered since its start.

    Earlier calls had no packet yet: the system call that made it, or a reader that waited for it.
    """

    def __init__(self, scope: Scope, begin: Int64s) -> None:
        self._scope = scope
        self._legs = len(begin)
        self._entry = scope.of_call("entry_ns")
        self._since = self._entry >= begin[scope.leg_of_call]

    def named(self, names: frozenset[str] | tuple[str, ...]) -> Int64s:
        """Return for each leg when it first entered a function of `names`, ns.

        LATEST_NS means that it entered none.
        """
        return self._of([name in names for name in self._scope.function_names])

    def layer(self, name: str) -> Int64s:
        """Return for each leg when it first entered a function of the layer `name`, ns.

        LATEST_NS means that it entered none.
        """
        return self._of([layer == name for layer in self._scope.layer_names])

    def _of(self, wanted: list[bool]) -> Int64s:
        function = self._scope.function
        named = np.array([*wanted, False])[function]  # -1, no name, is the last index
        meant = np.flatnonzero(named & self._since)
        found = np.full(self._legs, LATEST_NS, np.int64)
        np.minimum.at(found, self._scope.leg_of_call[meant], self._entry[meant])
        return found


def _cut(
    stages: dict[str, Int64s],
    names: tuple[str, ...],
    legs: npt.NDArray[np.bool_],
    begins: tuple[Int64s, ...],
    end: Int64s,
) -> None:
    """Compute stages: each lasts from its start to the next start that exists, or to the end."""
    following = np.asarray(end, np.int64)
    for name, begin in reversed(list(zip(names, begins, strict=True))):
        there = legs & (begin <= following)
        stages[name] = np.where(there, following - begin, -1)
        following = np.where(there, begin, following)
    for name in names:  # restore the order of time
        stages[name] = stages.pop(name)


def _last_exit(scope: Scope, legs: int) -> Int64s:
    entry, dur = scope.of_call("entry_ns"), scope.of_call("dur_ns")
    found = np.full(legs, -1, np.int64)
    np.maximum.at(found, scope.leg_of_call, entry + np.maximum(dur, 0))
    return found


def wire_times(scope: Scope) -> Int64s:
    """Return for each receiving leg the time (ns) since a leg of the same KBL sent its packet.

    The result is -1 if there is no such leg; if records were lost in between, because the packet
    may have passed another leg; or if the sending leg lacks records, because its time of sending is
    unknown.  No clock can measure the time between two machines: see the one-way bounds of
    `skbviewer stats clock`.
    """
    kind, wire = scope.of_leg("kind"), scope.of_leg("wire_ns")
    source = scope.of_leg("source")
    packet = np.asarray(scope.columns.array("match", "packet"), np.int64)
    leg = np.asarray(scope.columns.array("match", "leg"), np.int64) - 1
    exact = np.asarray(scope.columns.array("match", "verdict")) == 0
    packet, leg = packet[exact], leg[exact]
    several = np.bincount(packet)[packet] > 1  # sorting takes long, and most have one leg
    packet, leg = packet[several], leg[several]
    order = np.lexsort((wire[leg], source[leg], packet))
    packet, leg = packet[order], leg[order]
    before, after = leg[:-1], leg[1:]
    pair = np.flatnonzero(
        (packet[1:] == packet[:-1])
        & (source[before] == source[after])
        & (kind[before] != RX)
        & (kind[after] != TX)
    )
    before, after = before[pair], after[pair]
    known = ~scope.lost(after, wire[before], wire[after]) & ~scope.gaps[before]
    found = np.full(len(kind), -1, np.int64)
    found[after] = np.where(known, wire[after] - wire[before], -1)
    return found
