# SPDX-License-Identifier: MIT
"""The stages of each leg, and the time that its packet spent on the wire.

Receiving has the stages of Wu & Crawford ("The performance analysis of Linux networking - packet
receiving", 2007): NIC and driver, protocol stack, data receiving process.  Sending has the stages
system call, transport, IP, queueing discipline, driver.  A stage ends where the next recorded stage
begins.  The first stage begins with the leg.  So the stages of a leg that sends or forwards add up
to the whole leg.  The stages of a receiving leg add up to the leg, if the stage of the process is
left out.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...matching import RX, TX
from ...records.types import Bools, Int64s
from ..breakdown.leg_columns import legs_at
from ..breakdown.leg_stage_loops import BITS, MOST_STAGES, STAGES, cut_legs
from ..packet_legs import exact_matches, packets_of_legs
from ..parallel_blocks import each_made
from ..row_number_sets import places_of
from ..scope import Scope
from ..scope.chosen_call_blocks import call_blocks
from ..words.stage_names import RECEIVING

BLOCK = 1 << 17  # legs whose stages are found together


def stage_times(scope: Scope, wanted: Bools) -> dict[str, Int64s]:
    """Return for each stage its times (ns) in those wanted legs that have the stage.

    Copies for sniffers are left out.  All calls of the legs are used, even after the range of time.
    A range of time selects legs by their begin, and does not cut off a leg.  If a leg were cut off,
    the last stage before the cut would include the stages after it.  Raises Cancelled.
    """
    rows, scope = np.flatnonzero(wanted), scope.whole
    rows = rows[~sniffed_legs(scope, rows)]
    _, reading = reading_times(scope, np.flatnonzero(wanted))
    blocks = (rows[first : first + BLOCK] for first in range(0, len(rows), BLOCK))
    found: list[list[Int64s]] = [[np.zeros(0, np.int64)] for _ in STAGES]
    for parts in each_made(partial(_stages_of, scope), blocks):
        scope.progress.report("Counting", BLOCK * len(found[0]), len(rows))
        for ns, part in zip(found, parts, strict=True):
            ns.append(part)
    process = {RECEIVING[2]: reading}
    return {name: np.concatenate(ns) for name, ns in zip(STAGES, found, strict=True)} | process


def _stages_of(scope: Scope, rows: Int64s) -> list[Int64s]:
    """Return, for each of STAGES, the times (ns) of those legs in `rows` that have this stage."""
    legs = legs_at(scope, rows)
    made = np.empty((2, len(rows) * MOST_STAGES), np.int64)
    scratch = np.empty(BITS, np.int64), np.empty(len(STAGES), np.int64)
    count = cut_legs(np.arange(len(rows)), legs, *scratch, made)
    stage, ns = made[0, :count].astype(np.int8), made[1, :count]
    return [ns[stage == at] for at in range(len(STAGES))]


def sniffed_legs(scope: Scope, legs: Int64s) -> Bools:
    """Return for each of `legs` whether its packet is a copy that a sniffer's socket was given."""
    series = scope.columns.near("leg", "series", legs).astype(np.int64) - 1
    return np.asarray(scope.columns.take("series", "tap", series) > 0)


def reading_times(scope: Scope, legs: Int64s) -> tuple[Int64s, Int64s]:
    """Return the legs whose packet a process read, and how long (ns) the process took.

    The time of the process lasts from when it read the packet to the last exit of the leg's calls.

    The returned legs are some of `legs`, which are 0-based and rise.
    """
    reader, kind = (scope.columns.near("leg", name, legs) for name in ("reader_ns", "kind"))
    read = np.flatnonzero((kind == RX) & (reader >= 0))
    if not len(read):
        return legs[:0], legs[:0]
    return legs[read], np.maximum(_last_exits(scope, legs[read]) - reader[read], 0)


def _last_exits(scope: Scope, legs: Int64s) -> Int64s:
    """Return the last exit (ns) of the chosen calls in each of `legs` (rising); -1 if none."""
    found = np.full(len(legs), -1, np.int64)
    for block in call_blocks(scope, "entry_ns", "dur_ns"):
        ends = block.columns["entry_ns"] + np.maximum(block.columns["dur_ns"], 0)
        if len(ends):
            first = np.flatnonzero(np.diff(block.leg, prepend=-1))
            place = places_of(block.leg[first], legs)
            found[place[place >= 0]] = np.maximum.reduceat(ends, first)[place >= 0]
    return found


def wire_times(scope: Scope, legs: Int64s) -> Int64s:
    """Return for each receiving leg the time (ns) since a leg in the same KBL sent its packet.

    `legs` are 0-based and rise.  The result has an element for each of `legs`.  The result is -1 if
    no leg sent the packet, if records were lost in between (the packet may have passed another
    leg), or if the sending leg lacks records (its time of sending is unknown).  No clock can
    measure the time between two machines: see the one-way bounds of `skbviewer stats clock`.
    """
    columns = scope.columns
    if len(legs) * 2 > columns.length("leg"):  # all packets are found faster than most of them
        packets = np.arange(columns.length("packet")) + 1
    else:
        packets = packets_of_legs(columns, legs)
    packet, leg = exact_matches(columns, packets)
    # Sorting takes long, and most packets have one leg.
    several = np.bincount(packet)[packet] > 1 if len(packet) else np.zeros(0, np.bool_)
    packet, leg = packet[several], leg[several]
    wire, source = columns.take("leg", "wire_ns", leg).astype(np.int64), scope.sources_of(leg)
    order = np.lexsort((wire, source, packet))
    packet, leg, wire, source = packet[order], leg[order], wire[order], source[order]
    kind = columns.take("leg", "kind", leg)
    pair = np.flatnonzero(
        (packet[1:] == packet[:-1])
        & (source[1:] == source[:-1])
        & (kind[:-1] != RX)
        & (kind[1:] != TX)
    )
    before, after = leg[pair], leg[pair + 1]
    lost = scope.lost(after, wire[pair], wire[pair + 1])
    known = ~lost & (columns.take("leg", "gap", before) == 0)
    found = np.full(len(legs), -1, np.int64)
    place = places_of(after, legs)
    found[place[place >= 0]] = np.where(known, wire[pair + 1] - wire[pair], -1)[place >= 0]
    return found
