# SPDX-License-Identifier: MIT
"""A field of the display filter: its type, the table that it comes from, and its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from ...records.types import Bools
from .field_source_tables import ROW, Array, View


class Kind(Enum):
    """The type of a field's values; a member's value is the word in the documentation."""

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
        """Return the type as words with an article: "an IPv4 address", "text"."""
        word = str(self.value)
        if self in (Kind.BOOLEAN, Kind.STRING, Kind.BYTES):
            return word
        return f"{'an' if word[0] in 'uI' else 'a'} {word}"


class Values(NamedTuple):
    """The values of rows, in `low`; `known` marks rows whose value is known (None: all rows).

    `high` has the upper 64 bits of IPv6 addresses.  For texts, `low` is an index of `texts`, or -1
    for no text.
    """

    low: Array
    known: Bools | None = None
    high: Array | None = None
    texts: Sequence[str] | None = None

    def present(self) -> Bools:
        """Return for each row whether its value is known."""
        return np.ones(len(self.low), np.bool_) if self.known is None else self.known


Make = Callable[[View], list[Values]]


class Field(NamedTuple):
    """A field: a name that can be used in a display filter.

    `make` returns the values for the rows of a view of `table`.  If a field such as ip.addr stands
    for several values, `make` returns several for each row.  `layer` is the header whose bytes are
    the value of a BYTES or PROTOCOL field.
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
    """Return column `name` of `view`; known are values of at least 0 that `where` marks."""
    low = view.column(name)
    known = low >= 0
    return Values(low, known if where is None else known & where)
