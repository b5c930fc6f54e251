# SPDX-License-Identifier: MIT
"""Summarise the matches of each packet: its verdict, and its times in the kernel.

Input: the matches of a capture with each KBL, one KBL after the other.  Output: columns of table
`packet`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import (
    CONTESTED,
    EXACT,
    NAMELESS,
    SAMPLED_OUT,
    Matches,
    Rung,
    Sample,
    blocks,
    is_left_out,
)
from ...records import ColumnTable, Packets, part, scratch_of
from ...records.compiled import allocation_free
from ...records.types import Int32s, Int64s
from ...store import schema
from ..leg_times.packet_time_loops import NAMES as SPENT
from ..leg_times.packet_time_loops import SpentLegs
from ..leg_times.packet_times import sums
from .kernel_only_rows import WIRE_ONLY

OF_MATCH = ("packet", "leg", "verdict", "rung", "confidence")
PACKET, BEFORE, EXACTLY = 0, 1, 2  # previous row's packet, its earlier verdict; last exact packet

LOST = -2


class PacketSummary(NamedTuple):
    """Columns of schema.MATCH_COLUMNS for each packet; times and `functions` are -1 if unknown.

    While matches are added, times and `functions` are LOST if records of one of the legs may be
    lost.
    """

    verdict: npt.NDArray[np.uint8]
    rung: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]
    functions: Int32s
    kernel_ns: Int64s
    busy_ns: Int64s
    unknown_ns: Int64s
    cpu_ns: Int64s

    def note(
        self, found: Matches, legs: ColumnTable, spent: SpentLegs, has_times: bool = True
    ) -> None:
        """Improve verdicts and increase times of packets, by their matches with one more log.

        `legs` are the legs of that log, and `spent` are their times.  If the log has points only,
        `has_times` must be False.  If `has_times` is False, the times from other logs are kept.
        """
        for packets, why in ((found.lost, Rung.LACKING), (found.contested, CONTESTED)):
            self.rung[packets[self.verdict[packets] == WIRE_ONLY]] = why
        state = np.array([-1, 0, -1])
        called = self.functions if has_times else self.functions.copy()
        for some in blocks(len(found.rows)):
            packet, leg, verdict, rung, confidence = (
                np.ascontiguousarray(found.rows[name][some]) for name in OF_MATCH
            )
            functions = np.array(part(legs, "functions", leg), np.int32)
            functions[spent.gap[leg]] = LOST
            _fold(packet, verdict, rung, confidence, functions, state, *self[:3], called)
        if has_times:
            self._add_times(found, spent)

    def note_sampled(self, packets: Packets, sample: Sample) -> None:
        """Set the verdicts of the packets that `sample` left out, so that they say so.

        Only packets without a match get the verdict that the sample left them out.  Even if a
        connection was left out, its packets may have matches, for example if an address was
        rewritten after the choice.  If the sample is not sound, the log may lack records of any
        packet: then the verdict stays, and the reason says so.
        """
        out = is_left_out(packets, sample) & (self.verdict == WIRE_ONLY)
        if sample.sound:
            self.verdict[out] = SAMPLED_OUT
            self.rung[out] = Rung.UNCHOSEN_PACKET if sample.of_packets else Rung.UNCHOSEN
        else:
            self.rung[out] = Rung.LACKING

    def _add_times(self, found: Matches, spent: SpentLegs) -> None:
        """Add the packets' times (ns) in one log; times in logs of several hosts add up."""
        exact = np.flatnonzero(found.rows["verdict"] == EXACT)
        packet = found.rows["packet"][exact].astype(np.int64)
        new = np.r_[True, np.diff(packet) != 0][: len(packet)]  # matches are sorted by packet
        mine, leg = packet[new], found.rows["leg"][exact].astype(np.int64)
        times = sums(np.cumsum(new) - 1, leg, spent, len(mine))
        for name, ns in zip(SPENT, times, strict=True):
            column = getattr(self, name)
            before = column[mine]
            known = (ns >= 0) & (before != LOST)
            column[mine] = np.where(known, np.maximum(before, 0) + ns, LOST)

    def columns(self, rows: slice) -> dict[str, npt.NDArray[np.generic]]:
        """Return the verdicts and times of the packets `rows`, as columns of table `packet`."""
        made = {name: column[rows] for name, column in self._asdict().items()}
        return made | {name: np.maximum(made[name], -1) for name in ("functions", *SPENT)}


def no_matches(packets: Packets) -> PacketSummary:
    """Return a summary in which no packet has a match."""
    scratch, columns = scratch_of(packets), schema.MATCH_COLUMNS
    first = dict(zip(PacketSummary._fields, (WIRE_ONLY, 0, 0, *(-1,) * 5), strict=True))
    made = PacketSummary(
        **{name: scratch.full(len(packets), columns[name], value) for name, value in first.items()}
    )
    made.rung[packets["ip_version"] == 0] = NAMELESS
    return made


@allocation_free
def _fold(
    packet: Int64s,
    verdict: npt.NDArray[np.uint8],
    rung: npt.NDArray[np.int8],
    confidence: npt.NDArray[np.float64],
    functions: Int32s,
    state: Int64s,
    best: npt.NDArray[np.uint8],
    best_rung: npt.NDArray[np.int8],
    best_confidence: npt.NDArray[np.float64],
    called: Int32s,
) -> None:
    """Improve the best verdict of each packet by further matches, which are sorted by packet.

    If several matches are better than the best verdict so far, the last of these matches is used.

    The number of functions in exact matches is added up, too; a negative number means that records
    were lost, so that the number is unknown.  The caller passes `state` on from one block to the
    next.
    """
    for i in range(len(packet)):
        at = packet[i]
        if at != state[PACKET]:
            state[PACKET], state[BEFORE] = at, best[at]
        if verdict[i] < state[BEFORE]:
            best[at], best_rung[at], best_confidence[at] = verdict[i], rung[i], confidence[i]
        if verdict[i] != EXACT:
            continue
        if at != state[EXACTLY] and called[at] != LOST:
            called[at] = max(called[at], 0)
        state[EXACTLY] = at
        if functions[i] < 0 or called[at] == LOST:
            called[at] = LOST
        else:
            called[at] += functions[i]
