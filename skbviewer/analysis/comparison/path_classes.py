# SPDX-License-Identifier: MIT
"""Classes of passes that took the same path: the same functions, nested alike, in the same order.

A function that is called several times in a row, at the same depth, counts once.  Classes have
names that are equal in all recordings, because they are made of the functions' names.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s, UInt64s
from ...records.view_rows import LEG_KINDS
from ..stats import Scope
from .estimates import NS, PATHS, SHARE, Estimates, Measure
from .grouped_values import Grouped, by_block, means, percentiles, ratios
from .time_blocks import Blocks

MOST = 40  # classes of a recording that are compared, the most frequent ones
FACTOR = 0x9E3779B97F4A7C15  # of the polynomial: odd, so that it has an inverse modulo 2**64
ODD = 0xBF58476D1CE4E5B9
PART = Measure(PATHS, "share", SHARE, "passes", rate=True)
TIME = Measure(PATHS, "time in kernel", NS, "pass")
MEDIAN = TIME._replace(name="time in kernel, p50")


class PathClass(NamedTuple):
    """One class: its direction as in LEG_KINDS, and (depth, function) of one of its passes."""

    kind: str
    steps: tuple[tuple[int, str], ...]


class PathClasses(NamedTuple):
    """`of_leg` is the class of each usable leg, in their order, an index of `names`.

    `legs` are the usable legs.  `first` is one leg of each class, `number` how many it has.
    """

    legs: Int64s
    of_leg: Int64s
    names: tuple[str, ...]
    first: Int64s
    number: Int64s


def path_classes(scope: Scope) -> PathClasses:
    """Return the classes of all chosen legs without lost records."""
    legs = np.flatnonzero(scope.legs & ~scope.gaps)
    kinds = scope.of_leg("kind")
    key = (_hashes(scope) * np.uint64(len(LEG_KINDS)) + kinds.astype(np.uint64))[legs]
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
    """Return what the passes of these classes have in common, as far as the recording has them."""
    place = {name: at for at, name in enumerate(classes.names)}
    leg, kinds, depths = scope.leg_of_call, scope.of_leg("kind"), scope.of_call("depth")
    found = {}
    for name in names:
        if name in place:
            one = int(classes.first[place[name]])
            rows = np.flatnonzero(leg == one)
            rows = rows[_new_step(leg[rows], depths[rows], scope.function[rows])]
            called = [_name(scope, at) for at in scope.function[rows].tolist()]
            steps = tuple(zip(depths[rows].tolist(), called, strict=True))
            found[name] = PathClass(LEG_KINDS[int(kinds[one])], steps)
    return found


def path_estimates(
    scope: Scope, blocks: Blocks, classes: PathClasses, names: Sequence[str]
) -> dict[Measure, Estimates]:
    """Return shares and times of the classes `names`, as far as the recording has them."""
    place = {name: at for at, name in enumerate(classes.names)}
    there = [place[name] for name in names if name in place]
    known = tuple(classes.names[at] for at in there)
    index = np.full(len(classes.names), -1, np.int64)
    index[there] = np.arange(len(there))
    group = index[classes.of_leg]
    block = blocks.of_leg[classes.legs].astype(np.int64)
    passes = by_block(block, np.zeros(len(block), np.int64), blocks.number, 1)
    mine = np.flatnonzero(group >= 0)
    legs = classes.legs[mine]
    span = scope.of_leg("end_ns")[legs] - scope.of_leg("begin_ns")[legs]
    lossy = np.full(len(known), bool(np.any(scope.legs & scope.gaps)))
    size = blocks.number, blocks.longest
    grouped = Grouped(group[mine], np.maximum(span, 0), block[mine], known, *size, lossy)
    number = grouped.summed()
    share = ratios(known, number, passes, size, lossy)
    share = share._replace(number=number.sum(axis=0).astype(np.int64))
    return {PART: share, TIME: means(grouped), MEDIAN: percentiles(grouped, (50,))[0]}


def _hashes(scope: Scope) -> UInt64s:
    """Return a hash of each leg's path, for all legs of the session; 0 without calls."""
    leg, depth, function = scope.leg_of_call, scope.of_call("depth"), scope.function
    found = np.zeros(len(scope.legs), np.uint64)
    if not len(leg):
        return found
    rows = np.flatnonzero(_new_step(leg, depth, function))
    of_name = np.array([_hash(name) for name in [*scope.function_names, ""]], np.uint64)
    step = of_name[function[rows]] ^ ((depth[rows].astype(np.uint64) + 1) * np.uint64(ODD))
    step = (step ^ (step >> np.uint64(31))) * np.uint64(ODD)
    begin = np.flatnonzero(np.diff(leg[rows], prepend=-1))
    size = np.diff(begin, append=len(rows))
    position = np.arange(len(rows)) - np.repeat(begin, size)
    powers = np.cumprod(np.full(int(size.max()), FACTOR, np.uint64))
    found[leg[rows[begin]]] = np.add.reduceat(step * powers[position], begin)
    return found


def _new_step(leg: Int64s, depth: Int64s, function: Int64s) -> np.ndarray:
    """Return which calls, sorted by leg and entry, do not repeat the call before them."""
    new = np.ones(len(leg), np.bool_)
    for each, column in enumerate((leg, depth, function)):
        differs = column[1:] != column[:-1]
        new[1:] = differs if each == 0 else new[1:] | differs
    return new


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")


def _name(scope: Scope, function: int) -> str:
    return scope.function_names[function] if function >= 0 else ""
