# SPDX-License-Identifier: MIT
"""The rule that says which path a packet took (docs/times.md), as functions for compiled loops.

The path of a leg is its direction, whether it was dropped, and its functions in the order in which
each was first called between the leg's start and its end.  Functions of the layers in OFF_PATH are
left out: they vary from packet to packet.  The path of a packet consists of the paths of its legs,
in their order.  A path's number is made from names, so equal paths have equal numbers in all
recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import Int64s

OFF_PATH = frozenset({"memory", "tap", "socket", "other"})
ODD = np.int64(-7046029254386353131)  # 2^64 / golden ratio (Knuth, TAOCP 6.4)
OFF = np.int64(0)  # the number of a function that is not a step of a path


def step_numbers(functions: Sequence[str], layers: Sequence[str]) -> Int64s:
    """Return the number (int64) that stands for each function in a path.

    The number is a hash of the function's name, or OFF if its layer is in OFF_PATH.  `layers` is
    parallel to `functions`.  The result ends with a further element, OFF, for calls whose function
    has no name.
    """
    numbers = [
        OFF if layer in OFF_PATH else _number(name)
        for name, layer in zip(functions, layers, strict=True)
    ]
    return np.array([*numbers, OFF], np.int64)


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little", signed=True)


def path_name(number: int) -> str:
    """Return the name of the path `number`: 16 hexadecimal digits."""
    return f"{number & 0xFFFFFFFFFFFFFFFF:016x}"


@allocation_free
def begin_path(kind: Int, dropped: Int) -> np.int64:
    """Return the number of the path of a leg that has no functions yet.

    `kind` is the leg's direction; `dropped` is 1 if its packet was dropped in the leg, otherwise 0.
    """
    return mix(np.int64(0), np.int64(kind) * 2 + dropped + 1)


@allocation_free
def is_step(number: Int, entry: Int, begin: Int, end: Int) -> bool:
    """Return whether a function's first call in a leg is a step of the leg's path.

    Only the first call of a function can be a step.  `number` is the step number of the function,
    `entry` the time of the call (ns), and `begin` and `end` are the times of the leg (ns).
    """
    return bool(number != OFF and begin <= entry and entry < end)


@allocation_free
def mix(value: Int, more: Int) -> np.int64:
    """Return the number of a path: the path `value` and then one more step or leg, `more`."""
    mixed = (np.int64(value) ^ np.int64(more)) * ODD
    return np.int64(mixed ^ (mixed >> 29))
