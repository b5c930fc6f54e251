# SPDX-License-Identifier: MIT
"""Find the records that are probed calls.  Each of these makes the calls around it look slower.

Input: the records of a KBL, and the nesting.  Output: flags of records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import Nesting, record_blocks
from ...records import Records, part, scratch_of
from ...records.types import Bools

ENTRY = 1  # kbl.h enum kbl_kind


class Probed(NamedTuple):
    """For each record, whether it is a probed call, and whether it is a probed call with a packet.

    Both are empty if the numbers are not needed.
    """

    every: Bools
    with_skb: Bools


def nothing_probed() -> Probed:
    """Return a Probed without flags, for logs in which the numbers of calls are not needed."""
    return Probed(np.zeros(0, np.bool_), np.zeros(0, np.bool_))


def probed_records(records: Records, nesting: Nesting) -> Probed:
    """Return for each record whether it is a probed call, and whether that call has a packet.

    A call counts once, however many packets its list has.
    """
    scratch = scratch_of(records)
    every, with_skb = scratch.take(len(records), np.bool_), scratch.take(len(records), np.bool_)
    for some in record_blocks(records):
        every[some] = (part(records, "kind", some) == ENTRY) & ~nesting.carried[some]
        with_skb[some] = every[some] & (part(records, "skb", some) != 0)
    return Probed(every, with_skb)
