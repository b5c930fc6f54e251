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
    """Add an option for each of `names`, keys of FORMATS; users may give only one of the options.

    `helps` maps formats to help texts, which replace the help texts of FORMATS.
    """
    group = parser.add_mutually_exclusive_group()
    for name in names:
        group.add_argument(f"--{name}", action="store_true", help=helps.get(name, FORMATS[name]))


NO_INNER = (
    "leave out functions without an skb (locks, routes, memory); their self time counts for the "
    "function around them"
)


def add_inner(parser: argparse.ArgumentParser, help_: str = NO_INNER) -> None:
    """Add the option that leaves out calls of functions without an skb."""
    parser.add_argument(
        "--no-inner",
        dest="inner",
        action="store_false",
        help=help_,
    )
