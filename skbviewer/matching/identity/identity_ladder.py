# SPDX-License-Identifier: MIT
"""The rungs of the identity ladder, and the climb of candidate pairs.

In: pairs of a packet and a row of prints.  Out: the pairs whose values differ on no rung, and how
far up each packet had to climb until it differed from its rivals.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ...records import Packets
from ...records.compiled import allocation_free
from ...records.types import Bools, Int64s
from ..arrays.array_blocks import blocks
from ..arrays.hash_join import by_pair
from .identity_columns import LENGTH, NONE, RUNGS, Columns, Footprints, Known

FRAGMENT = 0x3FFF  # MF and offset of frag_off
SEVERAL = -2
CONTRADICTS, CUT = -1, -2  # stand in for the number of columns in which a pair agrees


def alike(left: Known, i: Int64s, right: Known, j: Int64s, names: Iterable[str]) -> Bools:
    """Return which pairs of these rows have equal values in all columns."""
    made, names = np.ones(len(i), np.bool_), tuple(names)
    for some in blocks(len(i)):
        wire, kernel = left.columns(i[some], names), right.columns(j[some], names)
        for name in names:
            made[some] &= wire[name] == kernel[name]
    return made


def climb(
    packets: Packets, prints: Footprints, packet: Int64s, shown: Int64s, rung: npt.NDArray[np.int8]
) -> tuple[Int64s, Int64s, npt.NDArray[np.int8]]:
    """Return the pairs (packet, row of prints) that are left after all rungs, and their rungs."""
    wire, kernel = Known(packets, packet), Known(prints.rows, prints.number[shown])
    crowded = _crowded(packet, prints.series[shown])
    alone = np.flatnonzero(~crowded)
    alone = alone[_agree(wire, kernel, alone)]
    some = np.flatnonzero(crowded)
    rivals = _climb(packets, prints, packet[some], shown[some], rung[some])
    return (
        np.concatenate([packet[alone], rivals[0]]),
        np.concatenate([shown[alone], rivals[1]]),
        np.concatenate([rung[alone], rivals[2]]),
    )


def _agree(wire: Known, kernel: Known, pairs: Int64s) -> Bools:
    """Return which of these pairs, which have no rivals, agree on every rung."""
    made = np.ones(len(pairs), np.bool_)
    for block in blocks(len(pairs)):
        some = pairs[block]
        for _, columns in RUNGS:
            left, right = wire.columns(some, columns), kernel.columns(some, columns)
            same, _ = _compare(left, right, columns)
            made[block] &= same | _cut_later(left, right) if columns == LENGTH else same
    return made


def _climb(
    packets: Packets, prints: Footprints, packet: Int64s, shown: Int64s, rung: npt.NDArray[np.int8]
) -> tuple[Int64s, Int64s, npt.NDArray[np.int8]]:
    """Climb with the pairs that have rivals."""
    for level, columns in RUNGS:
        crowded = _crowded(packet, prints.series[shown])
        agreed = np.empty(len(packet), np.int8)
        for some in blocks(len(packet)):
            wire = Known(packets, packet[some]).columns(slice(None), columns)
            kernel = Known(prints.rows, prints.number[shown[some]]).columns(slice(None), columns)
            same, known = _compare(wire, kernel, columns)
            agreed[some] = np.where(same, known, CONTRADICTS)
            if columns == LENGTH:
                agreed[some][~same & _cut_later(wire, kernel)] = CUT
        keep, rung = np.empty(len(packet), np.bool_), rung.copy()
        pair = numbered(packet, prints.series[shown])
        best = np.empty(int(pair.max(initial=-1)) + 1, np.int8)
        _step(int(level), pair, agreed, crowded, best, rung, keep)
        packet, shown, rung = packet[keep], shown[keep], rung[keep]
    return packet, shown, rung


@allocation_free
def _step(
    level: int,
    pair: Int64s,
    agreed: npt.NDArray[np.int8],
    crowded: Bools,
    best: npt.NDArray[np.int8],
    rung: npt.NDArray[np.int8],
    keep: Bools,
) -> None:
    """Decide which prints stay on a rung: for each packet and series those that agree best.

    `agreed` is in how many columns a print agrees, or CONTRADICTS, or CUT.  `pair` numbers the
    pairs of a packet and a series; `best` is by that number.  A series of which less is known than
    of another one stays, because it may still be the packet's.  Sets `rung` where this rung
    excluded something.
    """
    for i in range(len(pair)):
        best[pair[i]] = 0
    for i in range(len(pair)):
        best[pair[i]] = max(best[pair[i]], agreed[i])
    for i in range(len(pair)):
        most = best[pair[i]]
        agrees = agreed[i] > 0 and agreed[i] == most
        keep[i] = (agrees or not crowded[i] or most == 0) and agreed[i] != CONTRADICTS
        if crowded[i] and agrees:
            rung[i] = level


def numbered(packet: Int64s, series: Int64s) -> Int64s:
    """Return a number for each pair, equal where the pairs are equal."""
    order = by_pair(packet, series)
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(packet[order]) != 0) | (np.diff(series[order]) != 0)
    made = np.empty(len(order), np.int64)
    made[order] = np.cumsum(new) - 1
    return made


def _crowded(packet: Int64s, series: Int64s) -> Bools:
    """Return pairs whose packet has several series, or whose series has several packets."""
    made = np.zeros(len(packet), np.bool_)
    of_packet = np.full(int(packet.max(initial=-1)) + 1, NONE, np.int32)
    of_series = np.full(int(series.max(initial=-1)) + 1, NONE, np.int32)
    _find_crowded(packet, series, of_packet, of_series, made)
    return made


@allocation_free
def _find_crowded(
    packet: Int64s,
    series: Int64s,
    of_packet: npt.NDArray[np.int32],
    of_series: npt.NDArray[np.int32],
    made: Bools,
) -> None:
    """Set `made`; `of_packet` becomes the only series of each packet, or SEVERAL."""
    for i in range(len(packet)):
        p, s = packet[i], series[i]
        if of_packet[p] != s:
            of_packet[p] = s if of_packet[p] == NONE else SEVERAL
        if of_series[s] != p:
            of_series[s] = p if of_series[s] == NONE else SEVERAL
    for i in range(len(packet)):
        made[i] = of_packet[packet[i]] == SEVERAL or of_series[series[i]] == SEVERAL


def _cut_later(wire: Columns, kernel: Columns) -> Bools:
    """Return pairs of a packet that is whole in the kernel and a fragment of it on the wire."""
    whole = (kernel["frag_off"] < 0) | ((kernel["frag_off"] & FRAGMENT) == 0)
    part = (wire["frag_off"] >= 0) & ((wire["frag_off"] & FRAGMENT) != 0)
    return np.asarray(whole & part)


def _compare(
    wire: Columns, kernel: Columns, columns: tuple[str, ...]
) -> tuple[Bools, npt.NDArray[np.int8]]:
    """Return which pairs agree in all columns that both sides know, and the number of these."""
    count = len(wire[columns[0]])
    same, known = np.ones(count, np.bool_), np.zeros(count, np.int8)
    for column in columns:
        both = (wire[column] >= 0) & (kernel[column] >= 0)
        same &= ~both | (wire[column] == kernel[column])
        known += both
    return same, known
