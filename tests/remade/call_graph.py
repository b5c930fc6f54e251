# SPDX-License-Identifier: MIT
"""Thesis, Figure 3-1 (Kernprof): the entry of one function in gprof's form."""

from __future__ import annotations

from skbviewer.analysis.stats.callgraph_table import CALLED, CALLER, SELF, CallGraphRow

from .markdown import microseconds, percent, table
from .recordings import statistic

FUNCTION, FILTER = "ip_rcv", "tcp"


def call_graph() -> str:
    """Return callers, function and callees of ip_rcv() in the TCP packets of the handshake."""
    rows = [CallGraphRow._make(row) for row in statistic("handshake", "callgraph", FILTER).rows]
    names = list(dict.fromkeys(row.function for row in rows))
    numbers = {name: f"[{at}]" for at, name in enumerate(names, 1)}
    whole = sum(row.self_ns for row in rows if row.role == SELF)
    entry = [row for row in rows if row.function == FUNCTION]
    calls = next(row.number for row in entry if row.role == SELF)
    lines = [_line(row, numbers, calls, whole) for row in entry]
    head = ("index", "% time", "self (us)", "children (us)", "called", "name")
    return table(head, lines, left=1)


def _line(
    row: CallGraphRow, numbers: dict[str, str], calls: int, whole: int
) -> tuple[str, str, str, str, str, str]:
    """Return a line as gprof prints it: callers above, the function itself, callees below."""
    times = (microseconds(row.self_ns), microseconds(row.total_ns - row.self_ns))
    number = numbers.get(row.other, "")
    if row.role == SELF:
        return number, percent(row.total_ns, whole), *times, str(calls), f"**{row.other}** {number}"
    assert row.role in (CALLER, CALLED)
    called = f"{row.number}/{calls}" if row.role == CALLER else str(row.number)
    return "", "", *times, called, f"{row.other} {number}".strip()
