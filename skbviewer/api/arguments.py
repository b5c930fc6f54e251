# SPDX-License-Identifier: MIT
"""Arguments of the Python API: numbers, rows and names, checked before they are used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..records.types import INT64_MAX, Int64s

Several: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
One: TypeAlias = int | np.integer[Any]
Numbers: TypeAlias = Several | One


def whole_numbers(values: Numbers, what: str) -> Int64s:
    """Return one number or several as int64, in the shape of `values`.

    `what` is the argument's name. Raises TypeError for a value that is not a whole number (a bool
    does not count as one), and OverflowError for a number beyond int64.
    """
    given = np.asarray(values)
    if given.dtype.kind not in "iu" or isinstance(values, list | tuple):
        for value in np.asarray(values, object).reshape(-1).tolist():
            if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
                raise TypeError(f"{what}: expected whole numbers, not {value!r}")
    if given.dtype.kind == "u" and given.size and int(given.max()) > INT64_MAX:
        raise OverflowError(f"{what}: {given.max()} is beyond int64")
    return given.astype(np.int64)


def packet_numbers(packets: Numbers, count: int) -> Int64s:
    """Return numbers of packets (int64), ascending and each once; `count` is the number of packets.

    Raises TypeError for other values, and KeyError for a packet that does not exist.
    """
    try:
        numbers = np.unique(whole_numbers(packets, "packets"))
    except OverflowError as error:
        raise KeyError(f"no such packet: {error}") from None
    for number in (*numbers[:1].tolist(), *numbers[-1:].tolist()):
        if not 1 <= number <= count:
            raise KeyError(f"no packet {number}")
    return numbers


def row_number(row: int | str) -> int:
    """Return n for packet n, and -n for the text "K<n>", which names a row without a packet.

    Raises TypeError for another type, and KeyError if no row can have this number.
    """
    if isinstance(row, str):
        digits = re.fullmatch(r"[Kk]([0-9]+)", row)
        number = -int(digits[1]) if digits is not None else 0
    elif isinstance(row, bool) or not isinstance(row, int | np.integer):
        raise TypeError(f"packet: expected a number or 'K<n>', not {row!r}")
    else:
        number = max(int(row), 0)
    if not 0 < abs(number) <= INT64_MAX:
        raise KeyError(f"no packet {row}")
    return number


def column_names(columns: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of columns; a text is one name, None means all.

    Raises ValueError if there is no name.
    """
    names = [columns] if isinstance(columns, str) else columns
    if names is not None and not len(names):
        raise ValueError("columns: expected at least one name, or None for all")
    return names
