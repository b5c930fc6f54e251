# SPDX-License-Identifier: MIT
"""The field kbl.lost, which says whether a drop lost the packet.

The packet list uses the same legs to choose the colour of a drop (packet_row_summary.py).
"""

from __future__ import annotations

import numpy as np

from ...records.types import Bools
from .field_definition import Field, Kind, Values
from .field_source_tables import LEG, Data, View


def _lost(view: View) -> list[Values]:
    whole = View(view.data, view.table)
    lost, known = view.data.cached(f"lost {view.table}", lambda: _of_rows(view.data, whole))
    if view.rows is None:
        return [Values(lost, known)]
    return [Values(lost[view.rows], known[view.rows])]


def _of_rows(data: Data, view: View) -> tuple[Bools, Bools]:
    """Return for each row whether its packet was lost, and whether it was dropped anywhere.

    A packet that a process received is not lost, whatever was dropped.
    """
    dropped = np.asarray(data.columns.array(LEG, "drop_reason") >= 0)
    read = np.asarray(data.columns.array(LEG, "reader_ns") >= 0)
    lost = data.rows_with(view, data.lost_legs()) & ~data.rows_with(view, read)
    return lost, data.rows_with(view, dropped)


LOST_FIELDS = (
    Field(
        "kbl.lost",
        Kind.BOOLEAN,
        "Whether the drop lost the packet; if not, the packet had already been delivered, or "
        "nobody needed it",
        _lost,
        bits=1,
    ),
)
