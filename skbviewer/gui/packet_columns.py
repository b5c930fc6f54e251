# SPDX-License-Identifier: MIT
"""The columns of the packet list: Wireshark's, then ours.  A new column is one line here."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from PySide6.QtCore import Qt

from . import wording
from .packet_rows import ListRow

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class TimeFormat(Enum):
    """How the Time column counts; values are Wireshark's menu words."""

    FIRST = "Seconds Since First Packet"
    DAY = "Time of Day"
    EPOCH = "Seconds Since 1970-01-01"


class Column(NamedTuple):
    """A title, the text of a row, its side, and a sample as wide as it ("" = takes the rest)."""

    title: str
    value: Callable[[ListRow], str]
    align: Qt.AlignmentFlag
    sample: str


def match_text(row: ListRow) -> str:
    """ "exact", "ambiguous 62 %"."""
    if row.verdict == "ambiguous" and row.confidence is not None:
        return f"{row.verdict} {row.confidence:.0%}".replace("%", " %")
    return row.verdict


def time_text(row: ListRow, form: TimeFormat, first_ns: int) -> str:
    """The row's time; a kernel-only row has no wall clock, so it always counts from `first_ns`."""
    if row.packet is None or form is TimeFormat.FIRST:
        return wording.seconds(row.ts_ns - first_ns)
    return wording.time_of_day(row.ts_ns) if form is TimeFormat.DAY else wording.seconds(row.ts_ns)


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


TIME = 1
MATCH = 9
COLUMNS = (
    Column("No.", lambda row: row.number, RIGHT, "00000"),
    Column("Time", lambda row: "", RIGHT, "000.000000000"),
    Column("Source", lambda row: row.source, LEFT, "00:00:00:00:00:00"),
    Column("Destination", lambda row: row.destination, LEFT, "00:00:00:00:00:00"),
    Column("Protocol", lambda row: row.protocol, LEFT, "Protocol 0"),
    Column("Length", lambda row: _count(row.length), RIGHT, "Length 0"),
    Column("Info", lambda row: row.info, LEFT, ""),
    Column("Kernel time", lambda row: wording.duration(row.kernel_ns), RIGHT, "Kernel time 0"),
    Column("Functions", lambda row: _count(row.functions), RIGHT, "Functions 0"),
    Column("Match", match_text, LEFT, "ambiguous 100 %  "),
)
