# SPDX-License-Identifier: MIT
"""The option --filter: the display filter on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..analysis.filter import FilterError
from ..session import Session
from .output import Stderr

PAGE = 1000
RowIds = npt.NDArray[np.int64]


def add_filter(parser: argparse.ArgumentParser, of: str = "rows") -> None:
    parser.add_argument(
        "--filter", default="", metavar="F", help=f"only {of} that pass this display filter"
    )


def told(error: FilterError) -> str:
    """What to print for a filter that is wrong: the place is marked by ^ below it."""
    return f"--filter: {error.message}\n{error.text}\n{error.marked().splitlines()[1]}"


def chosen(session: Session, text: str, kernel_only: bool = False) -> RowIds:
    """Ids of the packets that pass, in file order; with `kernel_only` of the rows K<n> instead.

    Raises FilterError, BadInput and Cancelled.
    """
    progress = Stderr()
    try:
        ids = session.select(text, kernel_only=kernel_only, progress=progress)
    finally:
        progress.close()
    if ids is None:
        return np.arange(1, session.packet_count() + 1)
    return np.sort(-ids[ids < 0]) * -1 if kernel_only else ids


def pages(ids: RowIds) -> Iterator[RowIds]:
    """`ids` in parts that are read at once."""
    for begin in range(0, len(ids), PAGE):
        yield ids[begin : begin + PAGE]
