# SPDX-License-Identifier: MIT
"""The path classes of a recording's passes; a class has the same name in all recordings.

A pass is one leg, so its path is the path of a packet that has only this leg
(breakdown/path_class_rule.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from ...records.view_rows import LEG_KINDS
from ..breakdown.lost_packets import legs_of_lost_packets
from ..breakdown.path_class_rule import OFF, path_name, step_numbers
from ..stats import Scope
from .call_sums import CallSums
from .estimates import NS, PATHS, SHARE, Estimates, Measure
from .group_statistics import Grouped, keys_of, means, passes_of, percentiles, ratios
from .group_statistics import sums as sums_of
from .time_blocks import Blocks

MOST_KEPT = 1 << 14  # most classes of a recording that are measured
PART = Measure(PATHS, "share", SHARE, "passes of its direction", rate=True)
TIME = Measure(PATHS, "time in kernel", NS, "pass")
MEDIAN = TIME._replace(name="time in kernel, p50")


class PathClass(NamedTuple):
    """A path class: its direction as in LEG_KINDS, and its functions in the order of first calls.

    `steps` are pairs (depth, function); `depth` is the depth of the function's first call in one of
    the passes.  If `dropped` is true, the kernel dropped the skbs; `lost` then says whether
    recording A or B lost a packet that way.
    """

    kind: str
    dropped: bool
    steps: tuple[tuple[int, str], ...]
    lost: bool = False


class PathClasses(NamedTuple):
    """The path classes of a recording's passes, sorted by the number of the path.

    `legs` are the usable legs that are not copies for sniffers.  `of_leg` is the class of each of
    `legs`, as an index of `names`.  For each class, `first` is one of its legs, and `number` says
    how many legs it has.
    """

    legs: Int64s
    of_leg: Int64s
    names: tuple[str, ...]
    first: Int64s
    number: Int64s


def path_classes(scope: Scope, sums: CallSums) -> PathClasses:
    """Return the path classes of the chosen passes that lost no records; `sums` has their paths.

    Copies for sniffers do not count as passes.
    """
    legs = np.flatnonzero(sums.staged)
    key = sums.path[legs]
    values = np.unique(key)  # its inverse would need a slower kind of sorting
    of_leg = np.searchsorted(values, key)
    names = tuple(map(path_name, values.tolist()))
    first = np.zeros(len(names), np.int64)
    first[of_leg[::-1]] = legs[::-1]
    return PathClasses(legs, of_leg, names, first, np.bincount(of_leg, minlength=len(names)))


def kept_names(classes: PathClasses) -> tuple[str, ...]:
    """Return the names of the classes that are measured, the most frequent first."""
    order = np.argsort(-classes.number, kind="stable")[:MOST_KEPT]
    return tuple(classes.names[at] for at in order.tolist())


def described(scope: Scope, classes: PathClasses, names: Sequence[str]) -> dict[str, PathClass]:
    """Return the direction and the steps of each class in `names`, by name.

    Classes without a leg are left out.
    """
    place = {name: at for at, name in enumerate(classes.names)}
    kinds, leg = scope.of_leg("kind"), scope.columns.array("call", "leg")
    dropped = scope.of_leg("drop_reason") >= 0
    numbers = step_numbers(scope.function_names, scope.layer_names)
    found = {}
    for name in names:
        if name in place:
            one = int(classes.first[place[name]])
            rows = slice(*np.searchsorted(leg, [one + 1, one + 2]).tolist())
            steps = _steps(scope, one, rows, numbers)
            found[name] = PathClass(LEG_KINDS[int(kinds[one])], bool(dropped[one]), steps)
    return found


def losing(scope: Scope, classes: PathClasses) -> tuple[str, ...]:
    """Return the names of the classes that have a leg in which the kernel lost a packet."""
    lost = legs_of_lost_packets(scope)[classes.legs]
    return tuple(classes.names[at] for at in np.unique(classes.of_leg[lost]).tolist())


def _steps(scope: Scope, leg: int, rows: slice, numbers: Int64s) -> tuple[tuple[int, str], ...]:
    """Return (depth, function) for each step of a leg's path; `rows` are the leg's calls."""
    depth, func, entry = (
        np.asarray(scope.columns.array("call", column)[rows], np.int64)
        for column in ("depth", "func", "entry_ns")
    )
    function = scope.functions_of(func, np.full(len(func), scope.of_leg("source")[leg]))
    begin, end = int(scope.of_leg("begin_ns")[leg]), int(scope.of_leg("end_ns")[leg])
    steps = np.flatnonzero((numbers[function] != OFF) & (begin <= entry) & (entry < end))
    steps = steps[np.sort(np.unique(function[steps], return_index=True)[1])]
    names = [scope.function_names[at] for at in function[steps].tolist()]
    return tuple(zip(depth[steps].tolist(), names, strict=True))


def path_estimates(
    scope: Scope, blocks: Blocks, classes: PathClasses, names: Sequence[str]
) -> dict[Measure, Estimates]:
    """Return shares and times of those classes in `names` that the recording has.

    The share of a class refers to all passes in the same direction.  `blocks` are the blocks of the
    same `scope`.
    """
    place = {name: at for at, name in enumerate(classes.names)}
    there = [place[name] for name in names if name in place]
    known = tuple(classes.names[at] for at in there)
    index = np.full(len(classes.names), -1, np.int64)
    index[there] = np.arange(len(there))
    group = index[classes.of_leg]
    block = blocks.of_leg[classes.legs]
    passes = passes_of(scope.of_leg("kind")[classes.legs], block, blocks)
    of = scope.of_leg("kind")[classes.first[there]]
    mine = np.flatnonzero(group >= 0)
    legs = classes.legs[mine]
    span = scope.of_leg("end_ns")[legs] - scope.of_leg("begin_ns")[legs]
    lossy = np.full(len(known), bool(np.any(scope.legs & scope.gaps)))
    grouped = Grouped(keys_of(group[mine], span), block[mine], known, blocks, lossy)
    _, number = sums_of(grouped)
    share = ratios(known, number, passes[:, of], blocks, lossy)
    share = share._replace(number=number[: blocks.first_group].sum(axis=0).astype(np.int64))
    return {PART: share, TIME: means(grouped), MEDIAN: percentiles(grouped, (50,))[0]}
