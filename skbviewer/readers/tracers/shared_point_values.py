# SPDX-License-Identifier: MIT
"""Values that many points share: each distinct value is stored once and numbered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from ...records.types import Int32s, Int64s
from ..printable_names import printable
from .numbers_by_hash import HashedNumbers, hashes_of_columns
from .numbers_by_hash_loops import UInt64s

Value = TypeVar("Value")


def readable(raw: bytes) -> str:
    """Return bytes of a log as text; unprintable characters are escaped."""
    return printable(raw.decode("utf-8", "replace"))


class Distinct(Generic[Value]):
    """The distinct values of one kind: values[n] is the value with number n."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers = HashedNumbers()

    def of(self, hashes: UInt64s, make: Callable[[int], Value]) -> Int32s:
        """Return the number of each point's value; -1 if the point's hash is 0.

        If a value is new, `make` is called with the index of a point that has the value, and
        returns the value.
        """
        found, new = self._numbers.of(hashes)
        self.values += [make(point) for point in new.tolist()]
        return found

    def latest(self, numbers: Int32s) -> list[tuple[int, int]]:
        """Return (point, number) of the last point with each value, in order of points.

        By point: `numbers` is the number of its value.
        """
        last = np.full(len(self.values) + 1, -1, np.int64)
        last[numbers] = np.arange(len(numbers))
        met = np.flatnonzero(last[:-1] >= 0)
        return sorted(zip(last[met].tolist(), met.tolist(), strict=True))


def pair_hashes(first: UInt64s, second: UInt64s) -> UInt64s:
    """Return a hash of each row's two hashes `first` and `second`; 0 if `first` is 0."""
    mixed = hashes_of_columns(first.view(np.int64), second.view(np.int64))
    return np.where(first == 0, first, mixed)


def hashes_with_numbers(text: UInt64s, *numbers: Int64s) -> UInt64s:
    """Return for each row a hash of the text's hash `text` and of the `numbers`.

    The hash is 0 if `text` is 0 or a number is negative: then one of them is unknown.
    """
    mixed = hashes_of_columns(text.view(np.int64), *numbers)
    known = text != 0
    for column in numbers:
        known &= column >= 0
    mixed[~known] = 0
    return mixed
