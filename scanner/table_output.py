# SPDX-License-Identifier: MIT
"""Write rows as text, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

Row = dict[str, Any]

STANDARD = "standard output"  # its name in an OSError


def as_json(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a JSON array with one object per line."""
    comma = "["
    for row in rows:
        yield comma + json.dumps(row)
        comma = ","
    yield "]" if comma == "," else "[]"


def as_csv(rows: list[Row]) -> Iterator[str]:
    """Yield the rows as CSV (RFC 4180), with lists and objects as JSON in a field."""
    if not rows:
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(json.dumps(v) if isinstance(v, (list, dict)) else v for v in row.values())
    yield text.getvalue().rstrip("\n")


def polymorphism(row: Row) -> str:
    """Return the text line of a row of table polymorphism: level, kind, name, path, place."""
    how = f"{row['how']} {row['member']}".strip()
    via = " > ".join(row["via"])
    return f"{row['level']:>2} {row['kind']:<13} {row['name']:<36} {how:<28} {via}  {_place(row)}"


def direct(row: Row) -> str:
    """Return the text line of a direct function: mark, level, name, types, file and line."""
    uses = [f"{u['index']}: {u['type']} {u['name']}".rstrip() for u in row["parameters"]]
    uses += [f"returns {row['returns']}"] if row["returns"] else []
    return (
        f"{row['mark']:<5} {row['level']:>2} {row['function']:<36} {'; '.join(uses)}  {_place(row)}"
    )


def indirect(row: Row) -> str:
    """Return an indirect function's text line: side, round, name, call that led to it, place."""
    seen = row["witness"]
    by = "" if seen["by"] == "call" else f" by {seen['by']}"
    return (
        f"{row['side']:<6} {row['round']:>2} {row['function']:<36} "
        f"{seen['caller']} -> {seen['callee']}({row['argument']}) at "
        f"{seen['file']}:{seen['line']}{by}  {_place(row)}"
    )


def fallback(row: Row) -> str:
    """Return the text line of a row about the fallback: place, what was not read, and why."""
    what = row["function"] if row["kind"] == "struct" else f"{row['kind']} {row['function']}"
    return f"{_place(row)}: {what}: {row['reason']}"


def forget(stream: TextIO) -> None:
    """Discard the unwritten output of a stream whose reader has exited, or whose disk is full."""
    if isinstance(stream, io.TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write(lines: Iterable[str], path: Path | None) -> None:
    """Write lines to the file `path`; None or - is standard output.

    Raises OSError with the name of the file.
    """
    text = "\n".join(lines)
    write_bytes(f"{text}\n".encode(errors="surrogateescape") if text else b"", path)


def write_bytes(data: bytes, path: Path | None) -> None:
    """Write bytes to the file `path`; None or - is standard output.

    Raises OSError with the name of the file.
    """
    standard = path is None or str(path) == "-"
    try:
        if path is None or standard:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            path.write_bytes(data)
    except OSError as problem:
        name = STANDARD if standard else str(path)
        raise OSError(problem.errno, problem.strerror, name) from None


def _place(row: Row) -> str:
    return f"{row['file']}:{row['line']}" if row["file"] else ""
