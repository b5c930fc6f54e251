# SPDX-License-Identifier: MIT
"""The parts of each packet's time in kernel: they add up to it exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.types import Bools, Int32s, Int64s
from ..words.wait_kinds import INTERRUPTS, NAMES, OTHERS, UNKNOWN
from .leg_columns import LegColumns, leg_columns
from .lost_packets import legs_of_lost_packets
from .part_loops import EXTRA, PROBES, WAITS, Scratch, count_pieces, divide, scratch_for
from .path_classes import PathClasses, path_classes
from .stage_loops import STAGES
from .units import Units, units_of

if TYPE_CHECKING:
    from ..stats.scope import Scope

BUSY, WAIT, OTHER, PROBE, NOWHERE = "busy", "wait", "other work", "probes", "unknown"
WITHOUT_PROBE = "functions without a probe"
THE_PROBES = "the probes themselves"
KEPT_BYTES = 256 << 20  # largest facts that are kept for later tables of the session
ROW_BYTES = {"packet": 60, "leg": 60, "call": 20, "wait": 17}  # of facts, by table
BLOCK = 1 << 20  # number of parts for which memory is allocated at first


class Part(NamedTuple):
    """A part of the time: its kind, name, layer (of busy time only) and stage."""

    kind: str
    name: str
    layer: str
    stage: str


class Parts(NamedTuple):
    """Parts of packets' times.

    By part: `unit` is its packet, an index of `units`; `place` is its number, which
    Breakdown.part_at() explains; `ns` is the time.
    """

    unit: Int32s
    place: Int32s
    ns: Int64s


class Facts(NamedTuple):
    """The packets of a session, their legs and their path classes."""

    units: Units
    legs: LegColumns
    classes: PathClasses


def legs_of(scope: Scope) -> LegColumns:
    """Return the columns of all legs of the session.  Raises Cancelled."""
    return _facts_of(scope).legs if _are_kept(scope) else leg_columns(scope)


def _are_kept(scope: Scope) -> bool:
    size = sum(scope.columns.length(table) * row for table, row in ROW_BYTES.items())
    return scope.fields is not None and size <= KEPT_BYTES


def _facts_of(scope: Scope) -> Facts:
    """Return the facts about all packets of the session; they are kept if they are small.

    Raises Cancelled.
    """

    def found() -> Facts:
        units, legs = units_of(scope), leg_columns(scope)
        return Facts(units, legs, path_classes(units, legs))

    if scope.fields is None or not _are_kept(scope):
        return found()
    what = "breakdown of all skbs" if scope.has_everything else "breakdown"
    kept: Facts = scope.fields.cached(what, found)
    return kept


class Breakdown:
    """The packets of a session, their path classes, and the parts of their times."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.units, self.legs, self.classes = _facts_of(scope)
        self.functions: Sequence[str] = scope.function_names
        self.per_stage = len(self.functions) + EXTRA

    @cached_property
    def lost(self) -> Bools:
        """Return for each leg whether a drop in it lost its packet."""
        return legs_of_lost_packets(self._scope)

    @property
    def part_count(self) -> int:
        """Return the number of parts of all stages together."""
        return self.per_stage * len(STAGES)

    @property
    def calibrated(self) -> bool:
        """Return whether the cost of probes is known for at least one log."""
        return bool(self.legs.edge.any())

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
        """Return the index, in its stage, of the part for waits of the kind `kind`."""
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
        units, legs = self.units, self.legs
        rows, at = np.ascontiguousarray(rows, np.int64), 0
        space = self._space(rows)
        made = np.empty((3, max(BLOCK, 2 * self.part_count)), np.int64)
        while at < len(rows):
            self._scope.progress.report("Counting", at, len(rows))
            counts = np.zeros(1, np.int64)
            given = units.at, units.legs, legs, self.per_stage, space, made, counts
            at = int(divide(rows, at, *given))
            unit, place, ns = made[:, : counts[0]]
            yield Parts(rows[unit].astype(np.int32), place.astype(np.int32), ns.copy())

    def _space(self, rows: Int64s) -> Scratch:
        """Return scratch space that suffices for each of the packets `rows`, indices of `units`."""
        units, legs = self.units, self.legs
        needed = np.zeros(2, np.int64)
        count_pieces(rows, units.at, units.legs, legs.calls_at, legs.waits_at, needed)
        return scratch_for(2 * int(needed[0]) + 8, int(needed[1]), self.per_stage)
