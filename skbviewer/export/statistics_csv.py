# SPDX-License-Identifier: MIT
"""A table of statistics as CSV: a header, then one line per row.  Times are ns."""

from __future__ import annotations

import csv
from typing import Any, TextIO

from ..analysis.stats.statistic_types import Table
from .csv_cells import csv_cell


def write_table_csv(table: Table, file: TextIO) -> None:
    """Write `table` as CSV to an open file that leaves line ends as they are."""
    writer = csv.writer(file)
    writer.writerow(table.columns)
    writer.writerows([(csv_cell(cell(value)) for value in row) for row in table.rows])


def cell(value: Any) -> Any:
    """Return a value of a table as one CSV cell. The numbers of a tuple are joined by commas."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
