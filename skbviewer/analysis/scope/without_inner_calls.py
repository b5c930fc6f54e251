# SPDX-License-Identifier: MIT
"""Leave out calls of functions without an skb, which were recorded inside other calls.

The self time of a call that is left out counts for the call around it, as if its function had no
probe.  In a path, the calls inside a call that is left out move one level up.
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
    """Return the session's columns, but inner calls have no function and no self time."""
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
    """Add the self time of each inner call to the call around it.

    `own` is the self time of calls (ns, -1 = unknown), and `inner` says which are inner calls.

    `parent` is the id (row + 1) of the call around each call; less than 1 if there is none.  If a
    call is inside an inner call, its parent becomes the call around the inner call.  The call
    around a call must come before it.
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
