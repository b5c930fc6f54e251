# SPDX-License-Identifier: MIT
"""The number of CPUs that occur in the records of a KBL.

Arrays with an element for each CPU have this length.  A recorder's CPU numbers have 16 bits, but
hosts have few CPUs.
"""

from __future__ import annotations

from ...matching import Rows, record_blocks
from ...records import Records

MOST = 1 << 16  # the recorder's CPU numbers have 16 bits; other tracers' larger ones are ignored


def cpus_of(records: Records) -> int:
    """Return 1 plus the highest CPU number in the records, but at most MOST."""
    found = 0
    for some in record_blocks(records):
        rows = Rows(records, some)
        found = max(found, *(int(rows[name].max(initial=0)) for name in ("cpu", "exit_cpu")))
    return min(found + 1, MOST)
