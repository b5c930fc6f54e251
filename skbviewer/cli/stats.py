# SPDX-License-Identifier: MIT
"""skbviewer stats: functions, layers, processes, drops, clock."""

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
    """Rows (NamedTuples of one type, whose fields are `keys`), and warnings about them."""

    keys: tuple[str, ...]
    rows: Sequence[Any]
    warnings: tuple[str, ...] = ()


def add(commands: Any) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "stats", "times of functions, layers, programs; drops", _stats)
    parser.usage = "%(prog)s [-h] [--range A,B] [--filter F] [--all] [--json | --csv] FILE... TABLE"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = stats_columns.HELP
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE... TABLE",
        help=f"{opening.HELP}; before or behind them the table: {', '.join(sorted(TABLES))}",
    )
    parser.add_argument(
        "--range",
        metavar="A,B",
        help="only what begins (a drop: happens) from A to B, in seconds as the packet list's Time",
    )
    add_filter(parser, "packets")
    parser.add_argument(
        "--all", action="store_true", help="also what is no network packet (netlink, unix sockets)"
    )
    formats(parser, "json", "csv")


def _functions(session: Session, chosen: Chosen) -> Table:
    rows = function_rows(session.statistics(chosen))
    lost = sum(row.gaps for row in rows)
    said = f"{lost} calls lie across lost records: their self and compensated times are not counted"
    return Table(FunctionRow._fields, rows, (said,) if lost else ())


def _layers(session: Session, chosen: Chosen) -> Table:
    table = layer_table(session.statistics(chosen))
    said = f"{table.gaps} legs may lack lost records and are not counted"
    return Table(LayerRow._fields, table.rows, (said,) if table.gaps else ())


def _drops(session: Session, chosen: Chosen) -> Table:
    return Table(DropRow._fields, drop_rows(session.statistics(chosen)))


def _processes(session: Session, chosen: Chosen) -> Table:
    scope = session.statistics(chosen)
    gaps = int((scope.legs & scope.gaps).sum())
    said = f"records of {gaps} legs may have been lost: they are not counted"
    return Table(ProcessRow._fields, process_rows(scope), (said,) if gaps else ())


class ClockRow(NamedTuple):
    """One segment of the fit of a capture's clock (source) to a KBL's.

    `interface` is None where all interfaces of the capture have one clock.
    """

    source: int
    kbl: int
    offset_ns: int
    drift_ppm: float
    residual_ns: int
    pairs: int
    interface: int | None


def _clock(session: Session, chosen: Chosen) -> Table:
    """The segments that hold one of the chosen packets."""
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
    """The files and the table, which stands last or first; KeyError with a line for the user."""
    tables = ", ".join(sorted(TABLES))
    for files, table in ((words[:-1], words[-1]), (words[1:], words[0])):
        if table in TABLES and files:
            return [Path(file) for file in files], table
    if len(words) == 1:
        raise KeyError(f"stats: {words[0]}: a file and a table are needed, one of {tables}")
    raise KeyError(f"stats: neither {words[0]} nor {words[-1]} is one of {tables}")


def _told(table: Table) -> list[str]:
    """The columns' names; a NamedTuple cannot have a field `count`."""
    return ["count" if key == "number" else key for key in table.keys]


def _chosen(session: Session, arguments: argparse.Namespace) -> Chosen:
    begin = end = None
    if arguments.range:
        begin, end = _range(arguments.range, session)
    ids = chosen(session, arguments.filter, False) if arguments.filter else None
    return Chosen(ids, begin, end, arguments.all)


def _range(text: str, session: Session) -> tuple[int, int]:
    """Session time, ns; raises KeyError with a line for the user."""
    try:
        begin, end = (round(float(part) * 1e9) for part in text.split(","))
    except (ValueError, OverflowError) as error:
        raise KeyError(f"--range {text}: two numbers of seconds are needed, as 0.5,1.25") from error
    if begin > end:
        raise KeyError(f"--range {text}: ends before it begins")
    first = session.begin_ns()
    return first + begin, first + end


def _print(table: Table) -> None:
    """Columns as wide as needed; times in microseconds."""
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
    if key.endswith("_ns"):  # exact: a float has no room for the nanoseconds of an epoch's offset
        return f"{'-' if value < 0 else ''}{abs(value) // 1000}.{abs(value) % 1000:03}"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(_joined(value))


def _joined(value: Any) -> Any:
    """A list of numbers as one cell."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
