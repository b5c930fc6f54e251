# SPDX-License-Identifier: MIT
"""The machine code in a .kbl file: tables CODE and CODE_BYTES, whose numbers may be hostile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import FunctionCode, counted
from ...records import kbl_layout as kbl

FUNCTIONS = 1 << 16  # as many as a log can have probes


def functions_code(
    rows: Sequence[Mapping[str, int]], data: bytes
) -> tuple[tuple[FunctionCode, ...], list[str]]:
    """Return the code of each function, and complaints about rows that are left out.

    `rows` are struct kbl_code, `data` is the payload of CODE_BYTES.  If there are several rows for
    one address, the last one is used.  Rows may overlap, so all their bytes are counted.
    """
    found: dict[int, FunctionCode] = {}
    total = outside = beyond = 0
    for row in rows:
        begin, size = row["offset"], row["size"]
        if not 0 < size <= kbl.KBL_MAX_FUNCTION or begin + size > len(data):
            outside += 1
        elif total + size > kbl.KBL_MAX_CODE or len(found) >= FUNCTIONS:
            beyond += 1
        else:
            total += size
            ended = not row["flags"] & kbl.KBL_CODE_NO_END
            found[row["addr"]] = FunctionCode(row["addr"], ended, data[begin : begin + size])
    complaints = []
    if outside:
        what = f"table CODE: {counted(outside, 'function')} with code outside of CODE_BYTES"
        complaints.append(f"{what}: left out")
    if beyond:
        most = f"more than {kbl.KBL_MAX_CODE >> 20} MiB or {FUNCTIONS} functions"
        complaints.append(f"table CODE: {most}: {beyond} left out")
    return tuple(found.values()), complaints
