# SPDX-License-Identifier: MIT
"""Write one packet's kernel path as CSV.

Input: a PacketPath and the session's sources. Output: comment lines (#) with the packet, the input
files and the certainty of the match, then a header and one row per call. Times are ns. Entry and
exit are on the KBL's clock. `comp_ns` is `dur_ns` minus the cost of the probes, and `comp_err_ns`
is the possible error of `comp_ns`. `irq_ns` is the time of interrupts inside the call. If a path
has executed instructions, further columns show them. If the session has several KBLs, the last
columns name the KBL of each call and give its entry in session time.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from ..records import MAYBE_LOST, Leg, PacketPath, PathCall, SourceRow, counted
from .atomic_write import written_text
from .csv_cells import comment_lines, csv_cell
from .formats import Exportable, Request, packet_path
from .path_text import has_line, leg_place

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
STEPS = ("executed", "executed_self", "executed_probes")
ACROSS = ("log", "session_ns")  # columns for sessions with several KBLs


def write_path_of(recording: Exportable, request: Request, out: Path) -> None:
    """Write the path of the row that `request` names, or of packet 1 if it names none.

    Raises KeyError and BadInput.
    """
    path = packet_path(recording, 1 if request.row is None else request.row)
    write_path_csv(path, recording.sources(), out)


def write_path_csv(
    path: PacketPath, sources: Sequence[SourceRow], out: Path, steps: bool = False
) -> None:
    """Write the calls of `path` to `out`; with `steps`, also the instructions that they executed.

    Raises BadInput if `out` cannot be written.
    """
    with written_text(out) as file:
        file.writelines(comment_lines(annotation_lines(path, sources)))
        writer = csv.writer(file)
        across = ACROSS if any(leg.log for leg in path.legs) else ()
        columns = (*COLUMNS, *(STEPS if steps else ()), *across)
        writer.writerow(columns)
        for number, leg in enumerate(path.legs, start=1):
            for call in leg.calls:
                row = _row(f"{number} {leg.kind}", leg, call)
                writer.writerow(csv_cell(row[column]) for column in columns)


def _row(title: str, leg: Leg, call: PathCall) -> dict[str, object]:
    """Return the cells of a call's line, by column."""
    row = call._asdict() | {"leg": title, "skb": f"0x{call.skb:x}", "log": leg.log}
    row["sock"] = f"0x{call.sock:x}" if call.sock else ""
    row["session_ns"] = call.entry_ns + leg.session_offset_ns
    return row


def annotation_lines(path: PacketPath, sources: Sequence[SourceRow]) -> list[str]:
    """Return the CSV's comment lines: packet, match, legs, events, times and source files."""
    lines = ["skbviewer kernel path"]
    packet = path.packet
    if packet is not None:
        lines.append(f"packet {packet.number}: {packet.source_text} -> {packet.destination_text}")
        lines.append(f"{packet.protocol_name}: {packet.info}")
        at = "an unknown time" if packet.ts_ns is None else f"{packet.ts_ns} ns since the epoch"
        lines.append(f"captured at {at}, {packet.len} bytes")
        lines.append(f"match: {packet.verdict}. {packet.reason}")
    for number, leg in enumerate(path.legs, start=1):
        numbers = leg.note or f"{counted(leg.functions or 0, 'function')}, {leg.kernel_ns} ns"
        lines.append(f"leg {number} {leg_place(leg)}: {numbers}")
        if leg.captured is not None:
            between = f"between {leg.captured.after_ns} and {leg.captured.before_ns} ns"
            lines.append(f"  captured {leg.captured.text}, {between}")
        lines += _across(leg) if leg.log else []
        for event in filter(has_line, leg.events):
            lines.append(f"  {event.ts_ns} ns: {event.text}")
            lines += [f"    {detail}" for detail in event.details]
            lines += [f"    by {frame}" for frame in event.stack]  # innermost first
    lines.append(f"total time in the kernel: {_total(path)}")
    first = path.legs[0] if path.legs else None
    if first is not None and first.wire_ns is not None and not first.log:
        wire = f"{first.wire_ns} +- {first.wire_error_ns} ns"
        lines.append(f"wire time on the kernel's clock: {wire}")
    lines += [f"{s.kind} {s.path} sha256 {s.sha256}" for s in sources]
    return lines


def _across(leg: Leg) -> list[str]:
    """Return the comment lines that relate the clocks of legs' logs to session time."""
    known = leg.session_error_ns is not None
    error = f"+- {leg.session_error_ns} ns" if known else "ns, but nothing relates their clocks"
    lines = [f"  session time minus the time of {leg.log}: {leg.session_offset_ns} {error}"]
    if leg.wire_ns is not None:
        wire = f"{leg.wire_ns} +- {leg.wire_error_ns} ns"
        lines.append(f"  wire time on the clock of {leg.log}: {wire}")
    return lines


def _total(path: PacketPath) -> str:
    """Return the total time that the packet spent in the kernel. Candidate legs are not counted."""
    if path.legs and not path.certain_legs:
        return "unknown (only candidates match)"
    why = next((leg.note for leg in path.certain_legs if leg.note), MAYBE_LOST)
    times = [leg.kernel_ns for leg in path.certain_legs if leg.kernel_ns is not None]
    return f"{sum(times)} ns" if len(times) == len(path.certain_legs) else why
