# SPDX-License-Identifier: MIT
"""Thesis, Figure 3-2 (KFT): entry, duration, thread, function and caller of each call."""

from __future__ import annotations

from skbviewer.records import PathCall

from .markdown import microseconds, table
from .recordings import sample

PACKET, MOST = 3, 15  # the SYN, and its first calls


def function_entries() -> str:
    """Return the first calls of the handshake's SYN, in the columns of KFT's log."""
    legs = sample("handshake").paths.path(PACKET).legs
    begin = min(leg.begin_ns for leg in legs)
    calls = [call for leg in legs for call in leg.calls][:MOST]
    return table(
        ("Entry (us)", "Delta (us)", "PID", "Function", "Caller"),
        [_row(call, begin) for call in calls],
        left=0,
    )


def _row(call: PathCall, begin: int) -> tuple[str, str, str, str, str]:
    return (
        microseconds(call.entry_ns - begin),
        "" if call.dur_ns is None else microseconds(call.dur_ns),
        str(call.pid),
        f"`{call.function}`",
        f"`{call.caller}`",
    )
