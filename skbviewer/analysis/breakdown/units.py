# SPDX-License-Identifier: MIT
"""The packets whose time in kernel is known, each with its legs.

A row K<n> of the packet list counts as a packet, too, although no capture has it.  Its id is -n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...matching import EXACT
from ...records.types import Bools, Int64s

if TYPE_CHECKING:
    from ..stats.scope import Scope


class Units(NamedTuple):
    """Packets in the order of the packet list, then rows K<n>.

    `legs` holds indices of legs: legs[at[i] : at[i + 1]] are those of packet i, by log and begin.
    """

    id: Int64s
    kernel_ns: Int64s
    at: Int64s
    legs: Int64s

    def rows_of(self, ids: Int64s) -> Int64s:
        """Return the indices of the packets `ids` in this table; unknown ids are left out."""
        order = np.argsort(self.id, kind="stable")
        place = np.minimum(np.searchsorted(self.id, ids, sorter=order), max(len(order) - 1, 0))
        found = order[place] if len(order) else np.zeros(0, np.int64)
        return np.asarray(found[self.id[found] == ids[: len(found)]], np.int64)


def units_of(scope: Scope) -> Units:
    """Return all packets of the session whose time in kernel is known, chosen or not.

    Lifetimes without network identity are packets only if the scope has everything.  Raises
    Cancelled.
    """
    columns = scope.columns
    matched = np.asarray(columns.array("match", "verdict")) == EXACT
    ids = np.asarray(columns.array("match", "packet"), np.int64)[matched]
    legs = np.asarray(columns.array("match", "leg"), np.int64)[matched] - 1
    kernel = np.asarray(columns.array("packet", "kernel_ns"), np.int64)
    known = kernel[ids - 1] >= 0
    ids, legs = ids[known], legs[known]
    alone, of_alone = _kernel_only(scope)
    group = np.concatenate([ids - 1, len(kernel) + alone])
    legs = np.concatenate([legs, of_alone])
    order = _order(scope, group, legs)
    if order is not None:
        group, legs = group[order], legs[order]
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else group
    number = group[first]
    captured = int(np.searchsorted(number, len(kernel)))  # rows K<n> follow
    series = scope.of_leg("series")[legs[first[captured:]]] - 1
    own = np.asarray(columns.array("series", "kernel_ns"), np.int64)[series]
    ns = np.concatenate([kernel[number[:captured]], own])
    named = np.concatenate([number[:captured] + 1, len(kernel) - number[captured:]])
    return Units(named, ns, np.r_[first, len(legs)], legs)


def _kernel_only(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return (n, leg) of each leg of the rows K<n> whose time in kernel is known."""
    columns = scope.columns
    row = np.asarray(columns.array("series", "kernel_only"), np.int64)
    known = (row > 0) & (np.asarray(columns.array("series", "kernel_ns"), np.int64) >= 0)
    if not scope.has_everything:
        known &= np.asarray(columns.array("series", "identity"), np.int64) >= 0
    of_leg = scope.of_leg("series") - 1
    legs = np.flatnonzero(known[of_leg])
    return row[of_leg[legs]], legs


def _order(scope: Scope, group: Int64s, legs: Int64s) -> Int64s | None:
    """Return the order by packet (`group`), log and begin; None if the legs are in it already.

    Legs of most sessions are, and few packets have several.
    """
    source, begin = scope.of_leg("source"), scope.of_leg("begin_ns")
    if np.all(group[1:] >= group[:-1]):
        same = np.flatnonzero(group[1:] == group[:-1])
        before, after = legs[same], legs[same + 1]
        later = source[after] > source[before]
        later |= (source[after] == source[before]) & (begin[after] >= begin[before])
        if later.all():
            return None
    return np.lexsort((begin[legs], source[legs], group))


def chosen_units(scope: Scope, units: Units) -> Bools:
    """Return for each unit (packet or row K<n>) whether the scope selects it.

    A packet is in a time range if it was captured then; a row K<n>, if a leg of it began then.
    """
    found = np.zeros(len(units.id), np.bool_)
    if not len(found):
        return found
    if not scope.is_chosen:
        return ~found
    is_packet = units.id > 0
    wanted = np.zeros(scope.columns.length("packet") + 1, np.bool_)
    wanted[scope.packets] = True
    found[is_packet] = wanted[units.id[is_packet]]
    with_leg = np.logical_or.reduceat(scope.legs[units.legs], units.at[:-1])
    return np.where(is_packet, found, with_leg)
