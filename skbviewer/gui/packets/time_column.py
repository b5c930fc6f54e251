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
    """Formats of the Time column; values are Wireshark's menu words."""

    DATE = "Date and Time of Day"
    DAY = "Time of Day"
    EPOCH = "Seconds Since 1970-01-01"
    FIRST = "Seconds Since First Captured Packet"
    PREVIOUS = "Seconds Since Previous Captured Packet"
    PREVIOUS_SHOWN = "Seconds Since Previous Displayed Packet"
    UTC_DATE = "UTC Date and Time of Day"
    UTC_DAY = "UTC Time of Day"


class Precision(Enum):
    """Digits of the Time column; values are Wireshark's menu words."""

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
    """The time of a row, and the times to which it may be relative.

    `first_ns` is the time of packet 1 or of a time reference. Unknown times are None, and so is a
    previous time if there is no previous row.
    """

    ts_ns: int | None
    first_ns: int
    captured_before_ns: int | None = None
    shown_before_ns: int | None = None


def digits(ns: int, precision: Precision) -> str:
    """Return `ns` as seconds, truncated to the precision: "-1.5"."""
    whole, rest = divmod(abs(ns), 10**9)
    tail = f".{rest:09d}"[: precision.digits + 1] if precision.digits else ""
    return f"{'-' if ns < 0 else ''}{whole}{tail}"


def time_text(moment: Moment, form: TimeFormat, precision: Precision) -> str:
    """Return the text of the Time column."""
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
    """Return a text as wide as the column needs."""
    if form in (TimeFormat.FIRST, TimeFormat.PREVIOUS, TimeFormat.PREVIOUS_SHOWN):
        return "00000" + "." * bool(precision.digits) + "0" * precision.digits
    return time_text(Moment(1_700_000_000 * 10**9, 0), form, precision)


class References:
    """The time references, to which the times of later packets are relative."""

    def __init__(self) -> None:
        self._numbers: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._times: list[int] = []

    def set(self, numbers: npt.NDArray[np.int64], times: list[int]) -> None:
        """Set ascending packet numbers and their times."""
        self._numbers, self._times = numbers, times

    def first_ns(self, packet: int, otherwise: int) -> int:
        """Return the time of the last reference at or before a packet; `otherwise` if none."""
        at = int(np.searchsorted(self._numbers, packet, "right")) - 1
        return self._times[at] if at >= 0 else otherwise
