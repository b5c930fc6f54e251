# SPDX-License-Identifier: MIT
"""The memory that a call accessed: cache lines, and the pages in which they are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

PAGE_BYTES = 4096


class TouchedLine(NamedTuple):
    """A cache line (its address, unsigned), and how often it was loaded from and stored to."""

    address: int
    loads: int
    stores: int


class TouchedPage(NamedTuple):
    """A page (address, unsigned) with those of its cache lines that were accessed, by address."""

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
    """Return the address of the page in which `address` is."""
    return address // PAGE_BYTES * PAGE_BYTES


def pages_of(lines: Iterable[TouchedLine]) -> list[TouchedPage]:
    """Return the pages of cache lines, which must be in the order of their addresses."""
    return [
        TouchedPage(page, tuple(some))
        for page, some in groupby(lines, key=lambda line: page_of(line.address))
    ]
