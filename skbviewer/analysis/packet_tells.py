# SPDX-License-Identifier: MIT
"""What the matches of a capture with KBLs tell of each packet: verdict and time in the kernel.

In: matches with one KBL after the other.  Out: columns of table `packet`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import CONTESTED, EXACT, NAMELESS, Matches, blocks
from ..records import ColumnTable, Packets, part, room_of
from ..records.compiled import lean
from ..store import schema
from .kernel_only import WIRE_ONLY

OF_MATCH = ("packet", "leg", "verdict", "rung", "confidence")
OF_LEG = ("begin_ns", "end_ns", "functions")
PACKET, BEFORE, EXACTLY = 0, 1, 2  # the packet of the row before, its verdict; the last exact one

LOST = -2

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class PacketTells(NamedTuple):
    """Columns of schema.MATCH_COLUMNS, one row a packet; time and functions are -1 if unknown.

    They are LOST meanwhile if records of a leg may be.
    """

    verdict: npt.NDArray[np.uint8]
    rung: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]
    kernel_ns: Index
    functions: Small

    def note(self, found: Matches, legs: ColumnTable, gap: Flags) -> None:
        """Fold in the matches with one more KBL, which has these legs; `gap`: records are lost."""
        lost = found.contested[self.verdict[found.contested] == WIRE_ONLY]
        self.rung[lost] = CONTESTED
        state = np.array([-1, 0, -1])
        for some in blocks(len(found.rows)):
            packet, leg, verdict, rung, confidence = (
                np.ascontiguousarray(found.rows[name][some]) for name in OF_MATCH
            )
            begin, end, functions = (part(legs, name, leg) for name in OF_LEG)
            spent = np.where(gap[leg], LOST, end - begin)
            _fold(packet, verdict, rung, confidence, spent, functions, state, *self)

    def columns(self, rows: slice) -> dict[str, npt.NDArray[np.generic]]:
        """The columns of some packets, as they are stored."""
        made = {name: column[rows] for name, column in self._asdict().items()}
        return made | {name: np.maximum(made[name], -1) for name in ("kernel_ns", "functions")}


def untold(packets: Packets) -> PacketTells:
    """Of packets without any match."""
    room, columns = room_of(packets), schema.MATCH_COLUMNS
    first = dict(zip(PacketTells._fields, (WIRE_ONLY, 0, 0, -1, -1), strict=True))
    made = PacketTells(
        **{name: room.full(len(packets), columns[name], value) for name, value in first.items()}
    )
    made.rung[packets["ip_version"] == 0] = NAMELESS
    return made


@lean
def _fold(
    packet: Index,
    verdict: npt.NDArray[np.uint8],
    rung: npt.NDArray[np.int8],
    confidence: npt.NDArray[np.float64],
    kernel_ns: Index,
    functions: Small,
    state: Index,
    best: npt.NDArray[np.uint8],
    best_rung: npt.NDArray[np.int8],
    best_confidence: npt.NDArray[np.float64],
    spent: Index,
    called: Small,
) -> None:
    """Matches sorted by packet: the last of those better than what was told before, and the sums
    of exact ones, whose time is below 0 if it is lost; `state` is of the matches before.
    """
    for i in range(len(packet)):
        at = packet[i]
        if at != state[PACKET]:
            state[PACKET], state[BEFORE] = at, best[at]
        if verdict[i] < state[BEFORE]:
            best[at], best_rung[at], best_confidence[at] = verdict[i], rung[i], confidence[i]
        if verdict[i] != EXACT:
            continue
        if at != state[EXACTLY] and spent[at] != LOST:
            spent[at], called[at] = max(spent[at], 0), max(called[at], 0)
        state[EXACTLY] = at
        if kernel_ns[i] < 0 or spent[at] == LOST:
            spent[at], called[at] = LOST, LOST
        else:
            spent[at] += kernel_ns[i]
            called[at] += functions[i]
