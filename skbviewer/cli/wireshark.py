# SPDX-License-Identifier: MIT
"""skbviewer wireshark: install the script and the profile that show kernel fields in Wireshark."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..export.wireshark.install import folders, install, uninstall
from ..export.wireshark.profile import wireshark_files
from .command_parsers import command
from .terminal_output import warn

HELP = """The script reads the kernel's fields from the comments that export --pcapng writes.  The
profile is named skbviewer; it has columns, colours and filter buttons.  Files that
skbviewer did not write are neither overwritten nor removed."""


def add(commands: Any) -> None:
    """Add the command to `commands`."""
    text = "let Wireshark show the kernel's fields of exported packets"
    parser = command(commands, "wireshark", text, _run)
    parser.epilog = HELP
    what = parser.add_mutually_exclusive_group(required=True)
    files = "the script and the profile"
    what.add_argument(
        "--install", action="store_true", help=f"put {files} into your Wireshark folders"
    )
    what.add_argument("--uninstall", action="store_true", help=f"remove {files}")
    what.add_argument("--print", action="store_true", help="print the script")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.print:
        print(wireshark_files()[0].text, end="")
        return 0
    where = folders(os.environ, Path.home())
    if arguments.install:
        for path in install(where):
            print(path)
        return 0
    removed, kept = uninstall(where)
    for path in removed:
        print(f"removed {path}")
    return warn(
        f"{path} was changed after skbviewer wrote it, so it is not removed" for path in kept
    )
