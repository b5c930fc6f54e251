# SPDX-License-Identifier: MIT
"""skbviewer path: a packet's way through the kernel."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..export import path_lines, path_xml
from ..records import Leg, PacketPath
from ..session import Session
from .output import command, formats, warn_of_rules

ROWS = ("calls", "waits", "events")


def add(commands: Any) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "path", "a packet's way through the kernel", _path)
    parser.add_argument("session", type=Path)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--packet", type=_row, metavar="N")
    which.add_argument("--series", type=_row, metavar="N")
    formats(parser, "json", "tree", "xml")


def _row(text: str) -> int:
    number = int(text)
    if abs(number) >> 63:  # SQLite's largest
        raise argparse.ArgumentTypeError(f"there is no {text}")
    return number


def _path(arguments: argparse.Namespace) -> int:
    session = Session.open(arguments.session)
    path = session.path(arguments.packet, arguments.series)
    if arguments.json:
        legs, branches = ([_leg(leg) for leg in part] for part in (path.legs, path.branches))
        packet = None if path.packet is None else path.packet.number
        rows = {"legs": legs, "branches": branches}
        print(json.dumps({"packet": packet} | _clock(path) | rows, indent=1))
    elif arguments.xml:
        print(path_xml(path))
    else:
        for line in path_lines(path):
            print(line)
    return warn_of_rules(session)


def _clock(path: PacketPath) -> dict[str, int | None]:
    """What holds of every leg; unknown where they are of several logs: each leg tells its own."""
    if not path.legs:
        return {"wire_ns": None, "wire_error_ns": None, "epoch_offset_ns": 0}
    keys = ("wire_ns", "wire_error_ns", "epoch_offset_ns")
    one = len({leg.source for leg in path.legs}) == 1
    return {key: getattr(path.legs[0], key) if one else None for key in keys}


def _leg(leg: Leg) -> dict[str, Any]:
    told = leg._asdict()
    seen = None if leg.captured is None else leg.captured._asdict()
    rows = {name: [row._asdict() for row in told[name]] for name in ROWS}
    return told | rows | {"captured": seen}
