# SPDX-License-Identifier: MIT
"""IP addresses as texts, for all address columns of the documented tables.

To replace addresses, for example by pseudonyms, replace the words of the vector that
address_texts() returns: it has one word for each distinct address.
"""

from __future__ import annotations

import numpy as np

from ...records.table_columns import Vector
from ...records.types import Int64s
from .distinct_values import distinct, pairs, picked

GROUP = 0xFFFF


def address_texts(version: Int64s, hi: Int64s, lo: Int64s) -> Vector:
    """Return IP addresses as texts, like the SQL views; None for versions other than 4 and 6.

    By row: IP `version`, and the upper (`hi`) and lower (`lo`) 64 bits of the address.
    """
    version = np.where((version == 4) | (version == 6), version, 0)
    versions, kinds, lows = pairs(version, lo)
    if not (kinds == 6).any():
        known = kinds == 4
        number = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
        return Vector(picked(number, versions), None, _ipv4_texts(lows[known]))
    highs, upper = distinct(np.where(version == 6, hi, 0))
    codes, both = distinct(versions.astype(np.int64) * max(len(upper), 1) + highs)
    place, high = both // max(len(upper), 1), upper[both % max(len(upper), 1)]
    known = kinds[place] != 0
    number = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
    rows = zip(kinds[place].tolist(), high.tolist(), lows[place].tolist(), strict=True)
    return Vector(number[codes], None, [_text(*row) for row in rows if row[0]])


def _ipv4_texts(addresses: Int64s) -> list[str]:
    parts = ((addresses >> shift & 255).tolist() for shift in (24, 16, 8, 0))
    return [f"{a}.{b}.{c}.{d}" for a, b, c, d in zip(*parts, strict=True)]


def _text(version: int, hi: int, lo: int) -> str:
    if version == 4:
        return ".".join(str(lo >> shift & 255) for shift in (24, 16, 8, 0))
    parts = (part >> shift & GROUP for part in (hi, lo) for shift in (48, 32, 16, 0))
    return ":".join(f"{part:x}" for part in parts)
