# SPDX-License-Identifier: MIT
"""Tables of `skbviewer stats` with the columns that the earlier works show."""

from __future__ import annotations

from skbviewer.analysis.stats.drop_table import DropRow
from skbviewer.analysis.stats.layer_table import LayerRow
from skbviewer.analysis.stats.path_table import PathRow
from skbviewer.analysis.stats.program_table import ProgramRow
from skbviewer.analysis.streams.round_trips import RoundTripRow

from .markdown import microseconds, table
from .recordings import statistic

MOST = 12  # rows of a long table
DATA = "tcp.len > 0"
TIMES = ("calls", "mean (us)", "99 % (us)", "longest (us)")


def layers() -> str:
    """NetSlice, Figure 7(a): where the time of data segments went in each layer."""
    rows = [LayerRow._make(row) for row in statistic("bulk", "layers", DATA).rows]
    return table(
        ("kind", "layer, wait or stage", "legs", "total (us)", "mean (us)", "longest (us)"),
        [
            (row.kind, row.layer, row.number, *map(microseconds, (row.total_ns, row.mean_ns)),
             microseconds(row.max_ns))
            for row in rows
        ],
        left=2,
    )  # fmt: skip


def paths() -> str:
    """Thesis, section 5: the paths of packets, most frequent first."""
    rows = [PathRow._make(row) for row in statistic("nat", "paths").rows][:MOST]
    return table(
        ("path", "legs", "packets", "% of packets", "mean (us)", "longest (us)", "name"),
        [
            (row.path or "others", row.legs, row.number, f"{row.share:.1f}",
             microseconds(row.mean_ns), microseconds(row.max_ns), row.name.replace("|", "\\|"))
            for row in rows
        ],
        left=2,
    )  # fmt: skip


def programs() -> str:
    """DTrace: the average time of a function by program, longest total first."""
    rows = [ProgramRow._make(row) for row in statistic("handshake", "programs").rows][:MOST]
    return table(
        ("program", "function", *TIMES),
        [(row.process, row.function, row.number, *_times(row)) for row in rows],
        left=2,
    )


def round_trips() -> str:
    """NetSlice, Figure 5: the parts of each round trip."""
    rows = [RoundTripRow._make(row) for row in statistic("handshake", "roundtrip").rows][:MOST]
    parts = ("rtt_ns", "send_ns", "outside_ns", "wire_ns", "peer_ns", "receive_ns")
    head = ("packet", "acknowledges", "round trip (us)", "own kernel, sending", "wire to wire",
            "on the wire", "peer", "own kernel, receiving")  # fmt: skip
    return table(
        head,
        [(row.packet, row.acked, *(_known(getattr(row, part)) for part in parts)) for row in rows],
    )


def drops() -> str:
    """Drop experiment: where packets were lost, and why."""
    rows = [DropRow._make(row) for row in statistic("drops", "drops").rows]
    return table(
        ("reason", "place", "layer", "drops", "packets lost", "on the wire", "packets"),
        [
            (row.reason, f"`{row.function}`", row.layer, row.number, row.lost, row.wire,
             ", ".join(map(str, row.packets)))
            for row in rows
        ],
        left=3,
    )  # fmt: skip


def _times(row: ProgramRow) -> tuple[str, str, str]:
    return microseconds(row.mean_ns), microseconds(row.p99_ns), microseconds(row.max_ns)


def _known(ns: int | None) -> str:
    return "" if ns is None else microseconds(ns)
