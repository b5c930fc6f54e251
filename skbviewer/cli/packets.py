# SPDX-License-Identifier: MIT
"""skbviewer packets: the packet list with its matches."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..records import PacketRow
from ..session import Session
from .filtering import RowIds, add_filter, chosen, pages
from .output import Stderr, command, formats, warn_of_rules

SPENT = ("busy_ns", "wait_ns", "unknown_ns", "cpu_ns", "overlap_ns", "elsewhere")
JSON_KEYS = (*PacketRow._fields[: PacketRow._fields.index("functions") + 1], *SPENT)


def add(commands: Any) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "packets", "the packet list with its matches", _packets)
    parser.add_argument("session", type=Path)
    parser.add_argument("--kernel-only", action="store_true", help="packet lives never captured")
    add_filter(parser)
    formats(parser, "json", "csv")


def _packets(arguments: argparse.Namespace) -> int:
    session = Session.open(arguments.session)
    _follow_streams(session)
    ids = chosen(session, arguments.filter, arguments.kernel_only)
    keys = None if arguments.kernel_only else JSON_KEYS
    rows = (row for part in pages(ids) for row in session.rows(part))
    objects = ({k: v for k, v in row._asdict().items() if not keys or k in keys} for row in rows)
    if arguments.json:
        for item in objects:
            print(json.dumps(item, ensure_ascii=False))
    elif arguments.csv:
        _print_csv(objects)
    elif arguments.kernel_only:
        for item in objects:
            print("  ".join(f"{key}={value}" for key, value in item.items() if value is not None))
    else:
        _print_table(session, ids)
    return warn_of_rules(session)


def _follow_streams(session: Session) -> None:
    """So that Info tells of them."""
    progress = Stderr()
    try:
        session.follow_streams(progress)
    finally:
        progress.close()


def _print_csv(objects: Iterable[dict[str, Any]]) -> None:
    writer = csv.writer(sys.stdout)
    for number, item in enumerate(objects):
        if number == 0:
            writer.writerow(item)
        writer.writerow(map(_cell, item.values()))


def _cell(value: Any) -> Any:
    """Pairs of addresses as one cell."""
    return "; ".join(" > ".join(pair) for pair in value) if isinstance(value, tuple) else value


def _print_table(session: Session, ids: RowIds) -> None:
    head = ("No.", "Time", "Source", "Destination", "Proto", "Len", "Kernel us", "Func", "Match")
    layout = "{:>5} {:>13} {:<17} {:<17} {:<6} {:>5} {:>10} {:>4} {:<9} {}"
    print(layout.format(*head, "Info"))
    start = (session.packets(1, 1)[0].ts_ns if len(ids) else None) or 0
    for row in (row for part in pages(ids) for row in session.rows(part)):
        assert isinstance(row, PacketRow)
        kernel = "" if row.kernel_ns is None else f"{row.kernel_ns / 1000:.3f}"
        functions = "" if row.functions is None else row.functions
        seconds = "" if row.ts_ns is None else f"{(row.ts_ns - start) / 1e9:.9f}"
        ends = (row.source_text, row.destination_text, row.protocol_name, row.len)
        print(layout.format(row.number, seconds, *ends, kernel, functions, row.verdict, row.info))
