# SPDX-License-Identifier: MIT
"""The columns of the packet list.  A new column is one line here; any field can become one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import Qt

from skbviewer.analysis.fields import FIELDS

from . import wording
from .packet_rows import ListRow
from .packet_times import TimeFormat

__all__ = ["COLUMNS", "LEFT", "RIGHT", "Column", "TimeFormat", "field_column"]

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
MIDDLE = Qt.TextElideMode.ElideMiddle  # addresses differ at both ends
TEXTS = ("text", "protocol", "bytes", "hardware address", "IPv4 address", "IPv6 address")


class Column(NamedTuple):
    """`key` keeps it in the settings; `sample` is as wide as it ("" = takes the rest).

    `value` is None for a column that shows the field `order`.  `order` is what it is sorted by: a
    field's name, or a word of Session.ordered.
    """

    key: str
    title: str
    value: Callable[[ListRow], str] | None
    align: Qt.AlignmentFlag
    sample: str
    order: str
    tip: str
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight


def match_text(row: ListRow) -> str:
    """ "exact", "ambiguous 62 %"."""
    if row.verdict == "ambiguous" and row.confidence is not None:
        return f"{row.verdict} {row.confidence:.0%}".replace("%", " %")
    return row.verdict


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


COLUMNS = (
    Column("number", "No.", lambda row: row.number, RIGHT, "00000", "frame.number",
           "Packet number; K: a packet life without a wire packet"),
    Column("time", "Time", lambda row: "", RIGHT, "", "frame.time",
           "When the capture has it; of a K row by the clock fit"),
    Column("source", "Source", lambda row: row.source, LEFT, "00:00:00:00:00:00", "source",
           "Address it came from", MIDDLE),
    Column("destination", "Destination", lambda row: row.destination, LEFT, "00:00:00:00:00:00",
           "destination", "Address it goes to", MIDDLE),
    Column("protocol", "Protocol", lambda row: row.protocol, LEFT, "ICMPv6 0", "protocol",
           "Highest protocol known"),
    Column("length", "Length", lambda row: _count(row.length), RIGHT, "65,535", "frame.len",
           "Bytes on the wire"),
    Column("info", "Info", lambda row: row.info, LEFT, "", "info", "What it says"),
    Column("kernel", "Time in kernel", lambda row: wording.duration(row.kernel_ns), RIGHT,
           "Time in kernel", "kbl.in_kernel", "Time in the kernel, in any leg: busy and waiting"),
    Column("busy", "Busy", lambda row: wording.duration(row.busy_ns), RIGHT, "999.9 µs",
           "kbl.busy", "When a function ran for it: without waits and what its calls did for "
           "other packets"),
    Column("waiting", "Waiting", lambda row: wording.duration(row.wait_ns), RIGHT, "999.9 µs",
           "kbl.waiting", "In queues, behind other packets, interrupted, or its thread switched "
           "out"),
    Column("functions", "Functions", lambda row: _count(row.functions), RIGHT, "Functions",
           "kbl.functions", "Calls recorded, all legs"),
    Column("drop", "Drop", lambda row: row.drop, LEFT, "NETFILTER_DROP", "kbl.drop_reason",
           "Why the kernel dropped it"),
    Column("process", "Process", lambda row: row.process, LEFT, "process [000]", "kbl.comm",
           "The thread that sent or received it"),
    Column("match", "Match", match_text, LEFT, "ambiguous 62 %", "kbl.verdict",
           "How sure packet and packet life belong together"),
)  # fmt: skip
BY_KEY = {column.key: column for column in COLUMNS}


def field_column(name: str, title: str = "") -> Column | None:
    """A column that shows the field `name`; None if there is no such field."""
    field = FIELDS.get(name)
    if field is None:
        return None
    align = LEFT if field.kind.value in TEXTS else RIGHT
    tip = f"{field.description} ({name})"
    return Column(f"field:{name}", title or name, None, align, f"{title or name} 0", name, tip)
