# SPDX-License-Identifier: MIT
"""skbviewer [FILE...] [--goto N] [--filter F]: the window."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from ..analysis.filter import FilterError, parse
from .starting import importing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the window."""
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="what to open")
    parser.add_argument(
        "--goto",
        type=row_id,
        metavar="N",
        default=0,
        help="go to packet N (or K<N>)",
    )
    parser.add_argument(
        "--filter", type=valid_filter, metavar="F", default="", help="show what passes a filter"
    )


def row_id(text: str) -> int:
    """ "12" -> 12, "K3" -> -3.  Raises argparse.ArgumentTypeError."""
    if re.fullmatch(r"[Kk]?[0-9]+", text) is None or int(text.lstrip("Kk")) == 0:
        raise argparse.ArgumentTypeError(f"not a packet's number: {text}")
    return -int(text[1:]) if text[0] in "Kk" else int(text)


def valid_filter(text: str) -> str:
    """The text.  Raises argparse.ArgumentTypeError where it is no display filter."""
    try:
        parse(text)
    except FilterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def run(words: Sequence[str]) -> int:
    """Show the window until it is closed; the process's exit code."""
    parser = argparse.ArgumentParser(prog="skbviewer", add_help=False)
    add_arguments(parser)
    arguments = parser.parse_args(words)
    with importing():
        from ..gui.app import run as show  # Qt is loaded only for the window
    return show(arguments.files, goto=arguments.goto, display_filter=arguments.filter)
