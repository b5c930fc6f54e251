# SPDX-License-Identifier: MIT
"""A field of the display filter: its type, the table it comes from, and its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from ...records.types import Bools
from .field_source_tables import ROW, Array, View


class Kind(Enum):
    """The type of a field's values, and the word for it in the documentation."""

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
    PROTOCOL = "protocol"  # present or absent, and a range of the packet
    LABEL = "label"  # present or absent

    @property
    def phrase(self) -> str:
        """Return the word with its article: "an IPv4 address", "text"."""
        word = str(self.value)
        if self in (Kind.BOOLEAN, Kind.STRING, Kind.BYTES):
            return word
        return f"{'an' if word[0] in 'uI' else 'a'} {word}"


class Values(NamedTuple):
    """One value per row: `low` in rows that are `known` (None = all).

    IPv6 addresses have their upper 64 bits in `high`.  For text, `low` is an index of `texts`; -1 =
    none.
    """

    low: Array
    known: Bools | None = None
    high: Array | None = None
    texts: Sequence[str] | None = None

    def present(self) -> Bools:
        """Return for each row whether it has a value."""
        return np.ones(len(self.low), np.bool_) if self.known is None else self.known


Make = Callable[[View], list[Values]]


class Field(NamedTuple):
    """A name in the display filter.

    `make` returns the values for the rows of a view of `table`: several per row if the field stands
    for several, such as ip.addr.  `layer` is the header whose bytes a BYTES or PROTOCOL field has.
    """

    name: str
    kind: Kind
    description: str
    make: Make
    table: str = ROW
    layer: str = ""
    bits: int = 64  # values are below 2^bits
    words: Sequence[str] = ()  # all values that a text can have, if these are few and known


def known_column(view: View, name: str, where: Bools | None = None) -> Values:
    """Return column `name` of `view`; a value is known if it is not negative (and in `where`)."""
    low = view.column(name)
    known = low >= 0
    return Values(low, known if where is None else known & where)
