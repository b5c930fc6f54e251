# SPDX-License-Identifier: MIT
"""Classes of passes that took the same path: the same functions, nested alike, in the same order.

A function that is called several times in succession, at the same depth, counts once.  A class has
the same name in all recordings, because the name is made of the functions' names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ...records.view_rows import LEG_KINDS
from ..stats import Scope
from .call_sums import CallSums
from .estimates import NS, PATHS, SHARE, Estimates, Measure
from .grouped_values import Grouped, keys_of, means, passes_of, percentiles, ratios
from .grouped_values import sums as sums_of
from .time_blocks import Blocks

MOST = 40  # most classes of a recording that are compared: the most frequent ones
PART = Measure(PATHS, "share", SHARE, "passes of its direction", rate=True)
TIME = Measure(PATHS, "time in kernel", NS, "pass")
MEDIAN = TIME._replace(name="time in kernel, p50")


class PathClass(NamedTuple):
    """One class: its direction as in LEG_KINDS, and (depth, function) of one of its passes."""

    kind: str
    steps: tuple[tuple[int, str], ...]


class PathClasses(NamedTuple):
    """`of_leg` is the class of each usable leg, in their order, as an index of `names`.

    `legs` are the usable legs.  By class: `first` is one of its legs, `number` the number of legs.
    """

    legs: Int64s
    of_leg: Int64s
    names: tuple[str, ...]
    first: Int64s
    number: Int64s


def path_classes(scope: Scope, sums: CallSums) -> PathClasses:
    """Return the classes of all chosen legs without lost records."""
    legs = np.flatnonzero(sums.usable)
    kinds = scope.of_leg("kind")[legs].astype(np.uint64)
    key = sums.path[legs] * np.uint64(len(LEG_KINDS)) + kinds
    values = np.unique(key)  # its inverse would need a slower kind of sorting
    of_leg = np.searchsorted(values, key)
    names = tuple(f"{value:016x}" for value in values.tolist())
    first = np.zeros(len(names), np.int64)
    first[of_leg[::-1]] = legs[::-1]
    return PathClasses(legs, of_leg, names, first, np.bincount(of_leg, minlength=len(names)))


def frequent(classes: PathClasses) -> list[str]:
    """Return the names of the MOST frequent classes."""
    order = np.argsort(-classes.number, kind="stable")[:MOST]
    return [classes.names[at] for at in order.tolist()]


def described(scope: Scope, classes: PathClasses, names: Sequence[str]) -> dict[str, PathClass]:
    """Return the direction and steps of these classes, if the recording has them."""
    place = {name: at for at, name in enumerate(classes.names)}
    columns, kinds = scope.columns, scope.of_leg("kind")
    leg = columns.array("call", "leg")
    source = scope.of_leg("source")
    found = {}
    for name in names:
        if name in place:
            one = int(classes.first[place[name]])
            rows = np.arange(*np.searchsorted(leg, [one + 1, one + 2]))
            rows = rows[scope.calls[rows]]
            depth, func = (
                np.asarray(columns.array("call", column)[rows], np.int64)
                for column in ("depth", "func")
            )
            new = _new_step(depth, func)
            known = scope.kernels[int(source[one])].functions
            called = [known.get(probe, "") for probe in func[new].tolist()]
            steps = tuple(zip(depth[new].tolist(), called, strict=True))
            found[name] = PathClass(LEG_KINDS[int(kinds[one])], steps)
    return found


def path_estimates(
    scope: Scope, blocks: Blocks, classes: PathClasses, names: Sequence[str]
) -> dict[Measure, Estimates]:
    """Return shares and times of the classes `names`, if the recording has them.

    A share is that of all passes in the same direction.
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


def _new_step(depth: Int64s, function: Int64s) -> Bools:
    """Return which calls of a leg do not repeat the call before them."""
    new = np.ones(len(depth), np.bool_)
    new[1:] = (depth[1:] != depth[:-1]) | (function[1:] != function[:-1])
    return new
