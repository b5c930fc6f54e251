# SPDX-License-Identifier: MIT
"""The packet list as CSV: comment lines (#), a header, one row a packet; times are ns."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from ..records import BadInput, PacketRow, SeriesRow

COLUMNS: tuple[str, ...] = (
    "number",
    "ts_ns",
    "source",
    "destination",
    "protocol",
    "length",
    "info",
)
COLUMNS += ("kernel_ns", "functions", "match", "confidence", "reason")


def write_packets_csv(
    rows: Iterable[PacketRow | SeriesRow], lines: Iterable[str], out: Path
) -> None:
    """Write `out`; `lines` come first as comments.  Raises BadInput if it cannot be written."""
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {line}\n" for line in lines)
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(_values(row) for row in rows)
    except OSError as error:
        raise BadInput(out, None, f"cannot write: {error.strerror}") from error


def _values(row: PacketRow | SeriesRow) -> tuple[object, ...]:
    if isinstance(row, PacketRow):
        ends: tuple[object, ...] = (
            row.source_text,
            row.destination_text,
            row.protocol_name,
            row.len,
        )
        tail: tuple[object, ...] = (
            row.kernel_ns,
            row.functions,
            row.verdict,
            row.confidence,
            row.reason,
        )
    else:
        ends = (row.saddr, row.daddr, row.protocol, "")
        tail = (row.kernel_ns, row.functions, "kernel-only", None, row.reason)
    return (row.number, row.ts_ns, *ends, row.info, *tail)
