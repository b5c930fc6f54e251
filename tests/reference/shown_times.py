# SPDX-License-Identifier: MIT
"""Times as the window writes them: which text of a time is right.

A time that is shown rounded is right if no other number of as many digits is nearer.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .compare import Cell

UNITS = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
WAITS = {
    "in the socket queue": "socket queue",
    "for the softirq": "softirq",
    "in the socket's backlog": "socket backlog",
    "in TCP's send queue": "send queue",
    "in a queue": "queue",
    "in the queueing discipline": "qdisc",
    "for more fragments": "reassembly",
    "while the packet's calls handled other packets": "other packets",
    "while the packet's CPU served interrupts": "interrupts",
    "while the packet's thread was switched out": "switched out",
    "in NAPI's list": "NAPI list",
}


def is_time(text: str, ns: int | None) -> bool:
    """Return whether "17.3 µs" is `ns` rounded, in the unit in which it has one to three digits."""
    if ns is None or text == "":
        return text == "" and ns is None
    number, _, unit = text.partition(" ")
    if unit not in UNITS:
        return False
    shown, size = Decimal(number) * UNITS[unit], UNITS[unit]
    digits = len(number.partition(".")[2])
    apart = abs(shown - ns) * 2 * 10**digits <= size
    return apart and (size == 1 or abs(ns) >= size) and (unit == "s" or abs(ns) < 1000 * size)


def time_cell(what: str, text: str, ns: Any) -> Cell:
    """Return a cell that agrees if the text is this time."""
    return what, text if not is_time(text, ns) else ns, ns


def micros(ns: int | None) -> str:
    """Return a time as in a column of microseconds."""
    return "" if ns is None else f"{Decimal(ns) / 1000:,.3f}"


def seconds(ns: int) -> str:
    """Return seconds with all nine digits."""
    return f"{Decimal(ns) / 10**9:.9f}"
