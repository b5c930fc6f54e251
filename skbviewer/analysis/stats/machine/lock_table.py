# SPDX-License-Identifier: MIT
"""Waits for locks, by the function that waited: `skbviewer stats locks`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...scope import Scope
from ...words.event_text import lock_kind
from ..duration_percentiles import spreads
from .lock_waits import lock_waits, waiting_functions


class LockRow(NamedTuple):
    """The waits of one function for one kind of lock.

    `locks` is the number of different locks.  Times (ns) are from the start of a wait to its end.
    """

    function: str
    host: int  # source id of the KBL
    kind: str
    locks: int
    number: int
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


def lock_rows(scope: Scope) -> list[LockRow]:
    """Return the waits for locks in the range of time, the longest total first.

    Raises Cancelled.
    """
    waits = lock_waits(scope)
    keys = [
        (function or "unknown", source, lock_kind(data))
        for function, source, data in zip(
            waiting_functions(scope, waits), waits.source.tolist(), waits.data.tolist(), strict=True
        )
    ]
    places = sorted(set(keys))
    number = {key: at for at, key in enumerate(places)}
    group = np.array([number[key] for key in keys], np.int64)
    found = spreads(group, waits.ns, len(places))
    rows = [
        LockRow(*key, len(np.unique(waits.lock[group == at])), *spread)
        for at, (key, spread) in enumerate(zip(places, found, strict=True))
    ]
    return sorted(rows, key=lambda row: (-row.total_ns, row.function, row.kind))
