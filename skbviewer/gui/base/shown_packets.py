# SPDX-License-Identifier: MIT
"""The filter and range that the main window shows now; other windows count the packets in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

NO_RANGE = (
    "The timeline shows times relative to each packet; choose other lanes to use the timeline's "
    "range."
)


class View(NamedTuple):
    """Functions that return the applied display filter, and the timeline's visible range.

    The range is (begin, end) in session time, ns; None if the timeline shows no session times.
    """

    filter: Callable[[], str]
    visible_ns: Callable[[], tuple[int, int] | None]
