# SPDX-License-Identifier: MIT
"""The rows of the documented tables that an export writes."""

from __future__ import annotations

from .chosen_rows import chosen_rows
from .formats import Exportable, Request, TableRows


def rows_of_request(recording: Exportable, request: Request) -> TableRows | None:
    """Return the table rows of all packets and lifetimes that `request` chooses; None means all.

    Raises the exceptions of chosen_rows().
    """
    rows = chosen_rows(recording, request)
    if rows is None:
        return None
    return recording.tables.chosen(rows[rows > 0], (-rows[rows < 0]).tolist())
