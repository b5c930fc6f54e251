# SPDX-License-Identifier: MIT
"""Write the packet list as CSV: comment lines (#), a header, one row per packet.

Times are ns.  relative_ns is the list's Time column.  ts_ns of a row K<n> is on the clock of its
kernel log.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from ..records import BadInput, Cancelled, PacketRow, SeriesRow
from .formats import Exportable, Request

COLUMNS: tuple[str, ...] = (
    "number",
    "ts_ns",
    "relative_ns",
    "source",
    "destination",
    "protocol",
    "length",
    "info",
)
COLUMNS += ("kernel_ns", "functions", "drop", "drop_place", "lost", "process")
COLUMNS += ("match", "confidence", "reason")


def write_packets_of(recording: Exportable, request: Request, out: Path) -> None:
    """Write the rows that the filter of `request` shows.

    Raises FilterError, BadInput and Cancelled.
    """
    recording.export.packets_csv(request.filter, out, request.progress)


def write_packets_csv(
    rows: Iterable[PacketRow | SeriesRow], first_ns: int, lines: Iterable[str], out: Path
) -> None:
    """Write `rows` to `out` as CSV.

    `lines` are written first, as comments.  Relative times count from `first_ns`, ns since the
    epoch.  Raises BadInput if `out` cannot be written.  Removes `out` if `rows` raises Cancelled.
    """
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {line}\n" for line in lines)
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(_values(row, first_ns) for row in rows)
    except Cancelled:
        out.unlink(missing_ok=True)  # part of a table looks like a whole one
        raise
    except OSError as error:
        raise BadInput(out, None, f"cannot write: {error.strerror}") from error


def _values(row: PacketRow | SeriesRow, first_ns: int) -> tuple[object, ...]:
    ends: tuple[object, ...]
    if isinstance(row, PacketRow):
        at: int | None = row.ts_ns
        ends = (row.source_text, row.destination_text, row.protocol_name, row.len)
        match: tuple[object, ...] = (row.verdict, row.confidence)
    else:
        at = row.time_ns
        ends = (row.saddr, row.daddr, row.protocol_name, "")
        match = ("kernel-only", None)
    relative = None if at is None else at - first_ns
    kernel = (row.kernel_ns, row.functions, row.drop, row.drop_place, row.lost, row.process)
    return (row.number, row.ts_ns, relative, *ends, row.info, *kernel, *match, row.reason)
