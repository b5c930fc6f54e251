# SPDX-License-Identifier: MIT
"""Rows as text, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

Row = dict[str, Any]


def as_json(rows: Iterable[Row]) -> Iterator[str]:
    """Yield an array, one object a line."""
    comma = "["
    for row in rows:
        yield comma + json.dumps(row)
        comma = ","
    yield "]" if comma == "," else "[]"


def as_csv(rows: list[Row]) -> Iterator[str]:
    """Yield the rows as RFC 4180 has them; lists and objects as JSON inside a field."""
    if not rows:
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(json.dumps(v) if isinstance(v, (list, dict)) else v for v in row.values())
    yield text.getvalue().rstrip("\n")


def polymorphism(row: Row) -> str:
    """level, kind, name, how it is reached, place."""
    how = f"{row['how']} {row['member']}".strip()
    via = " > ".join(row["via"])
    return f"{row['level']:>2} {row['kind']:<13} {row['name']:<36} {how:<28} {via}  {_place(row)}"


def direct(row: Row) -> str:
    """mark, level, name, parameters and result concerned, place."""
    uses = [f"{u['index']}: {u['type']} {u['name']}".rstrip() for u in row["parameters"]]
    uses += [f"returns {row['returns']}"] if row["returns"] else []
    return (
        f"{row['mark']:<5} {row['level']:>2} {row['function']:<36} {'; '.join(uses)}  {_place(row)}"
    )


def indirect(row: Row) -> str:
    """side, round, name, the call that shows it, place."""
    seen = row["witness"]
    by = "" if seen["by"] == "call" else f" by {seen['by']}"
    return (
        f"{row['side']:<6} {row['round']:>2} {row['function']:<36} "
        f"{seen['caller']} -> {seen['callee']}({row['argument']}) at "
        f"{seen['file']}:{seen['line']}{by}  {_place(row)}"
    )


def _place(row: Row) -> str:
    return f"{row['file']}:{row['line']}" if row["file"] else ""
