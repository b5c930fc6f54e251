# SPDX-License-Identifier: MIT
"""skbviewer dump: print a KBL's records as text."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import readers
from ..export import dump_lines
from ..records import BadInput, KernelLog
from .command_parsers import Commands, command
from .terminal_output import Stderr, print_lines, warn


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(commands, "dump", "print a KBL's records as text", _dump)
    parser.add_argument("file", type=Path, metavar="FILE.kbl", help="a kernel log")


def _dump(arguments: argparse.Namespace) -> int:
    log = readers.read(arguments.file, Stderr())
    if not isinstance(log, KernelLog):
        raise BadInput(arguments.file, None, "not a KBL")
    print_lines(dump_lines(log))
    return warn(log.warnings)
