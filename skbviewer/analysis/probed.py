# SPDX-License-Identifier: MIT
"""Which records are calls that were probed: each made the calls around it look slower.

In: the records of a KBL, what encloses what.  Out: flags of records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import Nesting, passing
from ..records import Records, part, room_of

ENTRY = 1  # kbl.h enum kbl_kind

Flags = npt.NDArray[np.bool_]


class Probed(NamedTuple):
    """Of each record whether it is such a call, and whether it is one that has a packet.

    Both are empty where nobody asks for their number.
    """

    every: Flags
    with_skb: Flags


def nobody_asks() -> Probed:
    """Of any records."""
    return Probed(np.zeros(0, np.bool_), np.zeros(0, np.bool_))


def probed(records: Records, nesting: Nesting) -> Probed:
    """Of all records; a call counts once, however many packets its list has."""
    room = room_of(records)
    every, with_skb = room.take(len(records), np.bool_), room.take(len(records), np.bool_)
    for some in passing(records):
        every[some] = (part(records, "kind", some) == ENTRY) & ~nesting.carried[some]
        with_skb[some] = every[some] & (part(records, "skb", some) != 0)
    return Probed(every, with_skb)
