# SPDX-License-Identifier: MIT
"""Write the packet list as CSV: to a file, or as the output of the command `packets`.

Times are ns. relative_ns is the packet list's Time column. ts_ns of a row K<n> is on the clock of
its kernel log.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from ..records import PacketRow, SeriesRow
from .atomic_write import written_text
from .csv_cells import comment_lines, csv_cell
from .formats import Exportable, Request

COLUMNS: tuple[str, ...] = (*PacketRow._fields, "relative_ns")
KERNEL_COLUMNS: tuple[str, ...] = (*SeriesRow._fields, "relative_ns")  # of a list of rows K<n> only


def write_packets_of(recording: Exportable, request: Request, out: Path) -> None:
    """Write to the file `out` the rows that match the filter of `request`.

    Raises FilterError, BadInput and Cancelled.
    """
    recording.export.packets_csv(request.filter, out, request.progress)


def write_packets_csv(
    rows: Iterable[PacketRow | SeriesRow], first_ns: int, lines: Iterable[str], out: Path
) -> None:
    """Write `rows` to `out` as CSV.

    `lines` are written first, as comment lines. Relative times count from `first_ns`, ns since the
    epoch. Raises BadInput if `out` cannot be written. If `out` cannot be written, or `rows` raises
    Cancelled, `out` stays unchanged.
    """
    with written_text(out) as file:
        file.writelines(comment_lines(lines))
        write_rows(rows, first_ns, COLUMNS, file)


def write_rows(
    rows: Iterable[PacketRow | SeriesRow], first_ns: int, columns: Sequence[str], to: TextIO
) -> None:
    """Write a header of `columns`, then a line per row; fields that a row lacks are empty.

    `first_ns` is the time from which relative_ns counts.
    """
    writer = csv.writer(to)
    writer.writerow(columns)
    for item in row_items(rows, first_ns):
        writer.writerow([_cell(item.get(column)) for column in columns])


def row_items(rows: Iterable[PacketRow | SeriesRow], first_ns: int) -> Iterator[dict[str, object]]:
    """Yield the fields of each row and relative_ns: time minus `first_ns`, None if unknown.

    The columns of addresses and verdict have the same names for a row K<n> as for a packet.
    """
    for row in rows:
        at = row.ts_ns if isinstance(row, PacketRow) else row.time_ns
        item = row._asdict() | {"relative_ns": None if at is None else at - first_ns}
        if isinstance(row, SeriesRow):
            item |= {"source_text": row.saddr, "destination_text": row.daddr}
            item["verdict"] = "kernel-only"
        yield item


def _cell(value: object) -> object:
    """Write each pair of addresses as one cell."""
    if isinstance(value, tuple):
        value = "; ".join(" > ".join(pair) for pair in value)
    return csv_cell(value)
