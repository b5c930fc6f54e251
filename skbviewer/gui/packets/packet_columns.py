# SPDX-License-Identifier: MIT
"""The columns of the packet list.

A new column needs only a line here; the user can make a column of any field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import Qt

from skbviewer.analysis.fields.all_fields import FIELDS

from ..base import wording
from .packet_rows import ListRow
from .time_column import TimeFormat

__all__ = ["COLUMNS", "LEFT", "RIGHT", "Column", "TimeFormat", "field_column"]

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
MIDDLE = Qt.TextElideMode.ElideMiddle  # addresses differ at both ends
TEXTS = ("text", "protocol", "bytes", "hardware address", "IPv4 address", "IPv6 address")


class Column(NamedTuple):
    """A column; `key` identifies it in the settings, `sample` is a text as wide as the column.

    A column with the `sample` "" takes the remaining width.  `value` is None for a column that
    shows the field `order`.  `order` is the sort key: a field's name, or a word of
    PacketList.listed().
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
    """Return the verdict of a row, such as "exact" or "ambiguous 62 %"."""
    if row.verdict == "ambiguous" and row.confidence is not None:
        return f"{row.verdict} {row.confidence:.0%}".replace("%", " %")
    return row.verdict


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


COLUMNS = (
    Column("number", "No.", lambda row: row.number, RIGHT, "00000", "frame.number",
           "Number of the packet; K<n> is an skb lifetime without a captured packet"),
    Column("time", "Time", lambda row: "", RIGHT, "", "frame.time",
           "Time of capture; for a K row, the start of the skb lifetime, on the capture's clock"),
    Column("source", "Source", lambda row: row.source, LEFT, "00:00:00:00:00:00", "source",
           "Source address", MIDDLE),
    Column("destination", "Destination", lambda row: row.destination, LEFT, "00:00:00:00:00:00",
           "destination", "Destination address", MIDDLE),
    Column("protocol", "Protocol", lambda row: row.protocol, LEFT, "ICMPv6 0", "protocol",
           "Highest protocol recognized"),
    Column("length", "Length", lambda row: _count(row.length), RIGHT, "65,535", "frame.len",
           "Bytes on the wire"),
    Column("info", "Info", lambda row: row.info, LEFT, "", "info", "Summary of the packet"),
    Column("kernel", "Time in kernel", lambda row: wording.duration(row.kernel_ns), RIGHT,
           "Time in kernel", "kbl.in_kernel", "Time in which the packet was in at least one leg: "
           "busy, waiting or unknown"),
    Column("busy", "Busy", lambda row: wording.duration(row.busy_ns), RIGHT, "99.999 ms",
           "kbl.busy", "Time in which functions worked on this packet; waits and work on other "
           "packets do not count"),
    Column("waiting", "Waiting", lambda row: wording.duration(row.wait_ns), RIGHT, "999.9 µs",
           "kbl.waiting", "Time in queues, in interrupts, and while the packet's thread "
           "handled other packets or was switched out"),
    Column("functions", "Functions", lambda row: _count(row.functions), RIGHT, "Functions",
           "kbl.functions", "Recorded calls in all legs"),
    Column("drop", "Drop", lambda row: row.drop, LEFT, "NETFILTER_DROP", "kbl.drop_reason",
           "Why the kernel dropped the packet"),
    Column("process", "Process", lambda row: row.process, LEFT, "process [000]", "process",
           "The thread that sent or received the packet"),
    Column("match", "Match", match_text, LEFT, "ambiguous 62 %", "kbl.verdict",
           "How certain the match between packet and skb lifetime is"),
)  # fmt: skip
BY_KEY = {column.key: column for column in COLUMNS}


def field_column(name: str, title: str = "") -> Column | None:
    """Return a column that shows the field `name`; None if there is no such field."""
    field = FIELDS.get(name)
    if field is None:
        return None
    align = LEFT if field.kind.value in TEXTS else RIGHT
    tip = f"{field.description} ({name})"
    return Column(f"field:{name}", title or name, None, align, f"{title or name} 0", name, tip)
