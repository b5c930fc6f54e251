# SPDX-License-Identifier: MIT
"""What a field of the display filter is: its type, where it comes from, how its values are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from .fields_data import ROW, Array, Mask, View


class Kind(Enum):
    """The type of a field's values, with the word the documentation has for it."""

    UNSIGNED = "unsigned number"
    BOOLEAN = "true or false"
    ETHER = "hardware address"
    IPV4 = "IPv4 address"
    IPV6 = "IPv6 address"
    DURATION = "duration"  # int64 ns
    TIME = "date and time"  # int64 ns since the epoch
    STRING = "text"
    FLOAT = "real number"
    KERNEL = "kernel address"
    BYTES = "bytes"  # a range of the packet
    PROTOCOL = "protocol"  # there or not, and a range of the packet
    LABEL = "label"  # there or not


class Values(NamedTuple):
    """One value a row: `low` where `known` (None = everywhere).

    IPv6 has its upper 64 bits in `high`; for text `low` are indices in `texts` (-1 = none).
    """

    low: Array
    known: Mask | None = None
    high: Array | None = None
    texts: Sequence[str] | None = None

    def present(self) -> Mask:
        return np.ones(len(self.low), np.bool_) if self.known is None else self.known


Make = Callable[[View], list[Values]]


class Field(NamedTuple):
    """A word of the display filter.

    `make` gives the values for the rows of a view of `table`; several per row where a field stands
    for several, as ip.addr.  `layer` names the header whose bytes a BYTES or PROTOCOL field is.
    """

    name: str
    kind: Kind
    description: str
    make: Make
    table: str = ROW
    layer: str = ""
    bits: int = 64  # values are below 2^bits
    words: Sequence[str] = ()  # all values a text can have, where these are few and known


def known_column(view: View, name: str, where: Mask | None = None) -> Values:
    """A column, known where it is not negative (and in `where`)."""
    low = view.column(name)
    known = low >= 0
    return Values(low, known if where is None else known & where)
