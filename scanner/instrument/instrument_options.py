# SPDX-License-Identifier: MIT
"""The arguments of ``skbscan instrument``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command `instrument` and its arguments to `commands`."""
    parser = commands.add_parser(
        "instrument", parents=[common], help="insert probes into the functions that the scan finds"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--patch", type=Path, metavar="OUT", help="write the changes as a patch; - for stdout"
    )
    how.add_argument("--in-place", action="store_true", help="change the files of TREE")
    how.add_argument("--undo", action="store_true", help="remove all probes from the files of TREE")
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="GLOB",
        help="only functions whose name, or FILE:FUNCTION, matches GLOB; repeatable",
    )
    parser.add_argument(
        "--manifest",
        type=Path,
        metavar="OUT",
        help="write the probes (id, place, carriers) as JSON",
    )
    parser.add_argument(
        "--runtime",
        action="store_true",
        help="also add the code that the probes call; '--undo' removes this code",
    )
