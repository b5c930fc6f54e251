# SPDX-License-Identifier: MIT
"""The rows that a request chooses; every export format uses them, so that all formats agree.

A row is a packet, or row K<n>: an skb lifetime without a packet. A row is chosen if it matches the
filter, is among the named rows, and is in the range. A packet is in the range if it was captured
within the range; a row K<n> is in the range if its lifetime began within the range. Formats that
contain only captured packets leave out the rows K<n>. Lifetimes that are no rows (copies of
sniffers, ambiguous matches) are exported only if the request restricts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.fields.field_source_tables import SERIES
from ..records.types import Int64s
from .formats import Export, Exportable, Request, TableRows, packet_path

if TYPE_CHECKING:
    from ..analysis.stats.call_stacks import Stack


def chosen_rows(recording: Exportable, request: Request) -> Int64s | None:
    """Return the rows that `request` chooses; None means all rows, because nothing is restricted.

    Packets n come first, in ascending order, then -n for rows K<n>, in ascending order of n. Raises
    FilterError, BadInput and Cancelled, and KeyError if a row does not exist.
    """
    packets, others = recording.packets.count(), recording.packets.all_kernel_only_count()
    for row in request.rows:
        if not (1 <= row <= packets or 1 <= -row <= others):
            raise KeyError(f"no packet {row if row > 0 else f'K{-row}'}")
    if not is_restricted(request):
        return None
    if request.filter:
        found = recording.packets.listed(request.filter, None, True, None, request.progress, True)
        assert found is not None  # as rows K<n> are asked for
        rows = np.concatenate([np.sort(found[found > 0]), -np.sort(-found[found < 0])])
    else:
        rows = np.concatenate([np.arange(1, packets + 1), -np.arange(1, others + 1)])
    if request.rows:
        rows = rows[np.isin(rows, request.rows)]
    return rows if request.times is None else _between(recording, rows, request.times)


def rows_of_request(recording: Exportable, request: Request) -> TableRows | None:
    """Return the rows of all tables that belong to what `request` chooses; None means all rows.

    Raises the exceptions of chosen_rows().
    """
    rows = chosen_rows(recording, request)
    if rows is None:
        return None
    return recording.tables.chosen(rows[rows > 0], (-rows[rows < 0]).tolist())


def stacks_of(recording: Exportable, request: Request) -> Sequence[Stack]:
    """Return the call stacks of one row or, if no row is named, of all rows that `request` chooses.

    Raises FilterError, BadInput and Cancelled, and KeyError if a row does not exist.
    """
    from ..analysis.stats.call_stacks import path_stacks  # only these exports need statistics

    if request.row is None:
        return recording.stats.stacks(chosen_rows(recording, request), request.progress)
    return path_stacks(packet_path(recording, request.row))


def is_restricted(request: Request) -> bool:
    """Return whether the request restricts the rows of a recording."""
    return bool(request.filter or request.rows or request.times is not None)


def none_chosen(recording: Exportable, export: Export, request: Request) -> str:
    """Return a line for the user if `request` chooses nothing that `export` can contain, else "".

    Raises the exceptions of chosen_rows().
    """
    if "report" in export.options:  # its named rows are those whose paths are shown
        request = request._replace(rows=())
    rows = chosen_rows(recording, request)
    if rows is None or len(rows if _with_kernel_only(export, request) else rows[rows > 0]):
        return ""
    given = {"--filter": request.filter, "--packet": request.rows, "--range": request.times}
    return f"{' and '.join(name for name, value in given.items() if value)}: no packet is chosen"


def _with_kernel_only(export: Export, request: Request) -> bool:
    return "kernel-only rows" in export.options or request.kernel_only


def _between(recording: Exportable, rows: Int64s, times: tuple[int, int]) -> Int64s:
    """Return the `rows` with begin <= t < end; `times` are their session times in ns."""
    data = recording.export.field_data()
    packets = recording.export.captured_between(rows[rows > 0], times)
    others = rows[rows < 0]
    lives = data.kernel_only_rows()[-others - 1]
    source = data.columns.take(SERIES, "source", lives)
    begin = data.columns.take(SERIES, "begin_ns", lives).astype(np.int64)
    at = session_times(recording, source, begin)
    return np.concatenate([packets, others[(at >= times[0]) & (at < times[1])]])


def session_times(recording: Exportable, source: Int64s, ts: Int64s) -> Int64s:
    """Convert times on the clocks of kernel logs to session time in ns (int64).

    `source` is the log to whose clock each time in `ts` belongs.
    """
    made: Int64s = ts.astype(np.int64)
    for one in np.unique(source).tolist():
        mine = source == one
        made[mine] = recording.export.to_session(one, made[mine])
    return made
