# SPDX-License-Identifier: MIT
"""The stages of each leg, and the time of its packet on the wire.

Receiving, after Wu & Crawford ("The performance analysis of Linux networking - packet receiving",
2007): NIC and driver; protocol stack; data receiving process.  Sending: system call, transport, IP,
queueing discipline, driver.  A stage ends where the next recorded one begins, and the first begins
with the leg.  So the stages of sending, of forwarding, and of receiving up to the process add up to
the leg.
"""

from __future__ import annotations

import numpy as np

from ...matching import RX, TX
from ...records.types import Bools, Int64s
from ..breakdown.leg_columns import legs_at
from ..breakdown.stage_loops import BITS, MOST_STAGES, STAGES, cut_legs
from ..words.stage_names import RECEIVING
from .scope import Scope

BLOCK = 1 << 18  # legs whose stages are found together


def stage_times(scope: Scope, wanted: Bools) -> dict[str, Int64s]:
    """Return by stage the times (ns) of the legs that `wanted` marks and that show this stage.

    Sniffers' copies are left out.  All calls of the legs are used.  A range selects legs by their
    start and does not cut them off; otherwise a stage would include the stages after it.  Raises
    Cancelled.
    """
    rows, scope = np.flatnonzero(wanted & ~sniffed_legs(scope)), scope.whole
    reading, process = reading_times(scope)
    process = process[wanted[reading]]
    parts = [(np.zeros(0, np.int8), np.zeros(0, np.int64))]
    for first in range(0, len(rows), BLOCK):
        scope.progress.report("Counting", first, len(rows))
        legs = legs_at(scope, rows[first : first + BLOCK])
        made = np.empty((2, len(legs.kind) * MOST_STAGES), np.int64)
        scratch = np.empty(BITS, np.int64), np.empty(len(STAGES), np.int64)
        count = cut_legs(np.arange(len(legs.kind)), legs, *scratch, made)
        parts.append((made[0, :count].astype(np.int8), made[1, :count].copy()))
    stage, ns = (np.concatenate(column) for column in zip(*parts, strict=True))
    found = {name: ns[stage == at] for at, name in enumerate(STAGES)}
    return found | {RECEIVING[2]: process}


def sniffed_legs(scope: Scope) -> Bools:
    """Return for each leg whether it is of the copy that a sniffer's socket was given."""
    copies = np.asarray(scope.columns.array("series", "tap")) > 0
    return np.asarray(copies[scope.of_leg("series") - 1], np.bool_)


def reading_times(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return the legs whose packet a process read, and the time (ns) from then to the last exit."""
    reader = scope.of_leg("reader_ns")
    rows = np.flatnonzero((scope.of_leg("kind") == RX) & (reader >= 0))
    if not len(rows):
        return rows, reader[rows]
    return rows, np.maximum(_last_exit(scope, len(reader))[rows] - reader[rows], 0)


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
