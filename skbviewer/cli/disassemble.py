# SPDX-License-Identifier: MIT
"""skbviewer disassemble: print the machine code of a recorded function."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from . import file_argument
from .command_parsers import Commands, command, formats
from .terminal_output import Stderr, print_lines

HELP = """Recorded code is shown as it was in memory.  IMAGE is the kernel that was recorded:
vmlinux, or /boot/vmlinuz-RELEASE.  IMAGE adds names and source lines to recorded code.  If the
recording contains no code, the code of IMAGE is shown.
COUNTS is a file that the emulator's plugin wrote since the same boot (docs/instructions.md).  With
COUNTS, the listing shows how often each instruction of recorded code was executed.
A call instruction is marked with the number of recorded calls that it made, and with the number of
drops at it."""


def add(commands: Commands) -> None:
    """Add the command to `commands`."""
    parser = command(
        commands, "disassemble", "print the machine code of a recorded function", _disassemble
    )
    parser.usage = "%(prog)s [-h] [--image IMAGE] [--counts COUNTS] [--json] FILE... FUNCTION"
    parser.epilog = HELP
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE... FUNCTION",
        help=f"{file_argument.HELP}; the last argument is the function",
    )
    parser.add_argument("--image", type=Path, metavar="IMAGE", help="a vmlinux or vmlinuz")
    parser.add_argument("--counts", type=Path, metavar="COUNTS", help="executed instructions")
    formats(parser, "json")


def _disassemble(arguments: argparse.Namespace) -> int:
    from ..analysis.words.disassembly_text import disassembly_json, disassembly_lines

    *files, function = map(str, arguments.files)
    if not files:
        raise KeyError(f"disassemble: {function}: expected a file and a function")
    paths = [Path(file) for file in files]
    session = file_argument.open_session(paths)
    progress = Stderr()
    try:
        shown = session.code.disassemble(function, arguments.image, progress, arguments.counts)
    finally:
        progress.close()
    if arguments.json:
        print(json.dumps(disassembly_json(shown), indent=1))
    else:
        print_lines(disassembly_lines(shown))
    return file_argument.warn_of(session, paths)
