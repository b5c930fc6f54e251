# SPDX-License-Identifier: MIT
"""The Time column: Wireshark's formats and precisions, and time references.  All times are ns."""

from __future__ import annotations

import time
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

REFERENCE = "*REF*"


class TimeFormat(Enum):
    """The formats of the Time column; each value is its name in Wireshark's menu."""

    DATE = "Date and Time of Day"
    DAY = "Time of Day"
    EPOCH = "Seconds Since 1970-01-01"
    FIRST = "Seconds Since First Captured Packet"
    PREVIOUS = "Seconds Since Previous Captured Packet"
    PREVIOUS_SHOWN = "Seconds Since Previous Displayed Packet"
    UTC_DATE = "UTC Date and Time of Day"
    UTC_DAY = "UTC Time of Day"


class Precision(Enum):
    """The numbers of digits of the Time column; each value is its name in Wireshark's menu."""

    SECONDS = "Seconds"
    TENTHS = "Tenths of a Second"
    HUNDREDTHS = "Hundredths of a Second"
    MILLISECONDS = "Milliseconds"
    MICROSECONDS = "Microseconds"
    NANOSECONDS = "Nanoseconds"

    @property
    def digits(self) -> int:
        """Return the number of decimal places."""
        return _DIGITS[self]


_DIGITS = dict(zip(Precision, (0, 1, 2, 3, 6, 9), strict=True))


class Moment(NamedTuple):
    """The time of a row, and the other times to which the Time column may relate it.

    `first_ns` is the time of packet 1 or of a time reference. Unknown times are None, and so is the
    previous row's time if no row precedes this one.
    """

    ts_ns: int | None
    first_ns: int
    captured_before_ns: int | None = None
    shown_before_ns: int | None = None


def digits(ns: int, precision: Precision) -> str:
    """Return `ns` as seconds with the digits of `precision`, such as "-1.5"; it is not rounded."""
    whole, rest = divmod(abs(ns), 10**9)
    tail = f".{rest:09d}"[: precision.digits + 1] if precision.digits else ""
    return f"{'-' if ns < 0 else ''}{whole}{tail}"


def time_text(moment: Moment, form: TimeFormat, precision: Precision) -> str:
    """Return the text in the Time column for a row."""
    at = moment.ts_ns
    if at is None:
        return ""
    if form is TimeFormat.FIRST:
        return digits(at - moment.first_ns, precision)
    if form is TimeFormat.PREVIOUS:
        return digits(_since(at, moment.captured_before_ns), precision)
    if form is TimeFormat.PREVIOUS_SHOWN:
        return digits(_since(at, moment.shown_before_ns), precision)
    if form is TimeFormat.EPOCH:
        return digits(at, precision)
    return _calendar(at, form, precision)


def _since(ts_ns: int, before_ns: int | None) -> int:
    return 0 if before_ns is None else ts_ns - before_ns


def _calendar(ns: int, form: TimeFormat, precision: Precision) -> str:
    utc = form in (TimeFormat.UTC_DATE, TimeFormat.UTC_DAY)
    whole, rest = divmod(ns, 10**9)
    parts = time.gmtime(whole) if utc else time.localtime(whole)
    day = "" if form in (TimeFormat.DAY, TimeFormat.UTC_DAY) else "%Y-%m-%d "
    tail = f".{rest:09d}"[: precision.digits + 1] if precision.digits else ""
    return time.strftime(f"{day}%H:%M:%S", parts) + tail


def sample(form: TimeFormat, precision: Precision) -> str:
    """Return a text that is as wide as the Time column must be."""
    if form in (TimeFormat.FIRST, TimeFormat.PREVIOUS, TimeFormat.PREVIOUS_SHOWN):
        return "00000" + "." * bool(precision.digits) + "0" * precision.digits
    return time_text(Moment(1_700_000_000 * 10**9, 0), form, precision)


class References:
    """The time references, to which the times of later packets are relative."""

    def __init__(self) -> None:
        self._numbers: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._times: list[int] = []

    def set(self, numbers: npt.NDArray[np.int64], times: list[int]) -> None:
        """Set the time references: packet numbers in ascending order, and their times (ns)."""
        self._numbers, self._times = numbers, times

    def first_ns(self, packet: int, otherwise: int) -> int:
        """Return the time (ns) of the last time reference at or before a packet.

        Returns `otherwise` if no time reference precedes the packet.
        """
        at = int(np.searchsorted(self._numbers, packet, "right")) - 1
        return self._times[at] if at >= 0 else otherwise
