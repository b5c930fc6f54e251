# SPDX-License-Identifier: MIT
"""The memory that a call accessed: cache lines, and the pages that contain them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

PAGE_BYTES = 4096


class TouchedLine(NamedTuple):
    """A cache line: its unsigned address, and the numbers of loads from it and of stores to it."""

    address: int
    loads: int
    stores: int


class TouchedPage(NamedTuple):
    """A page: its unsigned address, and its accessed cache lines in order of their addresses."""

    address: int
    lines: tuple[TouchedLine, ...]

    @property
    def loads(self) -> int:
        """Return the number of loads from the page."""
        return sum(line.loads for line in self.lines)

    @property
    def stores(self) -> int:
        """Return the number of stores to the page."""
        return sum(line.stores for line in self.lines)


def page_of(address: int) -> int:
    """Return the address of the page that contains `address`."""
    return address // PAGE_BYTES * PAGE_BYTES


def pages_of(lines: Iterable[TouchedLine]) -> list[TouchedPage]:
    """Group cache lines, which must be sorted by address, into their pages."""
    return [
        TouchedPage(page, tuple(some))
        for page, some in groupby(lines, key=lambda line: page_of(line.address))
    ]
