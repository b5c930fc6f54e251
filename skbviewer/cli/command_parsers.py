# SPDX-License-Identifier: MIT
"""Add the parser of a command, and the options for its output format, which many commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(
    commands: Commands, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Add a command that calls `run`; `text` is its description."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


FORMATS = {
    "json": "print one JSON value",
    "csv": "print CSV",
    "tree": "print an indented tree (the default)",
    "xml": "print XML",
}


def formats(parser: argparse.ArgumentParser, *names: str, **helps: str) -> None:
    """Add an option for each of the formats `names`, keys of FORMATS; only one may be given.

    `helps` maps formats to help texts, which replace the help texts of FORMATS.
    """
    group = parser.add_mutually_exclusive_group()
    for name in names:
        group.add_argument(f"--{name}", action="store_true", help=helps.get(name, FORMATS[name]))


def add_inner(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves out calls of functions that have no skb."""
    parser.add_argument(
        "--no-inner",
        dest="inner",
        action="store_false",
        help="leave out functions without an skb (locks, routes, memory); the time of such a "
        "function counts as self time of its caller",
    )
