# SPDX-License-Identifier: MIT
"""skbviewer [FILE...] [--goto N] [--filter F]: open the window."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from pathlib import Path

from ..analysis.display_filter import FilterError, parse
from ..records import BadInput
from .program_start import importing, needing_qt
from .row_numbers import row_id


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the window to `parser`."""
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="captures, KBLs or sessions to open"
    )
    parser.add_argument(
        "--goto",
        type=row_id,
        metavar="N",
        default=0,
        help="go to packet N (or K<N>)",
    )
    parser.add_argument(
        "--filter", type=valid_filter, metavar="F", default="", help="apply this display filter"
    )


def valid_filter(text: str) -> str:
    """Return `text` unchanged if it is a valid display filter.

    Raises argparse.ArgumentTypeError otherwise.
    """
    try:
        parse(text)
    except FilterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _check(files: Sequence[Path]) -> None:
    """Raise KeyError for a word that is no command and no file, BadInput for a missing file."""
    from .main import COMMANDS

    for place, file in enumerate(files):
        if file.exists():
            continue
        if place == 0 and file.name == str(file) and not file.suffix:
            close = difflib.get_close_matches(str(file), COMMANDS, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise KeyError(f"{file} is neither a command nor a file{hint}")
        raise BadInput(file, None, "no such file")


def run(words: Sequence[str]) -> int:
    """Show the window until it is closed; return the process's exit code."""
    parser = argparse.ArgumentParser(prog="skbviewer", add_help=False)
    add_arguments(parser)
    arguments = parser.parse_args(words)
    _check(arguments.files)
    with importing(), needing_qt("the window"):
        from ..gui.window.app import run as show  # Qt is loaded only for the window
    return show(arguments.files, goto=arguments.goto, display_filter=arguments.filter)
