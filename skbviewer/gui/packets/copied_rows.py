# SPDX-License-Identifier: MIT
"""Rows of the packet list as text for the clipboard: CSV, or separated by tabs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from skbviewer.export.csv_cells import csv_cell

from .packet_model import PacketModel

MOST = 100_000  # rows on the clipboard; more rows should be exported to a file


def rows_as_csv(model: PacketModel, columns: Sequence[int], positions: Iterable[int]) -> str:
    """Return the rows at `positions` as CSV with a header line.

    The format is that of RFC 4180, but with newlines as line ends.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([model.columns[column].title for column in columns])
    for position in positions:
        writer.writerow([csv_cell(model.text(position, column)) for column in columns])
    return out.getvalue()


def rows_as_text(model: PacketModel, columns: Sequence[int], positions: Iterable[int]) -> str:
    """Return the rows at `positions` as lines, with tabs between the cells."""
    lines = ("\t".join(model.text(p, column) for column in columns) for p in positions)
    return "".join(f"{line}\n" for line in lines)
