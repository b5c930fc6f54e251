# SPDX-License-Identifier: MIT
"""skbviewer export: the annotated path as a picture or table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..session import Session
from .output import command


def add(commands: Any) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "export", "the annotated path as a picture or table", _export)
    parser.add_argument("session", type=Path)
    parser.add_argument("--packet", type=int, metavar="N", default=1)
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--png", type=Path, metavar="OUT")
    form.add_argument("--csv", type=Path, metavar="OUT")


def _export(arguments: argparse.Namespace) -> int:
    session = Session.open(arguments.session)
    if arguments.csv:
        session.export_csv(arguments.packet, arguments.csv)
    if arguments.png:
        from ..gui.render import render_png  # pictures need Qt, but no display

        render_png(session, arguments.png, arguments.packet)
    return 0
