# SPDX-License-Identifier: MIT
"""Cache the last tables and diagnoses of an open session, so that they are shown again at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...analysis.stats import Chosen
from ...records.types import Int64s

CELL_BYTES = 64  # of a cell of a table, about
Result = TypeVar("Result")


class _Key(NamedTuple):
    """The request that a result answers; a hash stands for the packets."""

    what: str
    packets: bytes | None
    ids: bytes | None
    others: Chosen  # without its packets


class KeptResults:
    """Caches results by the request that they answer; several threads may call it at once.

    A session does not change while it is open, so cached results stay right.
    """

    def __init__(self, budget: int) -> None:
        """Cache results of at most `budget` bytes together."""
        self._budget, self._size = budget, 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, tuple[Any, int]] = OrderedDict()

    def get(
        self,
        what: str,
        chosen: Chosen,
        ids: Int64s | None,
        make: Callable[[], Result],
        size_of: Callable[[Result], int],
    ) -> Result:
        """Return make(), or the cached result for the same `what`, `chosen` and `ids`.

        `size_of` returns the size of a result in bytes.  The results that were used last stay in
        the cache.
        """
        others = chosen._replace(packets=None)
        key = _Key(what, _digest(chosen.packets), _digest(ids), others)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: Result = self._kept[key][0]
                return found
        made = make()
        self._keep(key, made, size_of(made))
        return made

    def _keep(self, key: _Key, made: object, size: int) -> None:
        with self._lock:
            if key in self._kept or size > self._budget:
                return
            self._kept[key] = (made, size)
            self._size += size
            while self._size > self._budget:
                _, (_, less) = self._kept.popitem(last=False)
                self._size -= less


def _digest(numbers: Int64s | None) -> bytes | None:
    if numbers is None:
        return None
    values = np.ascontiguousarray(numbers, np.int64)
    return blake2b(values.data, digest_size=16).digest()
