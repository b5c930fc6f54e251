# SPDX-License-Identifier: MIT
"""The option --range: times in seconds of the packet list's Time column."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..records.types import EARLIEST_NS, LATEST_NS
from ..session import Session

OPEN = "a missing A or B means no limit"


def add_range(parser: argparse.ArgumentParser, of: str) -> None:
    """Add the option --range to `parser`; `of` names what the range selects, for the help text."""
    parser.add_argument(
        "--range",
        metavar="A,B",
        help=f"only {of} from A on and before B, in seconds of the Time column; {OPEN}",
    )


def two_times(text: str, parse: Callable[[str], int]) -> tuple[int, int]:
    """Parse "0.5,1.25" into two times; `parse` converts each text into ns.

    In "0.5," and ",1.25", the missing time is LATEST_NS or EARLIEST_NS. Raises ValueError if `text`
    is not two times, and the errors that `parse` raises.
    """
    first, comma, second = (part.strip() for part in text.partition(","))
    if not comma or not (first or second):
        raise ValueError(f"{text!r} is not two times")
    begin = parse(first) if first else EARLIEST_NS
    return begin, parse(second) if second else LATEST_NS


def shifted(times: tuple[int, int], by: int) -> tuple[int, int]:
    """Return the range `times` shifted by `by` ns; a missing limit stays missing."""
    begin, end = times
    return begin if begin == EARLIEST_NS else begin + by, end if end == LATEST_NS else end + by


def session_range(text: str, session: Session) -> tuple[int | None, int | None]:
    """Parse "0.5,1.25" (seconds) into two session times in ns; a missing limit is None.

    Raises KeyError with a message.
    """
    try:
        times = two_times(text, lambda part: round(float(part) * 1e9))
    except (ValueError, OverflowError) as error:
        raise KeyError(
            f"--range {text}: expected numbers of seconds, such as '0.5,1.25', '0.5,' or ',1.25'"
        ) from error
    if times[0] > times[1]:
        raise KeyError(f"--range {text}: the first time is after the second")
    begin, end = shifted(times, session.stats.begin_ns())
    return None if begin == EARLIEST_NS else begin, None if end == LATEST_NS else end
