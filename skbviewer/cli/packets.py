# SPDX-License-Identifier: MIT
"""skbviewer packets: print the packet list, with the verdict and times of each packet."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ..export import COLUMNS, KERNEL_COLUMNS, write_rows
from ..records import PacketRow, SeriesRow
from ..session import Session
from ..session.exported_rows import first_ns
from .command_parsers import Commands, command, formats
from .file_argument import add_files, open_session, warn_of
from .filter_option import add_filter, matching_ids, pages
from .terminal_output import Stderr, print_line

# Keys of a packet's object; a row K<n> has the fields of SeriesRow instead.
JSON_KEYS = COLUMNS
HELP = """Without an option, a table is printed, in which Time is relative to the first packet.
JSON and CSV have all columns of the window; times are in nanoseconds.  Column relative_ns is the
Time column of the window.  Columns source_text and destination_text are the addresses.  Columns
sport and dport are TCP and UDP ports; table packets of `skbviewer query` also has ICMP's type and
id there (docs/schema.md).  Columns drop and drop_place show why and where the kernel dropped the
packet.  Column lost shows whether this drop lost the packet."""


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(
        commands,
        "packets",
        "print the packet list, with the verdict and times of each packet",
        _packets,
    )
    parser.epilog = HELP
    add_files(parser)
    parser.add_argument(
        "--kernel-only",
        action="store_true",
        help="list packets that only the kernel saw: K1, K2, ...",
    )
    add_filter(parser)
    formats(parser, "json", "csv", json="print one JSON object per line")


def _packets(arguments: argparse.Namespace) -> int:
    session = open_session(arguments.files)
    _follow_streams(session)
    ids = matching_ids(session, arguments.filter, arguments.kernel_only)
    first = first_ns(session.packets)
    rows = (row for part in pages(ids) for row in session.packets.rows(part))
    if arguments.json:
        for item in _objects(rows, first):
            print(json.dumps(item, ensure_ascii=False))
    elif arguments.csv:
        columns = KERNEL_COLUMNS if arguments.kernel_only else COLUMNS
        write_rows(rows, first, columns, sys.stdout)
    else:
        _print_table(rows, first, 11 if arguments.kernel_only else 9)
    return warn_of(session, arguments.files)


def _follow_streams(session: Session) -> None:
    """Follow TCP streams, so that the Info column includes the findings of TCP analysis."""
    progress = Stderr()
    try:
        session.packets.follow_streams(progress)
    finally:
        progress.close()


def _time_ns(row: PacketRow | SeriesRow) -> int | None:
    """Return a row's time of capture, or for K<n> its time by the clock fit; None if unknown."""
    return row.ts_ns if isinstance(row, PacketRow) else row.time_ns


def _objects(rows: Iterable[PacketRow | SeriesRow], first: int) -> Iterator[dict[str, Any]]:
    for row in rows:
        at = _time_ns(row)
        yield row._asdict() | {"relative_ns": None if at is None else at - first}


def _print_table(rows: Iterable[PacketRow | SeriesRow], first: int, match: int) -> None:
    """Print the rows as a table; `match` is the width of the Match column in characters."""
    head = ("No.", "Time", "Source", "Destination", "Proto", "Len", "Kernel us", "Func", "Match")
    layout = (
        f"{{:>5}} {{:>13}} {{:<17}} {{:<17}} {{:<6}} {{:>5}} {{:>10}} {{:>4}} {{:<{match}}} {{}}"
    )
    print_line(layout.format(*head, "Info"))
    for row in rows:
        at = _time_ns(row)
        seconds = "" if at is None else f"{(at - first) / 1e9:.9f}"
        kernel = "" if row.kernel_ns is None else f"{row.kernel_ns / 1000:.3f}"
        functions = "" if row.functions is None else row.functions
        cells = (*_ends(row), kernel, functions, _verdict(row), row.info)
        print_line(layout.format(row.number, seconds, *cells))


def _ends(row: PacketRow | SeriesRow) -> tuple[object, ...]:
    """Return a row's addresses, protocol and length; "" for unknown values."""
    if isinstance(row, PacketRow):
        return row.source_text, row.destination_text, row.protocol_name, row.len
    return row.saddr or "", row.daddr or "", row.protocol_name, ""


def _verdict(row: PacketRow | SeriesRow) -> str:
    return row.verdict if isinstance(row, PacketRow) else "kernel-only"
