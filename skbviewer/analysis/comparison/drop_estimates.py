# SPDX-License-Identifier: MIT
"""Estimates of how often packets were dropped, by reason and function."""

from __future__ import annotations

import numpy as np

from ...readers import KblEvent
from ...records.types import Int64s
from ..stats import Scope
from ..words.kernel_log_names import MASK64
from .estimates import COUNT, DROPS, Estimates, Measure
from .group_statistics import Grouped, counts_of, keys_of, ratios, sums
from .leg_directions import own_passes
from .time_blocks import Blocks

RATE = Measure(DROPS, "drops", COUNT, "pass", rate=True)
MASK32 = 0xFFFFFFFF


def drop_estimates(scope: Scope, blocks: Blocks) -> dict[Measure, Estimates]:
    """Return the number of drops per pass for each pair of reason and function.

    Reasons are compared by name, because different kernels number the reasons differently.  Places
    are compared by function, because offsets in a function differ between kernels.  A leg counts
    for the block in which it begins.
    """
    columns = scope.columns
    event = np.asarray(columns.array("event", "event"))
    leg = np.asarray(columns.array("event", "leg"), np.int64) - 1
    meant = np.flatnonzero((event == int(KblEvent.DROP)) & (leg >= 0))
    meant = meant[scope.legs[leg[meant]]]
    leg = leg[meant]
    source, data = (scope.of_event(name, meant) for name in ("source", "data"))
    names, group = _groups(scope, source, data)
    lossy = np.full(len(names), bool(np.any(scope.legs & scope.gaps)))
    nothing = np.zeros(len(leg), np.int64)
    drops = Grouped(keys_of(group, nothing), blocks.of_leg[leg], names, blocks, lossy)
    _, number = sums(drops)
    passes = counts_of(blocks.of_leg[own_passes(scope)], blocks)
    made = ratios(names, number, passes, blocks, lossy)
    return {RATE: made._replace(number=number[: blocks.first_group].sum(axis=0).astype(np.int64))}


def _groups(scope: Scope, source: Int64s, data: Int64s) -> tuple[tuple[str, ...], Int64s]:
    """Return the names of all groups ("reason in function"), and the index of each drop's group."""
    pairs, which = np.unique(np.stack([source, data], axis=1), axis=0, return_inverse=True)
    titles = []
    for number, value in pairs.tolist():
        names = scope.kernels[number].names
        function = names.symbol_at_offset((value & MASK64) >> 32).split("+")[0]
        reason = names.drop_reason(value & MASK32)
        titles.append(f"{reason} in {function}" if function else reason)
    found = tuple(sorted(set(titles)))
    place = np.array([found.index(title) for title in titles], np.int64)
    return found, place[which.reshape(-1)] if len(titles) else np.zeros(0, np.int64)
