# SPDX-License-Identifier: MIT
"""How many CPUs the records of a KBL show.

Arrays by CPU are as long as needed: a recorder's CPU numbers have 16 bits, but hosts have few CPUs.
"""

from __future__ import annotations

from ...matching import Rows, record_blocks
from ...records import Records

MOST = 1 << 16  # the recorder's CPU numbers have 16 bits; other tracers' larger ones are ignored


def cpus_of(records: Records) -> int:
    """Return the highest CPU number in the records, plus one: from 1 to MOST."""
    found = 0
    for some in record_blocks(records):
        rows = Rows(records, some)
        found = max(found, *(int(rows[name].max(initial=0)) for name in ("cpu", "exit_cpu")))
    return min(found + 1, MOST)
