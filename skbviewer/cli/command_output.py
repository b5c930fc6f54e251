# SPDX-License-Identifier: MIT
"""Parts that all commands share: progress, warnings with their exit code, format options."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class Stderr:
    """Progress on stderr, at most ten times a second, and only on a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0

    def report(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` units of `what` are done."""
        now = time.monotonic()
        if self._shown and now - self._last > 0.1:
            self._last = now
            print(f"\r{what}: {100 * done // max(total, 1):3d} %\033[K", end="", file=sys.stderr)

    def close(self) -> None:
        """Remove the progress line."""
        if self._last:
            print("\r\033[K", end="", file=sys.stderr)


def warn(warnings: Iterable[str]) -> int:
    """Print warnings about the data; return 1 if there are any, and 0 otherwise."""
    listed = list(warnings)
    for warning in listed:
        print(f"warning: {warning}", file=sys.stderr)
    return 1 if listed else 0


def command(
    commands: Commands, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Add a command that calls `run`; `text` is its description."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


FORMATS = {
    "json": "as one JSON value",
    "csv": "as CSV",
    "tree": "as an indented tree (the default)",
    "xml": "as XML",
}


def formats(parser: argparse.ArgumentParser, *names: str, **helps: str) -> None:
    """Add mutually exclusive options for the formats `names`.

    `helps` replaces texts of FORMATS.
    """
    group = parser.add_mutually_exclusive_group()
    for name in names:
        group.add_argument(f"--{name}", action="store_true", help=helps.get(name, FORMATS[name]))
