# SPDX-License-Identifier: MIT
"""Texts for --help: what each table of `skbviewer stats` shows, and what its columns mean."""

from __future__ import annotations

import textwrap

from ..analysis.stats import STATISTICS
from ..analysis.stats.column_meanings import COLUMNS, COUNTED_COLUMNS, EXECUTED, SPREAD

NAMES = 16  # characters of names that have their meaning beside them
INDENT = " " * (NAMES + 3)


def _table(title: str, columns: dict[str, str]) -> str:
    lines = [title]
    for names, meaning in columns.items():
        first = f"  {names:<{NAMES}} "
        if len(names) > NAMES:
            lines.append(f"  {names}")
            first = INDENT
        lines += textwrap.wrap(meaning, 96, initial_indent=first, subsequent_indent=INDENT)
    return "\n".join(lines)


HELP = "\n\n".join(
    [
        "Columns with times are in microseconds, and their names end in _us.  In JSON and CSV,\n"
        "they are in nanoseconds, and their names end in _ns.  The list below has no endings.",
        _table("Columns of several tables:", SPREAD),
        *(_table(f"{name}: {STATISTICS[name].tip}", of) for name, of in COLUMNS.items()),
        _table("Columns that '--steps' adds to functions and layers:", EXECUTED),
        *(_table(f"{name} (needs --steps):", of) for name, of in COUNTED_COLUMNS.items()),
    ]
)
