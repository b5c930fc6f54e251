# SPDX-License-Identifier: MIT
"""Leave out calls of functions without an skb, which were recorded inside other calls.

The self time of a call that is left out counts for the call around it, as if its function had no
probe.  The calls inside a call that is left out move one level up.  All code that shows or counts
calls gets the calls from this module, which takes them from the columns of a session or from a
packet's path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records import Leg, PacketPath, PathCall
from ...records.compiled import compiled
from ...records.types import Bools, Int64s
from ...store import Columns
from ...store.fewer_rows import FewerRows
from ...store.whole_columns import Array
from ..calls.interruptions import MARK_INNER

CALL, EVENT = "call", "event"
Int16s = npt.NDArray[np.int16]
Integers = npt.NDArray[np.int32] | npt.NDArray[np.int64]
REPLACED = ((CALL, "self_ns"), (CALL, "parent"), (CALL, "depth"), (EVENT, "call"))


def has_inner(columns: Columns) -> bool:
    """Return whether a session has calls of functions without an skb.  Reads no column."""
    return columns.bounds(CALL, "marks")[1] >= MARK_INNER  # it is the highest mark


def columns_without_inner(columns: Columns) -> Columns:
    """Return the columns of a session as if its functions without an skb had no probe.

    The other calls are numbered anew; stored_rows() returns their rows in the session file.
    Returns `columns` itself if no function without an skb was called.
    """
    if not has_inner(columns):
        return columns
    found = [
        first + np.flatnonzero((marks & MARK_INNER) == 0)
        for first, (marks,) in columns.pieces(CALL, "marks")
    ]
    kept = _narrow(np.concatenate([np.zeros(0, np.int64), *found]))
    return FewerRows(columns, CALL, kept, frozenset(REPLACED), lambda: _replaced(columns, kept))


def _replaced(columns: Columns, kept: Array) -> Mapping[tuple[str, str], Array]:
    """Return the columns whose values change if inner calls are left out."""
    size = columns.length(CALL)
    inner = np.ones(size, np.bool_)
    inner[kept] = False
    own = np.array(columns.once(CALL, "self_ns"), np.int64)
    stored = np.asarray(columns.once(CALL, "parent"))
    parent: Integers = stored.astype(np.int64) if size >> 31 else stored.astype(np.int32)
    depth = np.array(columns.once(CALL, "depth"), np.int16)  # a thread's stack has some kilobytes
    number = np.empty_like(parent)
    fold(inner, own, parent, depth, number)
    around = np.array(columns.once(EVENT, "call"), np.int64)
    known = np.flatnonzero(around > 0)
    around[known] = number[around[known] - 1]
    count = len(kept)
    made = _narrow(own[:count]), parent[:count], depth[:count], around
    return dict(zip(REPLACED, made, strict=True))


def _narrow(values: Int64s) -> Array:
    fits = max(-int(values.min(initial=0)), int(values.max(initial=0))) < 1 << 31
    return values.astype(np.int32) if fits else values


@compiled
def fold(inner: Bools, own: Int64s, parent: Integers, depth: Int16s, number: Integers) -> None:
    """Remove the calls that `inner` marks from the nesting of calls; number the others anew.

    `own` is the self time (ns, -1 = unknown) of each call, `parent` the id (from 1) of the call
    around it, less than 1 if there is none, and `depth` the number of calls around it.  Afterwards,
    these arrays begin with the values of the calls that are left: self times contain those of inner
    calls.  `number` becomes, for each call, its new id or, for an inner call, that of the call
    around it.  A call has a higher index than the call around it.
    """
    hidden = np.zeros(len(own), np.int16)  # inner calls around each call, with itself
    left = 0
    for i in range(len(own)):
        above = parent[i] - 1
        around = parent[i]
        if 0 <= above < i:
            around = number[above]
            hidden[i] = hidden[above]
        if not inner[i]:
            own[left], parent[left] = own[i], around
            depth[left] = depth[i] - hidden[i]
            left += 1
            number[i] = left
            continue
        hidden[i] += 1
        number[i] = around
        if around > 0 and own[around - 1] >= 0:
            own[around - 1] += max(own[i], 0)


def path_without_inner(path: PacketPath) -> PacketPath:
    """Return a packet's path without its inner calls."""
    legs, branches = (tuple(map(_leg, part)) for part in (path.legs, path.branches))
    return path._replace(legs=legs, branches=branches)


def places_without_inner(calls: Sequence[PathCall]) -> list[int]:
    """Return for each call the index that it has when inner calls are left out.

    An inner call gets the index of the call around it; -1 = none.
    """
    place, count = list[int](), 0
    for call in calls:
        if call.inner:
            place.append(_above(call, place))
        else:
            place.append(count)
            count += 1
    return place


def _above(call: PathCall, place: Sequence[int]) -> int:
    return place[call.parent] if 0 <= call.parent < len(place) else -1


def _leg(leg: Leg) -> Leg:
    if not any(call.inner for call in leg.calls):
        return leg
    place, kept = places_without_inner(leg.calls), list[PathCall]()
    for call in leg.calls:
        above = _above(call, place)
        if not call.inner:
            depth = kept[above].depth + 1 if above >= 0 else 0
            kept.append(call._replace(parent=above, depth=depth))
        elif above >= 0:
            kept[above] = kept[above]._replace(**_more(kept[above], call))
    events = (e._replace(call=place[e.call] if e.call >= 0 else e.call) for e in leg.events)
    return leg._replace(calls=tuple(kept), events=tuple(events))


def _more(call: PathCall, inner: PathCall) -> dict[str, Any]:
    """Return the values OWN of `call`, each with the value of the inner call `inner` added."""
    both = ((name, getattr(call, name), getattr(inner, name)) for name in OWN)
    return {name: own + more for name, own, more in both if own is not None and more is not None}


OWN = ("self_ns", "executed_self")
