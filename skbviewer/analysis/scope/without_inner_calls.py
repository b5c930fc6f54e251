# SPDX-License-Identifier: MIT
"""Calls without those of functions without an skb, which were recorded inside other calls.

Such a call is left out, and its self time counts for the call around it, as if its function had no
probe.  In a path, the calls inside it move one level up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...records import Leg, PacketPath, PathCall
from ...records.compiled import compiled
from ...records.types import Bools, Int64s
from ...store import Columns
from ..calls.interruptions import MARK_INNER

CALL = "call"
NO_FUNCTION = -1


def columns_without_inner(columns: Columns) -> Columns:
    """Return the columns of a session whose inner calls have no function and no self time."""
    inner = (np.asarray(columns.once(CALL, "marks"), np.int64) & MARK_INNER) != 0
    if not inner.any():
        return columns
    own, parent, func = (
        np.array(columns.once(CALL, name), np.int64) for name in ("self_ns", "parent", "func")
    )
    fold(inner, own, parent)
    func[inner] = NO_FUNCTION
    return columns.with_columns(CALL, {"self_ns": own, "parent": parent, "func": func})


@compiled
def fold(inner: Bools, own: Int64s, parent: Int64s) -> None:
    """Give each inner call's self time `own` (ns, -1 = unknown) to the call around it.

    `parent` is the id of the call around each call (its row + 1; less than 1: none); that of calls
    inside an inner call becomes the call around that one.  A call comes after the one around it.
    """
    for i in range(len(own)):
        above = parent[i] - 1
        if 0 <= above < i and inner[above]:
            parent[i] = parent[above]
    for i in range(len(own)):
        if not inner[i]:
            continue
        above = parent[i] - 1
        if above >= 0 and own[above] >= 0:
            own[above] += max(own[i], 0)
        own[i] = 0


def path_without_inner(path: PacketPath) -> PacketPath:
    """Return a packet's path without its inner calls."""
    legs, branches = (tuple(map(_leg, part)) for part in (path.legs, path.branches))
    return path._replace(legs=legs, branches=branches)


def places_without_inner(calls: Sequence[PathCall]) -> list[int]:
    """Return for each call its index if inner calls are left out.

    An inner call has the index of the call around it; -1 = none.
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
    """Return the values of a call outside inner calls, with those of the call `inner` in it."""
    both = ((name, getattr(call, name), getattr(inner, name)) for name in OWN)
    return {name: own + more for name, own, more in both if own is not None and more is not None}


OWN = ("self_ns", "executed_self")
