# SPDX-License-Identifier: MIT
"""skbviewer import: build a session from captures and KBLs."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..session import import_files
from .command_parsers import Commands, command
from .terminal_output import Stderr, warn


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "import", "build a session from captures and KBLs", _import)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="S.skbv",
        help="session file to write; an existing file is rebuilt and keeps its notes and marks",
    )
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="captures and KBLs to import; or a session, whose input files are imported again",
    )


def _import(arguments: argparse.Namespace) -> int:
    progress = Stderr()
    try:
        result = import_files(arguments.files, arguments.output, progress)
    finally:
        progress.close()
    return warn(result.warnings)
