# SPDX-License-Identifier: MIT
"""The parts into which each packet's time in kernel is divided: their sum is the time in kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.types import Int32s, Int64s
from ..parallel_blocks import each_made
from ..words.wait_kinds import INTERRUPTS, NAMES, OTHERS, UNKNOWN
from .calibrated_probe_cost import costs_of
from .leg_columns import legs_of_units
from .leg_stage_loops import STAGES
from .lost_packets import legs_of_lost_packets
from .stored_path_classes import facts_of
from .time_part_loops import EXTRA, PROBES, WAITS, count_pieces, divide, scratch_for

if TYPE_CHECKING:
    from ..scope import Scope

BUSY, WAIT, OTHER, PROBE, NOWHERE = "busy", "wait", "other work", "probes", "unknown"
WITHOUT_PROBE = "functions without a probe"
THE_PROBES = "the probes themselves"
UNITS, ALONE = 1 << 17, 1 << 20  # packets, and rows K<n>, whose legs are read together
BLOCK = 1 << 20  # number of parts for which memory is allocated at first


class Part(NamedTuple):
    """A part of the time in kernel: its kind, name, stage and, if it is busy time, its layer."""

    kind: str
    name: str
    layer: str
    stage: str


class Parts(NamedTuple):
    """Parts of packets' times.

    `unit` is the packet, as an index of `units`.  `place` is the number of the part, see
    Breakdown.part_at().  `ns` is the time.
    """

    unit: Int32s
    place: Int32s
    ns: Int64s


class Breakdown:
    """The packets of a session, their path classes, and the parts of their times."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.units, self.classes = facts_of(scope)
        self.functions: Sequence[str] = scope.function_names
        self.per_stage = len(self.functions) + EXTRA

    def losses(self, rows: Int64s) -> frozenset[tuple[int, int]]:
        """Return the drops that lost packets of `rows`, as pairs of path class and leg.

        `rows` are indices in `units`, rising.  The number of a leg is its index among the legs of
        its packet.
        """
        at = np.flatnonzero(legs_of_lost_packets(self._scope)[np.asarray(self.units.legs)])
        unit = self.units.rows_with_legs(at)
        mine = np.isin(unit, rows)
        place = at[mine] - self.units.at[unit[mine]]
        pairs = np.unique(np.stack([self.classes.number[unit[mine]], place]), axis=1)
        return frozenset(zip(*pairs.tolist(), strict=True))

    @property
    def part_count(self) -> int:
        """Return the number of parts of all stages together."""
        return self.per_stage * len(STAGES)

    @property
    def calibrated(self) -> bool:
        """Return whether the cost of probes is known for at least one log."""
        return bool(costs_of(self._scope)[0].any())

    def directions(self, row: int) -> list[tuple[int, bool]]:
        """Return the direction of each leg of a packet, and whether the leg ended in a drop.

        `row` is the packet's index in `units`.
        """
        legs, columns = self.units.legs_of(np.array([row]))[0], self._scope.columns
        kind, reason = (columns.take("leg", name, legs) for name in ("kind", "drop_reason"))
        return [(int(one), bool(why >= 0)) for one, why in zip(kind, reason, strict=True)]

    def part_at(self, place: int) -> Part:
        """Return the part with the number `place`: stage * per_stage + index in the stage."""
        stage, part = divmod(place, self.per_stage)
        after = part - len(self.functions)
        if after < 0:
            return Part(BUSY, self.functions[part], self._scope.layer_names[part], STAGES[stage])
        if after == PROBES:
            return Part(PROBE, THE_PROBES, "", STAGES[stage])
        if after < WAITS:
            return Part(BUSY, WITHOUT_PROBE, "", STAGES[stage])
        rank = after - WAITS
        kind = OTHER if rank in (OTHERS, INTERRUPTS) else NOWHERE if rank in UNKNOWN else WAIT
        return Part(kind, NAMES[rank], "", STAGES[stage])

    def of_wait(self, kind: int) -> int:
        """Return the index that the part for waits of the kind `kind` has in each stage."""
        return len(self.functions) + WAITS + kind

    def divided(self, rows: Int64s) -> Parts:
        """Return the parts of the times of packets.

        `rows` are the packets' indices in `units`.  Raises Cancelled.
        """
        blocks = list(self.blocks(rows))
        nothing = np.zeros(0, np.int32)
        if not blocks:
            return Parts(nothing, nothing, np.zeros(0, np.int64))
        return Parts(*(np.concatenate(column) for column in zip(*blocks, strict=True)))

    def blocks(self, rows: Int64s) -> Iterator[Parts]:
        """Yield the parts of the times of packets, block by block.

        `rows` are the packets' indices in `units`.  Raises Cancelled.
        """
        rows = np.ascontiguousarray(rows, np.int64)
        captured = int(np.count_nonzero(rows < self.units.captured))
        # Rows K<n> are spread over all legs: the more are read together, the better.
        ends = [
            *range(UNITS, captured, UNITS),
            captured,
            *range(captured + ALONE, len(rows), ALONE),
        ]
        blocks = [rows[first:end] for first, end in pairwise([0, *ends, len(rows)]) if first < end]
        done = 0
        for block, made in zip(blocks, each_made(self._of_units, blocks), strict=True):
            self._scope.progress.report("Counting", done, len(rows))
            done += len(block)
            yield from made

    def _of_units(self, rows: Int64s) -> list[Parts]:
        """Return the parts of the times of the packets `rows`; their legs are read together."""
        of, at, legs = legs_of_units(self._scope, self.units, rows)
        every, parts = np.arange(len(rows)), list[Parts]()
        needed = np.zeros(2, np.int64)
        count_pieces(every, at, of, legs.calls_at, legs.waits_at, needed)
        space = scratch_for(2 * int(needed[0]) + 8, int(needed[1]), self.per_stage)
        made = np.empty((3, max(BLOCK, 2 * self.part_count)), np.int64)
        next_ = 0
        while next_ < len(rows):
            counts = np.zeros(1, np.int64)
            next_ = int(divide(every, next_, at, of, legs, self.per_stage, space, made, counts))
            unit, place, ns = made[:, : counts[0]]
            parts.append(Parts(rows[unit].astype(np.int32), place.astype(np.int32), ns.copy()))
        return parts
