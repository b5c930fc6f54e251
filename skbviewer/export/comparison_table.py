# SPDX-License-Identifier: MIT
"""Rows of a comparison as a table, for CSV."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.comparison import Difference
from ..analysis.stats.statistic_types import Table

KEYS = ("section", "name", "measure", "unit", "of", *Difference._fields[2:])


def comparison_table(rows: Sequence[Difference]) -> Table:
    """Return the rows. Column `unit` is the unit of columns a and b; changes are fractions."""
    return Table(
        KEYS, [(row.measure.section, row.name, *row.measure[1:4], *row[2:]) for row in rows]
    )
