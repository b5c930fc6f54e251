# SPDX-License-Identifier: MIT
"""Compare the calls of legs with those of similar legs: loops of missed_probe_hits.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, allocation_free
from ...records.types import Bools, Int64s

Hashes = npt.NDArray[np.uint64]


class Windows(NamedTuple):
    """Windows of time, from `first` to `last` (ns), in which probes missed hits.

    In window i, the functions func[at[i]:at[i + 1]] were missed, func[j] at most most[j] times.
    """

    first: Int64s
    last: Int64s
    at: Int64s
    func: Int64s
    most: Int64s


class Bags(NamedTuple):
    """Multisets of the calls that legs, or lifetimes, have.

    Bag i has most[j] calls of func[j] for j from at[i] to at[i + 1].  By leg: `of` is the leg's
    bag.  By bag: `legs` is the number of legs that have it.  Legs of different kinds have different
    bags.  By function: `of_func` is a random number.  `hash`, by bag, is the sum of these numbers
    over all calls, plus a random number for the kind.
    """

    of: Int64s
    legs: Int64s
    hash: Hashes
    at: Int64s
    func: Int64s
    most: Int64s
    of_func: Hashes


@allocation_free
def add_calls(
    unit: Int64s, func: Int64s, once: bool, of_func: Hashes, met: Int64s, sums: Hashes, many: Int64s
) -> None:
    """Add the hashes of called functions to the sums of their units; count the calls of each.

    By call: `unit` (a leg or a lifetime) and `func`.  `of_func` is the hash of each function.  The
    hashes are added to sums[unit], and the calls counted in many[unit + 1].  With `once`, the hash
    of a function is added only once for each unit; `met` is scratch space by function.
    """
    for i in range(len(unit)):
        many[unit[i] + 1] += 1
        if func[i] < 0 or func[i] >= len(of_func):
            continue
        if not once or met[func[i]] != unit[i]:
            sums[unit[i]] += of_func[func[i]]
        met[func[i]] = unit[i]


@allocation_free
def suspect(
    windows: Windows,
    bags: Bags,
    order: Int64s,
    begin: Int64s,
    last: Int64s,
    latest: Int64s,
    likely: Int64s,
    rest: Hashes,
    may: Int64s,
    more: Int64s,
    seen: Int64s,
    found: Bools,
) -> None:
    """Set found[leg] to True for legs that may lack a call which a probe missed in a window.

    `order` holds the legs, sorted by `begin`.  In this order: `begin` and `last` are the times (ns)
    of each leg's first and last record, and `latest` is the latest `last` so far.  `likely` are the
    frequent bags.  Scratch space: `rest` for the hash of each likely bag; `may` and `more`, by
    function, filled with 0; `seen`, by bag, filled with -1.
    """
    for w in range(len(windows.first)):
        low, high = windows.at[w], windows.at[w + 1]
        for j in range(low, high):
            may[windows.func[j]] += windows.most[j]
        for t in range(len(likely)):
            rest[t] = _without(bags, likely[t], may)
        first, behind = np.int64(0), np.int64(len(latest))
        while first < behind:  # the first leg that may reach the window
            middle = (first + behind) // 2
            if latest[middle] < windows.first[w]:
                first = middle + 1
            else:
                behind = middle
        for i in range(first, len(order)):
            if begin[i] > windows.last[w]:
                break
            bag = bags.of[order[i]]
            if last[i] < windows.first[w] or found[order[i]]:
                continue
            if seen[bag] // 2 != w or seen[bag] < 0:
                lacks = _is_part(bags, bag, likely, rest, may, more, windows, low, high)
                seen[bag] = 2 * w + lacks
            found[order[i]] = seen[bag] % 2
        for j in range(low, high):
            may[windows.func[j]] = 0


@allocation_free
def _without(bags: Bags, bag: Int, may: Int64s) -> Any:
    """Return the hash of a bag without the functions that may be missing."""
    found = bags.hash[bag]
    for j in range(bags.at[bag], bags.at[bag + 1]):
        if may[bags.func[j]] > 0:
            found -= np.uint64(bags.most[j]) * bags.of_func[bags.func[j]]
    return found


@allocation_free
def _is_part(
    bags: Bags,
    bag: Int,
    likely: Int64s,
    rest: Hashes,
    may: Int64s,
    more: Int64s,
    windows: Windows,
    low: Int,
    high: Int,
) -> bool:
    """Return whether some calls that may be missing turn this bag into one of the `likely` bags.

    Only bags that at least as many legs have as this one are tried.
    """
    mine = _without(bags, bag, may)
    for t in range(len(likely)):
        other = likely[t]
        if rest[t] != mine or other == bag or bags.legs[other] < bags.legs[bag]:
            continue
        for j in range(bags.at[other], bags.at[other + 1]):
            more[bags.func[j]] += bags.most[j]
        for j in range(bags.at[bag], bags.at[bag + 1]):
            more[bags.func[j]] -= bags.most[j]
        fits = True
        for j in range(low, high):
            func = windows.func[j]
            fits = fits and 0 <= more[func] <= may[func]
        for j in range(bags.at[other], bags.at[other + 1]):
            more[bags.func[j]] = 0
        for j in range(bags.at[bag], bags.at[bag + 1]):
            more[bags.func[j]] = 0
        if fits:
            return True
    return False
