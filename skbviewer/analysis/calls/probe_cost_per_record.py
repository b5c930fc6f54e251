# SPDX-License-Identifier: MIT
"""What it costs to write each record: how much longer the calls around the record take.

Input: the records of a KBL, the nesting, and the calibration.  Output: for each record, the cost of
the probe of its call, and the cost of its event (ns).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...matching import Nesting
from ...records import Calibration, Records, part
from ...records.kernel_events import DROP
from ...records.types import Int64s

ENTRY, EVENT = 1, 4  # kbl.h enum kbl_kind

# The module measures only the cost of its probes.  An event costs about as much as the probe of an
# empty call, and a drop, whose stack is recorded, 45 times as much: docs/instructions.md.
DROP_COST = 45


class Costs(NamedTuple):
    """Computes what records cost; the results are empty without a calibration (not `known`)."""

    records: Records
    nesting: Nesting
    known: Calibration | None

    def probes(self, some: slice) -> Int64s:
        """Return by how much (ns) the probe of each record prolongs the calls around the record.

        A call that handles a list counts once, however many packets the list has.
        """
        if self.known is None:
            return np.zeros(0, np.int64)
        records = self.records
        call = (part(records, "kind", some) == ENTRY) & ~self.nesting.carried[some]
        shown = part(records, "skb", some) != 0
        return np.where(call, np.where(shown, self.known.skb_nested, self.known.nested), 0)

    def events(self, some: slice) -> Int64s:
        """Return what each record costs (ns) as an event, or as one more packet of a list."""
        if self.known is None:
            return np.zeros(0, np.int64)
        event = part(self.records, "kind", some) == EVENT
        drop = event & (part(self.records, "event", some) == DROP)
        number = (event | self.nesting.carried[some]) + (DROP_COST - 1) * drop
        return np.asarray(number * self.known.event, np.int64)
