# SPDX-License-Identifier: MIT
"""The rows of the documented tables that an export writes."""

from __future__ import annotations

import numpy as np

from .chosen_packets import chosen_packets
from .formats import Exportable, Request, TableRows


def rows_of_request(recording: Exportable, request: Request) -> TableRows | None:
    """Return the rows of all packets that `request` names; None means all rows of the tables.

    The request may also name rows K<n>: lifetimes without a packet. Raises KeyError if there is no
    such row, and FilterError.
    """
    if not request.rows and not request.filter and request.times is None:
        return None
    kernel_only = [-row for row in request.rows if row < 0]
    for row in kernel_only:
        if row > recording.packets.all_kernel_only_count():
            raise KeyError(f"no packet K{row}")
    captured = tuple(row for row in request.rows if row > 0)
    if kernel_only and not captured:
        packets = np.zeros(0, np.int64)
    else:
        packets = chosen_packets(recording, request._replace(rows=captured))
    return recording.tables.chosen(packets, kernel_only)
