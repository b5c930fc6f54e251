# SPDX-License-Identifier: MIT
"""The arguments of ``skbscan instrument``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser = commands.add_parser(
        "instrument", parents=[common], help="insert probes into the functions found"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--patch", type=Path, metavar="OUT", help="write a patch; - for stdout")
    how.add_argument("--in-place", action="store_true", help="change the files of TREE")
    how.add_argument("--undo", action="store_true", help="take all probes out again, in place")
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="GLOB",
        help="only functions of this name, or FILE:FUNCTION; repeatable",
    )
    parser.add_argument(
        "--manifest", type=Path, metavar="OUT", help="write id, place and carriers of each as JSON"
    )
    parser.add_argument(
        "--runtime", action="store_true", help="also put in what the probes call; --undo takes it"
    )
