# SPDX-License-Identifier: MIT
"""Compare the calls of each leg with those of similar legs, in loops for missed_probe_hits.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.compiled import Int, allocation_free
from ...records.types import Bools, Int64s

Hashes = npt.NDArray[np.uint64]


class Windows(NamedTuple):
    """Windows of time, from `first` to `last` (ns), in which probes missed calls.

    In window i, calls of the functions func[at[i]:at[i + 1]] were missed: at most most[j] calls of
    func[j].
    """

    first: Int64s
    last: Int64s
    at: Int64s
    func: Int64s
    most: Int64s


class Bags(NamedTuple):
    """Multisets ("bags") of the calls in a leg, or in a lifetime.

    Bag i has most[j] calls of func[j], for each j from at[i] to at[i + 1] - 1.  `of` is the bag of
    each leg (or lifetime).  `legs` is the number of legs (or lifetimes) that have each bag.  Legs
    of different kinds have different bags.  `of_func` is a random number for each function.  `hash`
    is, for each bag, the sum of the random numbers of all its calls, plus a random number for the
    kind of leg.
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
    """Add the hash of each called function to the sum of its unit, and count the unit's calls.

    Each call has a `unit` (a leg or a lifetime) and a `func`.  `of_func` is the hash of each
    function.  Hashes are added to sums[unit], and calls are counted in many[unit + 1].  With
    `once`, a function's hash is added only once to each unit.  `met` is scratch space with an
    element for each function.
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
    """Set found[leg] for each leg that may lack a call which a probe missed in a window.

    `order` has the legs, sorted by `begin`.  `begin`, `last` and `latest` are sorted by `begin`:
    the time (ns) of a leg's first record, that of its last record, and the latest `last` so far.
    `likely` are the most frequent bags.  The scratch space is `rest` (for each likely bag), `may`
    and `more` (for each function, filled with 0), and `seen` (for each bag, filled with -1).
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
    """Return the hash of a bag without the functions `may`, whose calls may be missing."""
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
    """Return whether a bag plus some calls that may be missing is one of the `likely` bags.

    A likely bag is tried only if it belongs to at least as many legs as the bag `bag`.
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
