# SPDX-License-Identifier: MIT
"""One packet's kernel path as CSV.

In: a PacketPath and the session's sources.  Out: comment lines (#) that say what, from which files
and how certain, then a header and one row a call.  Times are ns; entry and exit on the KBL's clock;
comp_ns is dur_ns less what the probes cost, give or take comp_err_ns; irq_ns are interrupts inside.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from ..records import BadInput, PacketPath, SourceRow
from .path_text import told

COLUMNS = (
    "leg",
    "function",
    "caller",
    "layer",
    "depth",
    "entry_ns",
    "exit_ns",
    "dur_ns",
    "self_ns",
    "comp_ns",
    "comp_err_ns",
    "irq_ns",
    "counter",
    "cpu",
    "context",
    "pid",
    "comm",
    "skb",
    "sock",
    "mark",
    "device",
    "note",
)


def write_path_csv(path: PacketPath, sources: Sequence[SourceRow], out: Path) -> None:
    """Write `out`; raises BadInput if it cannot be written."""
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {line}\n" for line in annotation_lines(path, sources))
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for number, leg in enumerate(path.legs, start=1):
                for call in leg.calls:
                    row = call._asdict() | {"leg": f"{number} {leg.kind}", "skb": f"0x{call.skb:x}"}
                    row["sock"] = f"0x{call.sock:x}" if call.sock else ""
                    writer.writerow(row[column] for column in COLUMNS)
    except OSError as error:
        raise BadInput(out, None, f"cannot write: {error.strerror}") from error


def annotation_lines(path: PacketPath, sources: Sequence[SourceRow]) -> list[str]:
    """What a reader of an exported file must know, a line each."""
    lines = ["skbviewer kernel path"]
    packet = path.packet
    if packet is not None:
        lines.append(f"packet {packet.number}: {packet.source_text} -> {packet.destination_text}")
        lines.append(f"{packet.protocol_name}: {packet.info}")
        at = "an unknown time" if packet.ts_ns is None else f"{packet.ts_ns} ns since the epoch"
        lines.append(f"captured at {at}, {packet.len} bytes")
        lines.append(f"match: {packet.verdict}. {packet.reason}")
    for number, leg in enumerate(path.legs, start=1):
        lines.append(
            f"leg {number} {leg.kind} {leg.device}: {leg.functions} functions, {leg.kernel_ns} ns"
        )
        lines += [f"  {event.ts_ns} ns: {event.text}" for event in leg.events if told(event)]
    lines.append(f"total time in the kernel: {sum(leg.kernel_ns for leg in path.legs)} ns")
    if path.wire_ns is not None:
        lines.append(f"wire time on the kernel's clock: {path.wire_ns} +- {path.wire_error_ns} ns")
    lines += [f"{s.kind} {s.path} sha256 {s.sha256}" for s in sources]
    return lines
