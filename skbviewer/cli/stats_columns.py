# SPDX-License-Identifier: MIT
"""The meaning of each column of `skbviewer stats`, as --help shows it."""

from __future__ import annotations

import textwrap

from ..analysis.stats.column_meanings import COLUMNS, EXECUTED, SPREAD


def _table(name: str, columns: dict[str, str]) -> str:
    lines = [f"{name}:"]
    for names, meaning in columns.items():
        lines += textwrap.wrap(
            meaning, 96, initial_indent=f"  {names:<16} ", subsequent_indent=" " * 19
        )
    return "\n".join(lines)


HELP = "\n\n".join(
    [
        "Times are microseconds (column_us); in JSON and CSV, nanoseconds (column_ns).",
        _table("every table of times", SPREAD),
        *(_table(name, columns) for name, columns in COLUMNS.items()),
        _table("functions and layers, with --steps", EXECUTED),
    ]
)
