# SPDX-License-Identifier: MIT
"""The option --filter: a display filter on the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..analysis.display_filter import FilterError, fields_of_calls, parse
from ..session import Session
from .terminal_output import Stderr

PAGE = 1000
RowIds = npt.NDArray[np.int64]


def add_filter(parser: argparse.ArgumentParser, of: str = "rows") -> None:
    """Add the option --filter to `parser`.

    `of` names what the filter selects, for the help text.
    """
    parser.add_argument(
        "--filter", default="", metavar="F", help=f"only {of} that match this display filter"
    )


def error_text(error: FilterError, option: str = "--filter") -> str:
    """Return the message for an invalid filter of `option`.

    A line with ^ marks the position of the error.
    """
    shown, mark, _ = error.marked().split("\n")
    return f"{option}: {error.message}\n{shown}\n{mark}"


def check_filter(text: str, option: str) -> None:
    """Raise KeyError with a message for the user if the filter of `option` is invalid."""
    try:
        parse(text)
    except FilterError as error:
        raise KeyError(error_text(error, option)) from None


def matching_ids(session: Session, text: str, kernel_only: bool = False) -> RowIds:
    """Return the ids of the packets that match a display filter, in file order (int64).

    With `kernel_only`, return the ids of matching rows K<n> instead of packets. Raises FilterError,
    BadInput and Cancelled.
    """
    progress = Stderr()
    try:
        ids = session.packets.select(text, kernel_only=kernel_only, progress=progress)
    finally:
        progress.close()
    _note_calls(session, text)
    if ids is None:
        return np.arange(1, session.packets.count() + 1)
    return np.sort(-ids[ids < 0]) * -1 if kernel_only else ids


def chosen_rows(session: Session, text: str, all_lives: bool = False) -> RowIds | None:
    """Return the rows that match a display filter: n for packet n, -n for row K<n> (int64).

    "" is no filter: the result is None. Rows without an address match only if `all_lives` is set.
    Raises FilterError, BadInput and Cancelled.
    """
    if not text:
        return None
    progress = Stderr()
    try:
        rows = session.packets.select(
            text, kernel_only=True, progress=progress, all_lives=all_lives
        )
    finally:
        progress.close()
    _note_calls(session, text)
    return rows


def _note_calls(session: Session, text: str) -> None:
    """Print a note if the filter `text` has conditions on calls, but the session has no call."""
    names = fields_of_calls(text)
    if names and not session.columns.length("call"):
        print(f"note: this recording has no calls, so none has {', '.join(names)}", file=sys.stderr)


def pages(ids: RowIds) -> Iterator[RowIds]:
    """Yield `ids` (int64) in parts of at most PAGE, so that one query reads each part."""
    for begin in range(0, len(ids), PAGE):
        yield ids[begin : begin + PAGE]
