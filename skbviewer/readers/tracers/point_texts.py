# SPDX-License-Identifier: MIT
"""What points have in common, each different value kept once and numbered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from ...records.types import Int32s, Int64s
from ..printable_names import printable
from .hashed_number_loops import UInt64s
from .hashed_numbers import HashedNumbers, hashes_of_columns

Value = TypeVar("Value")


def readable(raw: bytes) -> str:
    """A text from a log as it can be shown."""
    return printable(raw.decode("utf-8", "replace"))


class Distinct(Generic[Value]):
    """The different values of one kind: `values` has them by number."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers = HashedNumbers()

    def of(self, hashes: UInt64s, make: Callable[[int], Value]) -> Int32s:
        """The number of each point's value, -1 = the hash is 0.

        `make` returns the value of a point, for each new value.
        """
        found, new = self._numbers.of(hashes)
        self.values += [make(point) for point in new.tolist()]
        return found

    def latest(self, numbers: Int32s) -> list[tuple[int, int]]:
        """(point, number) of the last point with each of the values, in order."""
        last = np.full(len(self.values) + 1, -1, np.int64)
        last[numbers] = np.arange(len(numbers))
        met = np.flatnonzero(last[:-1] >= 0)
        return sorted(zip(last[met].tolist(), met.tolist(), strict=True))


def both(first: UInt64s, second: UInt64s) -> UInt64s:
    """The hash of two values together; 0 where the first one has none."""
    mixed = hashes_of_columns(first.view(np.int64), second.view(np.int64))
    return np.where(first == 0, first, mixed)


def with_numbers(text: UInt64s, *numbers: Int64s) -> UInt64s:
    """The hash of a text and numbers; 0 where one of them is unknown."""
    mixed = hashes_of_columns(text.view(np.int64), *numbers)
    known = text != 0
    for column in numbers:
        known &= column >= 0
    mixed[~known] = 0
    return mixed
