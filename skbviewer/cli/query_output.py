# SPDX-License-Identifier: MIT
"""The result of a query as a table, as JSON, or as CSV."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Sequence

from ..export.csv_cells import csv_cell
from ..session.query_thread import Answer, Cell
from .terminal_output import print_columns


def print_answer(found: Answer, arguments: argparse.Namespace) -> None:
    """Print a query's rows as table, JSON or CSV, as the options in `arguments` say."""
    if arguments.json:
        _print_json(found)
    elif arguments.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(map(csv_cell, found.columns))
        writer.writerows([csv_cell(_text(cell)) for cell in row] for row in found.rows)
    else:
        _print_table(found)


def _print_json(found: Answer) -> None:
    names = _distinct(found.columns)
    objects = (dict(zip(names, map(_value, row), strict=True)) for row in found.rows)
    lines = ",\n ".join(json.dumps(each, ensure_ascii=False) for each in objects)
    print(f"[{lines}]")


def _distinct(columns: Sequence[str]) -> list[str]:
    """Return a distinct key for each column name: the second "n" becomes "n_2"."""
    names: list[str] = []
    for column in columns:
        name, number = column, 2
        while name in names:
            name, number = f"{column}_{number}", number + 1
        names.append(name)
    return names


def _value(cell: Cell) -> Cell:
    """Return a cell as a value that JSON has.

    An infinite number becomes None, a blob becomes a text.
    """
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell.hex() if isinstance(cell, bytes) else cell


def _print_table(found: Answer) -> None:
    lines = [found.columns, *([str(_text(cell)) for cell in row] for row in found.rows)]
    texts = {
        at for row in found.rows for at, cell in enumerate(row) if isinstance(cell, str | bytes)
    }
    print_columns(lines, texts)


def _text(cell: Cell) -> Cell:
    """Return a cell of a table: NULL is empty, a blob is in hexadecimal."""
    return cell.hex() if isinstance(cell, bytes) else "" if cell is None else cell
