# SPDX-License-Identifier: MIT
"""skbviewer stats: print a table of STATISTICS."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..analysis.stats import STATISTICS, Chosen, Scope, Table, statistic_of
from ..analysis.stats.column_meanings import COUNTED_COLUMNS
from ..export.statistics_csv import cell, write_table_csv
from ..session import Session
from . import file_argument, stats_columns
from .command_parsers import Commands, add_inner, command, formats
from .filter_option import add_filter, chosen_rows
from .terminal_output import print_columns, print_line, warn
from .time_range_option import add_range, session_range

NAMES = sorted((*STATISTICS, *COUNTED_COLUMNS))


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(
        commands,
        "stats",
        "print a table of statistics: times, paths, drops, clock fits and others",
        _stats,
    )
    parser.usage = (
        "%(prog)s [-h] [--range A,B] [--interval S] [--filter F] [--all] [--no-inner] "
        "[--steps COUNTS] [--by GROUP] [--json | --csv] FILE... TABLE"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = stats_columns.HELP
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE... TABLE",
        help=f"{file_argument.HELP}; the first or the last argument is the table, one of those "
        f"listed below: {', '.join(NAMES)}",
    )
    add_range(parser, "packets captured, legs and calls that began, and drops")
    parser.add_argument(
        "--interval",
        type=_seconds,
        metavar="S",
        help="length of the intervals of the table `io`, in seconds",
    )
    add_filter(parser, "packets")
    parser.add_argument(
        "--all",
        action="store_true",
        help="include skbs that are not network packets (netlink, unix sockets)",
    )
    add_inner(parser)
    parser.add_argument(
        "--steps",
        type=Path,
        metavar="COUNTS",
        help="file that the emulator's plugin wrote during the recording (docs/instructions.md); "
        "needed by tables `pages`, `lines` and `exceptions`; adds executed instructions to "
        "`functions` and `layers`",
    )
    parser.add_argument(
        "--by",
        choices=("function", "layer", "packet"),
        help="rows of tables `pages` and `lines`: one for each function, layer or packet (default: "
        "function)",
    )
    formats(parser, "json", "csv")


def _stats(arguments: argparse.Namespace) -> int:
    files, name = _in_order([str(word) for word in arguments.files])
    session = file_argument.open_session(files)
    table = _table(name, _chosen(session, arguments), session, arguments)
    if arguments.json:
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        print(json.dumps(rows, indent=1))
    elif arguments.csv:
        write_table_csv(table, sys.stdout)
    else:
        _print(table)
    code = warn(table.warnings) | file_argument.warn_of(session, files)
    for note in table.notes:
        print_line(f"note: {note}", error=True)
    return code


def _table(name: str, chosen: Chosen, session: Session, arguments: argparse.Namespace) -> Table:
    """Return the table.  Raises KeyError with a message for the user."""
    counts: Path | None = arguments.steps
    if arguments.by is not None and name not in COUNTED_COLUMNS:
        raise KeyError("stats: '--by' is only for the tables pages and lines")
    if arguments.interval is not None and name != "io":
        raise KeyError("stats: '--interval' is only for the table io")
    if counts is None:
        if name in COUNTED_COLUMNS:
            raise KeyError(f"stats: {name} needs --steps COUNTS")
        return session.stats.table_of(name, chosen)
    return _with_steps(name, session.stats.scope(chosen), session, counts, arguments.by)


def _with_steps(name: str, scope: Scope, session: Session, counts: Path, by: str | None) -> Table:
    from ..analysis.executed_instructions.instruction_columns import with_executed_columns
    from ..analysis.executed_instructions.instruction_tables import Counted, counted_table

    steps = session.executed_steps(counts)
    if name in COUNTED_COLUMNS:
        made = counted_table(name, scope, Counted(steps.lines, steps.exceptions), by)
    else:
        made = with_executed_columns(name, statistic_of(name, scope), scope, steps.of_log)
    return made._replace(notes=(*made.notes, *steps.notes))


def _in_order(words: list[str]) -> tuple[list[Path], str]:
    """Split words into the files and the name of the table, which is the last or the first word.

    Raises KeyError with a message for the user.
    """
    tables = ", ".join(NAMES)
    for files, table in ((words[:-1], words[-1]), (words[1:], words[0])):
        if table in NAMES and files:
            return [Path(file) for file in files], table
    if len(words) == 1:
        raise KeyError(f"stats: {words[0]}: expected a file and a table, one of {tables}")
    raise KeyError(f"stats: neither {words[0]} nor {words[-1]} is one of {tables}")


def _chosen(session: Session, arguments: argparse.Namespace) -> Chosen:
    begin: int | None = None
    end: int | None = None
    if arguments.range:
        begin, end = session_range(arguments.range, session)
    ids = chosen_rows(session, arguments.filter, arguments.all)
    return Chosen(ids, begin, end, arguments.all, arguments.interval, arguments.inner)


def _seconds(text: str) -> int:
    """Parse a positive number of seconds into ns.  Raises argparse.ArgumentTypeError."""
    try:
        ns = round(float(text) * 1e9)
    except (ValueError, OverflowError):
        ns = 0
    if not 0 < ns < 1 << 62:
        raise argparse.ArgumentTypeError(f"not a positive number of seconds: {text}")
    return ns


def _print(table: Table) -> None:
    """Print the table with columns as wide as their texts.  Times are microseconds."""
    head = [key.replace("_ns", "_us") for key in table.columns]
    lines = [
        head,
        *([_text(k, v) for k, v in zip(table.keys, row, strict=True)] for row in table.rows),
    ]
    texts = [k for k in range(len(head)) if any(isinstance(row[k], str) for row in table.rows)]
    print_columns(lines, texts)


def _text(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key.endswith("_ns") and isinstance(value, float):
        return f"{value / 1000:.3f}"
    if key.endswith("_ns"):  # exact: a float cannot hold an epoch offset in ns
        return f"{'-' if value < 0 else ''}{abs(value) // 1000}.{abs(value) % 1000:03}"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(cell(value))
