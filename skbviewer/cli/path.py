# SPDX-License-Identifier: MIT
"""skbviewer path: print a packet's path through the kernel."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..analysis.scope.without_inner_calls import path_without_inner
from ..export import path_lines, path_xml, write_path_csv
from ..export.atomic_write import STDOUT
from ..export.path_csv import STEPS
from ..records import Leg, PacketPath, PathCall, PathEvent, pages_of
from ..session import Session
from .command_parsers import Commands, add_inner, command, formats
from .file_argument import add_files, open_session, warn_of
from .row_numbers import path_of, row_id
from .terminal_output import print_line, print_lines

ROWS = ("calls", "waits", "events")
HELP = """Entry and exit are in microseconds since the start of the leg.  self excludes inner calls
and interrupts.  In JSON, CSV and XML, all times are nanoseconds on the KBL's clock.
COUNTS is a file that the emulator's plugin wrote during the recording (docs/instructions.md).  From
COUNTS come three numbers of executed instructions for each call: steps counts those of the kernel,
self steps those of the kernel outside inner calls, and probe steps those of the probes.  If loads
and stores of a function were counted, JSON and XML list the pages and cache lines that its calls
accessed.
The CSV is the same as that of `skbviewer export --csv`, with the steps in the last columns."""


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "path", "print a packet's path through the kernel", _path)
    parser.epilog = HELP
    add_files(parser)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--packet",
        type=row_id,
        metavar="N",
        help="number of a packet, or K<N> for a row without a captured packet",
    )
    which.add_argument(
        "--series",
        type=_series,
        metavar="N",
        help="number of an skb lifetime, as the printed tree shows it",
    )
    add_inner(parser)
    parser.add_argument("--steps", type=Path, metavar="COUNTS", help="executed instructions")
    formats(parser, "json", "csv", "tree", "xml")


def _series(text: str) -> int:
    if not text.isdecimal() or int(text) >> 63:  # SQLite's largest
        raise argparse.ArgumentTypeError(f"not a series number: {text}")
    return int(text)


def _path(arguments: argparse.Namespace) -> int:
    session = open_session(arguments.files)
    path = path_of(session, arguments.packet, arguments.series)
    without = frozenset((*STEPS, "pages"))
    if arguments.steps is not None:
        path, without = _with_steps(session, path, arguments.steps), frozenset()
    if not arguments.inner:
        path = path_without_inner(path)
    if arguments.json:
        legs, branches = (
            [_leg(leg, without) for leg in part] for part in (path.legs, path.branches)
        )
        packet = None if path.packet is None else path.packet.number
        rows = {"legs": legs, "branches": branches}
        print(json.dumps({"packet": packet} | _clock(path) | rows, indent=1))
    elif arguments.xml:
        for line in path_xml(path).split("\n"):
            print_line(line)  # XML cannot contain control characters
    elif arguments.csv:
        write_path_csv(path, session.sources(), STDOUT, steps=arguments.steps is not None)
    else:
        print_lines(path_lines(path))
    return warn_of(session, arguments.files)


def _with_steps(session: Session, path: PacketPath, counts: Path) -> PacketPath:
    from ..analysis.executed_instructions import with_steps

    steps = session.executed_steps(counts)
    for note in steps.notes:
        print_line(f"note: {note}", error=True)
    return with_steps(path, steps.of_log, steps.lines)


def _clock(path: PacketPath) -> dict[str, int | None]:
    """Return the clock's values that are equal for all legs of a path.

    The values are None if the legs are from several logs, because each leg then has values of its
    own.
    """
    if not path.legs:
        return {"wire_ns": None, "wire_error_ns": None, "epoch_offset_ns": 0}
    keys = ("wire_ns", "wire_error_ns", "epoch_offset_ns")
    one = len({leg.source for leg in path.legs}) == 1
    return {key: getattr(path.legs[0], key) if one else None for key in keys}


def _leg(leg: Leg, without: frozenset[str]) -> dict[str, Any]:
    """Return the values of a leg for JSON; its calls lack the keys `without`."""
    fields = leg._asdict()
    seen = None if leg.captured is None else leg.captured._asdict()
    rows = {name: [row._asdict() for row in fields[name]] for name in ROWS}
    calls = [_call(call) for call in leg.calls]
    rows["calls"] = [{k: v for k, v in row.items() if k not in without} for row in calls]
    rows["events"] = [_event(event) for event in leg.events]
    return fields | rows | {"captured": seen}


def _call(call: PathCall) -> dict[str, Any]:
    """Return the values of a call for JSON; cache lines are listed under their pages."""
    fields = call._asdict()
    lines = fields.pop("lines")
    pages = [
        {"address": page.address, "loads": page.loads, "stores": page.stores,
         "lines": [line._asdict() for line in page.lines]}
        for page in pages_of(lines or ())
    ]  # fmt: skip
    return fields | {"pages": None if lines is None else pages}


def _event(event: PathEvent) -> dict[str, Any]:
    """Return the values of an event for JSON.

    Only events from other tracers' logs have sections.
    """
    fields = event._asdict()
    sections, details = fields.pop("sections"), fields.pop("details")
    return fields | ({"sections": dict(sections), "details": details} if sections else {})
