# SPDX-License-Identifier: MIT
"""Expert information, by severity: `skbviewer stats expert`.

The table has the findings of the diagnosis, and Wireshark's findings about TCP streams.
"""

from __future__ import annotations

from typing import NamedTuple

from ..fields.tcp_analysis import analysis_of
from ..fields.tcp_analysis_findings import NAMES
from ..scope import Scope

TCP, SEVERITY = "tcp.analysis.", ("critical", "warning", "note")
# Findings about normal events in streams, as in Wireshark.
NOTES = frozenset({"keep_alive", "keep_alive_ack", "window_update", "duplicate_ack"})


class ExpertRow(NamedTuple):
    """One finding.

    `packet` is the packet that suffered most; it is "" if the finding is about the recording.
    """

    severity: str
    rule: str
    packets: int
    packet: str
    cost_ns: int | None
    text: str


def expert_rows(scope: Scope) -> list[ExpertRow]:
    """Return all findings about the chosen packets, the most severe first.  Raises Cancelled."""
    from ..diagnosis import diagnose  # which uses the statistics

    found = [
        ExpertRow(one.severity, one.rule, one.number, _name(one.packet), one.cost_ns, one.text)
        for one in diagnose(scope).findings
    ]
    return sorted([*found, *_streams(scope)], key=lambda row: SEVERITY.index(row.severity))


def _name(packet: int | None) -> str:
    if packet is None:
        return ""
    return str(packet) if packet > 0 else f"K{-packet}"


def _streams(scope: Scope) -> list[ExpertRow]:
    if scope.fields is None or not len(scope.packets):
        return []
    analysis = analysis_of(scope.fields, scope.progress)
    rows, at = [], scope.packets - 1
    for name, text in NAMES.items():
        mine = scope.packets[analysis.has(name, at)]
        if len(mine):
            severity = "note" if name in NOTES else "warning"
            rows.append(ExpertRow(severity, TCP + name, len(mine), str(mine[0]), None, text))
    return rows
