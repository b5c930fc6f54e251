# SPDX-License-Identifier: MIT
"""skbviewer query: one SELECT over the documented tables of a session."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..session.query_thread import Bounds, query
from .command_parsers import Commands, command, formats
from .file_argument import HELP, open_session, warn_of
from .query_output import print_answer
from .terminal_output import Stderr, warn

EPILOG = """docs/schema.md lists the tables and their columns.  The query can read nothing else and
change nothing; rows, memory and time are bounded.  Ctrl-C cancels it.  Example:
skbviewer query S.skbv "SELECT function, count(*) FROM calls GROUP BY 1 ORDER BY 2 DESC LIMIT 9"
"""

STDIN = "-"
LONGEST_SQL = 100_000  # bytes; SQLite refuses longer statements


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(
        commands, "query", "print the result of a SELECT over the tables of a session", _query
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("file", type=Path, metavar="FILE", help=HELP)
    parser.add_argument("sql", metavar="SQL", help="one SELECT statement; - reads standard input")
    formats(parser, "json", "csv", json="print a JSON array of objects")


def _query(arguments: argparse.Namespace) -> int:
    session = open_session([arguments.file])
    sql = _typed() if arguments.sql == STDIN else arguments.sql
    progress = Stderr()
    try:
        found = query(session.file, sql, Bounds(), progress)
    finally:
        progress.close()
    print_answer(found, arguments)
    return warn([found.cut] if found.cut else []) | warn_of(session, [arguments.file])


def _typed() -> str:
    """Return the statement on standard input.

    Raises KeyError with a message if the statement is too long or not UTF-8.
    """
    typed = sys.stdin.buffer.read(LONGEST_SQL + 1)
    if len(typed) > LONGEST_SQL:
        raise KeyError(f"query: the statement is longer than {LONGEST_SQL} bytes")
    try:
        return typed.decode()
    except UnicodeDecodeError as error:
        raise KeyError(f"query: standard input is not UTF-8 (byte {error.start})") from error
