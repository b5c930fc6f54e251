# SPDX-License-Identifier: MIT
"""What the main window shows now, for windows that count these packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class View(NamedTuple):
    """The applied filter, and the timeline's range (session ns; None: no known time)."""

    filter: Callable[[], str]
    visible_ns: Callable[[], tuple[int, int] | None]
