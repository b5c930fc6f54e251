# SPDX-License-Identifier: MIT
"""Small numbers for the ports and sequence numbers of all packets, for finding segments quickly.

The two ports of a packet become one 16-bit number, and its sequence number becomes another.
Packets with equal ports have equal numbers, but packets with different ports may have equal
numbers, too.  Reading the columns of ports and sequence numbers would take ten times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Bools, Int64s, UInt16s
from ...store import Columns
from ...store.whole_columns import Array
from ..row_number_sets import flags_of
from .field_source_tables import PACKET, SERIES, Data

FACTOR = 31  # makes one number of two ports
NUMBERS = 1 << 16


class SegmentKeys(NamedTuple):
    """The numbers of the rows `rows` (0-based, rising) of a table; None: all rows from `first`."""

    ports: UInt16s
    seq: UInt16s
    rows: Array | None
    first: int = 0

    def rows_at(self, places: Int64s) -> Int64s:
        """Return the table's rows (0-based) whose numbers are at the indices `places`."""
        return places + self.first if self.rows is None else np.asarray(self.rows[places], np.int64)

    def between(self, first: int, end: int) -> SegmentKeys:
        """Return the numbers of the rows from `first` (at least 0) to `end` (not included)."""
        mine = slice(first, end)
        return SegmentKeys(self.ports[mine], self.seq[mine], None, self.first + first)

    def with_ports(self, ports: UInt16s) -> Int64s:
        """Return the rows (0-based, rising) whose number for ports is one of `ports`."""
        return self.rows_at(_places(_flags(ports), ANY, self.ports, self.seq))

    def like(self, ports: UInt16s, seq: UInt16s) -> Int64s:
        """Return the rows (0-based, rising) with one of the numbers `ports` and one of `seq`."""
        return self.rows_at(_places(_flags(ports), _flags(seq), self.ports, self.seq))


ANY = np.ones(NUMBERS, np.bool_)


@compiled
def _places(with_ports: Bools, with_seq: Bools, ports: UInt16s, seq: UInt16s) -> Int64s:
    count = 0
    for place in range(len(ports)):
        count += with_ports[ports[place]] and with_seq[seq[place]]
    found = np.empty(count, np.int64)
    at = 0
    for place in range(len(ports)):
        if with_ports[ports[place]] and with_seq[seq[place]]:
            found[at] = place
            at += 1
    return found


def packet_keys(columns: Columns, data: Data | None) -> SegmentKeys:
    """Return the numbers of all packets; `data`, if given, caches them."""
    return _kept(columns, data, PACKET)


def kernel_only_keys(columns: Columns, data: Data | None) -> SegmentKeys:
    """Return the numbers of the rows K<n> of table `series`; `data`, if given, caches them."""
    return _kept(columns, data, SERIES)


def _kept(columns: Columns, data: Data | None, table: str) -> SegmentKeys:
    if data is None:
        return _made(columns, table)
    kept: SegmentKeys = data.cached(f"segment keys {table}", lambda: _made(columns, table))
    return kept


def _made(columns: Columns, table: str) -> SegmentKeys:
    ports, seq = np.empty((2, columns.length(table)), np.uint16)
    for first, (sport, dport, number) in columns.pieces(table, "sport", "dport", "seq"):
        mine = slice(first, first + len(sport))
        ports[mine], seq[mine] = port_number(sport, dport), sequence_number(number)
    if table == PACKET:
        return SegmentKeys(ports, seq, None)
    rows = np.flatnonzero(columns.once(table, "kernel_only") > 0)
    return SegmentKeys(ports[rows], seq[rows], rows.astype(np.int32))


def port_number(sport: Array, dport: Array) -> UInt16s:
    """Return one 16-bit number for the two ports of each row; see SegmentKeys.ports."""
    number = sport.astype(np.uint16) * np.uint16(FACTOR)
    return np.asarray(number + dport.astype(np.uint16), np.uint16)


def sequence_number(seq: Array) -> UInt16s:
    """Return a 16-bit number for each sequence number: its lowest bits."""
    return seq.astype(np.uint16)


def _flags(numbers: UInt16s) -> Bools:
    return flags_of(numbers.astype(np.int64), NUMBERS)
