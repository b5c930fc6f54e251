# SPDX-License-Identifier: MIT
"""The rungs of the identity ladder, and how candidate pairs are compared on them.

Input: pairs of a packet and a footprint.  Output: the pairs whose values differ on no rung, and for
each pair the rung on which it had no more rivals.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ...records import Packets
from ...records.types import Bools, Int64s
from ..arrays.array_blocks import blocks
from ..arrays.hash_join import by_pair
from .identity_columns import LENGTH, NONE, RUNGS, Columns, Footprints, Known
from .identity_ladder_loops import CONTRADICTS, CUT, FRAGMENT, find_crowded, take_rung


def alike(left: Known, i: Int64s, right: Known, j: Int64s, names: Iterable[str]) -> Bools:
    """Return for each pair of rows left[i] and right[j] whether all columns `names` are equal."""
    made, names = np.ones(len(i), np.bool_), tuple(names)
    for some in blocks(len(i)):
        wire, kernel = left.columns(i[some], names), right.columns(j[some], names)
        for name in names:
            made[some] &= wire[name] == kernel[name]
    return made


def climb(
    packets: Packets, prints: Footprints, packet: Int64s, shown: Int64s, rung: npt.NDArray[np.int8]
) -> tuple[Int64s, Int64s, npt.NDArray[np.int8]]:
    """Return the pairs (packet, row of `prints`) that are left after all rungs, and their rungs.

    Pair i is `packet[i]` and `shown[i]`; it begins on the rung `rung[i]` or on a rung above it.
    """
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
    """Return for each of `pairs`, which have no rivals, whether its values agree on every rung."""
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
    """Return the result of climb() for pairs that have rivals."""
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
        pair = pair_numbers(packet, prints.series[shown])
        best = np.empty(int(pair.max(initial=-1)) + 1, np.int8)
        take_rung(int(level), pair, agreed, crowded, best, rung, keep)
        packet, shown, rung = packet[keep], shown[keep], rung[keep]
    return packet, shown, rung


def pair_numbers(packet: Int64s, series: Int64s) -> Int64s:
    """Return a number (from 0) for each pair (packet[i], series[i]), the same for equal pairs."""
    order = by_pair(packet, series)
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(packet[order]) != 0) | (np.diff(series[order]) != 0)
    made = np.empty(len(order), np.int64)
    made[order] = np.cumsum(new) - 1
    return made


def _crowded(packet: Int64s, series: Int64s) -> Bools:
    """Return for each pair whether its packet has several series, or its series several packets."""
    made = np.zeros(len(packet), np.bool_)
    of_packet = np.full(int(packet.max(initial=-1)) + 1, NONE, np.int32)
    of_series = np.full(int(series.max(initial=-1)) + 1, NONE, np.int32)
    find_crowded(packet, series, of_packet, of_series, made)
    return made


def _cut_later(wire: Columns, kernel: Columns) -> Bools:
    """Return for each pair whether the packet is whole in the kernel and a fragment on the wire."""
    whole = (kernel["frag_off"] < 0) | ((kernel["frag_off"] & FRAGMENT) == 0)
    part = (wire["frag_off"] >= 0) & ((wire["frag_off"] & FRAGMENT) != 0)
    return np.asarray(whole & part)


def _compare(
    wire: Columns, kernel: Columns, columns: tuple[str, ...]
) -> tuple[Bools, npt.NDArray[np.int8]]:
    """Compare the columns that both sides have; return two arrays by pair.

    The first array is True where all compared columns are equal; the second counts the equal
    columns.
    """
    count = len(wire[columns[0]])
    same, known = np.ones(count, np.bool_), np.zeros(count, np.int8)
    for column in columns:
        both = (wire[column] >= 0) & (kernel[column] >= 0)
        same &= ~both | (wire[column] == kernel[column])
        known += both
    return same, known
