# SPDX-License-Identifier: MIT
"""The result of a query as text for other programs: tab-separated, Markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

Value = int | float | str | None
Rows = Sequence[Sequence[Value]]


def as_tsv(columns: Sequence[str], rows: Rows) -> str:
    """Return a header line and one line per row; tabs and line ends in texts become spaces."""
    lines = [columns, *([_text(value) for value in row] for row in rows)]
    return "".join("\t".join(" ".join(cell.split()) for cell in line) + "\n" for line in lines)


def as_markdown(columns: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table; columns without texts are right-aligned."""
    is_text = [any(isinstance(row[at], str) for row in rows) for at in range(len(columns))]
    rule = ["---" if left else "---:" for left in is_text]
    lines = [list(map(_cell, columns)), rule, *([_cell(_text(v)) for v in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_json(columns: Sequence[str], rows: Rows) -> str:
    """Return a JSON array with one object per line, as `skbviewer query --json` prints it."""
    objects = (json.dumps(dict(zip(columns, r, strict=True)), ensure_ascii=False) for r in rows)
    lines = ",\n ".join(objects)
    return f"[{lines}]\n"


def _text(value: Value) -> str:
    return "" if value is None else str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


COPIES: dict[str, Callable[[Sequence[str], Rows], str]] = {
    "TSV": as_tsv,
    "Markdown": as_markdown,
    "JSON": as_json,
}
