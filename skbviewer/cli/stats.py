# SPDX-License-Identifier: MIT
"""skbviewer stats: statistics of functions, layers, processes, drops and clocks."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..analysis.stats import (
    Chosen,
    DropRow,
    FunctionRow,
    LayerRow,
    ProcessRow,
    drop_rows,
    function_rows,
    layer_table,
    process_rows,
)
from ..session import Session
from . import opening, stats_columns
from .filtering import add_filter, chosen
from .output import command, formats, warn


class Table(NamedTuple):
    """Rows, and warnings about them.

    The rows are NamedTuples of one type with the fields `keys`.
    """

    keys: tuple[str, ...]
    rows: Sequence[Any]
    warnings: tuple[str, ...] = ()


def add(commands: Any) -> None:
    """Add the command to `commands`."""
    parser = command(
        commands,
        "stats",
        "print times of functions, layers and processes; drops; clock fits",
        _stats,
    )
    parser.usage = "%(prog)s [-h] [--range A,B] [--filter F] [--all] [--json | --csv] FILE... TABLE"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = stats_columns.HELP
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE... TABLE",
        help=f"{opening.HELP}; the table comes first or last: {', '.join(sorted(TABLES))}",
    )
    parser.add_argument(
        "--range",
        metavar="A,B",
        help="only calls, legs and drops that begin from A to B, in seconds as the Time column",
    )
    add_filter(parser, "packets")
    parser.add_argument(
        "--all",
        action="store_true",
        help="include skbs that are not network packets (netlink, unix sockets)",
    )
    formats(parser, "json", "csv")


def _functions(session: Session, chosen: Chosen) -> Table:
    rows = function_rows(session.statistics(chosen))
    lost = sum(row.gaps for row in rows)
    said = (
        f"records were lost during {lost} calls: their self and compensated times are not counted"
    )
    return Table(FunctionRow._fields, rows, (said,) if lost else ())


def _layers(session: Session, chosen: Chosen) -> Table:
    table = layer_table(session.statistics(chosen))
    said = f"records of {table.gaps} legs may have been lost: they are not counted"
    return Table(LayerRow._fields, table.rows, (said,) if table.gaps else ())


def _drops(session: Session, chosen: Chosen) -> Table:
    return Table(DropRow._fields, drop_rows(session.statistics(chosen)))


def _processes(session: Session, chosen: Chosen) -> Table:
    scope = session.statistics(chosen)
    gaps = int((scope.legs & scope.gaps).sum())
    said = f"records of {gaps} legs may have been lost: they are not counted"
    return Table(ProcessRow._fields, process_rows(scope), (said,) if gaps else ())


class ClockRow(NamedTuple):
    """One segment of the fit of a capture's clock (source) to a KBL's clock (kbl).

    `interface` is None if all interfaces of the capture share one clock.
    """

    source: int
    kbl: int
    offset_ns: int
    drift_ppm: float
    residual_ns: int
    pairs: int
    interface: int | None


def _clock(session: Session, chosen: Chosen) -> Table:
    """Return the segments that apply to at least one of the chosen packets."""
    meant = session.statistics(chosen)
    source, interface = (
        np.asarray(meant.columns.array("packet", name))[meant.packets - 1]
        for name in ("source", "interface")
    )
    rows = []
    for fit in session.info()["clock"]:
        for one in dict.fromkeys(segment.get("interface") for segment in fit["segments"]):
            segments = [s for s in fit["segments"] if s.get("interface") == one]
            mine = (source == fit["source"]) & ((interface == one) | (one is None))
            first = [segment["first"] for segment in segments]
            held = np.searchsorted(first, meant.packets[mine], "right") - 1
            for at in np.unique(np.maximum(held, 0)).tolist():
                told = (segments[at].get(key) for key in ClockRow._fields[2:])
                rows.append(ClockRow(fit["source"], fit["kbl"], *told))
    return Table(ClockRow._fields, rows)


TABLES: dict[str, Callable[[Session, Chosen], Table]] = {
    "functions": _functions,
    "layers": _layers,
    "drops": _drops,
    "processes": _processes,
    "clock": _clock,
}


def _stats(arguments: argparse.Namespace) -> int:
    files, name = _in_order([str(word) for word in arguments.files])
    session = opening.opened(files)
    table = TABLES[name](session, _chosen(session, arguments))
    if arguments.json:
        print(
            json.dumps([dict(zip(_told(table), row, strict=True)) for row in table.rows], indent=1)
        )
    elif arguments.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(_told(table))
        writer.writerows([map(_joined, row) for row in table.rows])
    else:
        _print(table)
    return warn(table.warnings) | opening.warn_of(session, files)


def _in_order(words: list[str]) -> tuple[list[Path], str]:
    """Split words into files and the table, which is the last word or the first.

    Raises KeyError with a message for the user.
    """
    tables = ", ".join(sorted(TABLES))
    for files, table in ((words[:-1], words[-1]), (words[1:], words[0])):
        if table in TABLES and files:
            return [Path(file) for file in files], table
    if len(words) == 1:
        raise KeyError(f"stats: {words[0]}: expected a file and a table, one of {tables}")
    raise KeyError(f"stats: neither {words[0]} nor {words[-1]} is one of {tables}")


def _told(table: Table) -> list[str]:
    """Return the names of the columns.  A NamedTuple cannot have a field named `count`."""
    return ["count" if key == "number" else key for key in table.keys]


def _chosen(session: Session, arguments: argparse.Namespace) -> Chosen:
    begin = end = None
    if arguments.range:
        begin, end = _range(arguments.range, session)
    ids = chosen(session, arguments.filter, False) if arguments.filter else None
    return Chosen(ids, begin, end, arguments.all)


def _range(text: str, session: Session) -> tuple[int, int]:
    """Parse "0.5,1.25" seconds into session time, ns.  Raises KeyError with a message."""
    try:
        begin, end = (round(float(part) * 1e9) for part in text.split(","))
    except (ValueError, OverflowError) as error:
        raise KeyError(
            f"--range {text}: expected two numbers of seconds, such as 0.5,1.25"
        ) from error
    if begin > end:
        raise KeyError(f"--range {text}: ends before it begins")
    first = session.begin_ns()
    return first + begin, first + end


def _print(table: Table) -> None:
    """Print the table with columns as wide as their texts.  Times are microseconds."""
    head = [key.replace("_ns", "_us") for key in _told(table)]
    lines = [
        head,
        *([_text(k, v) for k, v in zip(table.keys, row, strict=True)] for row in table.rows),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [k for k in range(len(head)) if any(isinstance(row[k], str) for row in table.rows)]
    for line in lines:
        cells = (
            cell.ljust(width) if at in texts else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join(cells).rstrip())


def _text(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key.endswith("_ns") and isinstance(value, float):
        return f"{value / 1000:.3f}"
    if key.endswith("_ns"):  # exact: a float cannot hold an epoch offset in ns
        return f"{'-' if value < 0 else ''}{abs(value) // 1000}.{abs(value) % 1000:03}"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(_joined(value))


def _joined(value: Any) -> Any:
    """Join a tuple of numbers into one cell."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
