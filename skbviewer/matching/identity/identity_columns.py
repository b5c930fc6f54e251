# SPDX-License-Identifier: MIT
"""The columns that identify packets, and tables of packets and footprints with these columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable, Packets, Records, part, pick
from ...records.types import Int64s
from ..match_rule_numbers import Rung

ADDRESS = ("saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")
THESIS_KEY = ("ip_version", *ADDRESS, "ip_id", "protocol")
PORTS = ("sport", "dport")
SEQUENCE = ("seq", "ack", "tcp_flags")
LENGTH = ("tot_len", "frag_off")
RUNGS: tuple[tuple[Rung, tuple[str, ...]], ...] = (
    (Rung.BY_PORTS, PORTS),
    (Rung.BY_SEQUENCE, SEQUENCE),
    (Rung.BY_LENGTH, LENGTH),
    (Rung.BY_IPV6, ("flow_label", "frag_id")),
)
KNOWN = (*THESIS_KEY, *(name for _, rung in RUNGS for name in rung))
NONE = -1  # an unknown value

Columns = Mapping[str, npt.NDArray[Any]]


class Known(NamedTuple):
    """Rows `at` of a table, with the columns that identify the packets in them."""

    rows: Packets | Records | ColumnTable
    at: Int64s

    def columns(self, some: Int64s | slice, names: Iterable[str] = KNOWN) -> Columns:
        """Return the columns `names` of some rows; `some` are indices of `at`."""
        at = self.at[some]
        return {name: part(self.rows, name, at) for name in names}


class Footprints(NamedTuple):
    """The footprints of the series in a KBL; a row is one footprint of one series."""

    rows: Records | ColumnTable  # the footprints themselves
    number: Int64s  # their row numbers there
    series: Int64s
    record: Int64s  # the first record that shows this footprint in this series

    def known(self) -> Known:
        """Return all footprints as Known rows: with the columns that identify packets."""
        return Known(self.rows, self.number)

    def of(self, index: Int64s) -> npt.NDArray[np.void]:
        """Return the footprints at the rows `index`."""
        return pick(self.rows, self.number[index])
