# SPDX-License-Identifier: MIT
"""What a comparison needs to know about one recording: estimates, path classes, and amounts.

An import of a large recording stores these measurements, because measuring takes nearly a minute.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..stats import Scope
from ..stats.leg_stages import sniffed_legs
from .call_sums import CallSums, call_sums
from .drop_estimates import drop_estimates
from .estimates import Estimates, Measure
from .function_estimates import function_estimates
from .leg_estimates import layer_estimates, total_estimates
from .path_classes import (
    PathClass,
    described,
    kept_names,
    losing,
    path_classes,
    path_estimates,
)
from .reasons_not_comparable import what_it_lacks
from .time_blocks import Blocks, time_blocks

MAX_CLASSES = 40  # most classes of a recording that are compared: the most frequent ones


class Amount(NamedTuple):
    """How many packets, passes and copies are in the compared part of a recording.

    `passes` are legs of the packets themselves; `copies` are legs of copies for sniffers.
    `left_out` is the number of legs that are left out because they may lack records.
    """

    packets: int
    passes: int
    copies: int
    calls: int
    left_out: int
    blocks: int  # of time; 0 = too few passes to judge anything
    span_ns: int  # from the start of the first pass to that of the last one


class Measurements(NamedTuple):
    """The measurements of one recording.

    `estimates` include the path classes `kept`, the most frequent first.  `has_all` says whether
    `kept` are all path classes of the recording.  `frequent` describes the most frequent path
    classes, by name.  `losing` are the classes in whose legs the kernel lost packets.  `lacks` says
    what prevents a judgement; it is "" if nothing does.
    """

    amount: Amount
    estimates: tuple[tuple[Measure, Estimates], ...]
    kept: tuple[str, ...]
    has_all: bool
    frequent: tuple[tuple[str, PathClass], ...]
    losing: tuple[str, ...]
    lacks: str


def measure(scope: Scope) -> Measurements:
    """Measure the passes that `scope` chooses, and return the results.  Raises Cancelled."""
    blocks = time_blocks(scope)
    sums = call_sums(scope, blocks)
    classes = path_classes(scope, sums)
    kept = kept_names(classes)
    estimates = _estimates(scope, blocks, sums) | path_estimates(scope, blocks, classes, kept)
    frequent = described(scope, classes, kept[:MAX_CLASSES])
    return Measurements(
        _amount(scope, blocks),
        tuple(estimates.items()),
        kept,
        len(kept) == len(classes.names),
        tuple(frequent.items()),
        losing(scope, classes),
        what_it_lacks(scope),
    )


def _estimates(scope: Scope, blocks: Blocks, sums: CallSums) -> dict[Measure, Estimates]:
    return {
        **total_estimates(scope, blocks),
        **layer_estimates(scope, blocks, sums),
        **function_estimates(scope, blocks, sums),
        **drop_estimates(scope, blocks),
    }


def _amount(scope: Scope, blocks: Blocks) -> Amount:
    legs = np.flatnonzero(scope.legs)
    begin = scope.of_leg("begin_ns")[legs]
    source = scope.of_leg("source")[legs]
    copies = int(sniffed_legs(scope, legs).sum())
    spans = [np.ptp(begin[source == one]) for one in np.unique(source).tolist()]
    return Amount(
        len(scope.packets),
        len(legs) - copies,
        copies,
        int(scope.once.sum()),
        int((scope.legs & scope.gaps).sum()),
        blocks.number,
        int(max(spans, default=0)),
    )
