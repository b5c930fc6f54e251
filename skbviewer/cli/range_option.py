# SPDX-License-Identifier: MIT
"""The option --range: times in seconds of the packet list's Time column."""

from __future__ import annotations

import argparse

from ..session import Session


def add_range(parser: argparse.ArgumentParser, of: str) -> None:
    """Add the option --range to `parser`; `of` is what it selects, for the help text."""
    parser.add_argument(
        "--range",
        metavar="A,B",
        help=f"only {of} from A on and before B, in seconds of the Time column",
    )


def session_range(text: str, session: Session) -> tuple[int, int]:
    """Parse "0.5,1.25" seconds into session time, ns.  Raises KeyError with a message."""
    try:
        begin, end = (round(float(part) * 1e9) for part in text.split(","))
    except (ValueError, OverflowError) as error:
        raise KeyError(
            f"--range {text}: expected two numbers of seconds, such as 0.5,1.25"
        ) from error
    if begin > end:
        raise KeyError(f"--range {text}: the first time is after the second")
    first = session.stats.begin_ns()
    return first + begin, first + end
