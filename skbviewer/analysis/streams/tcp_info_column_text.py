# SPDX-License-Identifier: MIT
"""Those parts of Wireshark's TCP Info that depend on the whole stream.

These parts are the sequence numbers relative to the start of the stream, and the findings of
tcp.analysis.*.  All streams of a session are analysed together.  Before the analysis, the parts
that depend on the stream are unknown for all packets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import Progress
from ...records.types import Int64s
from ..fields.field_source_tables import PACKET, Data, View
from ..fields.stream_fields import BASES, bases_of, relative
from ..fields.tcp_analysis import ANALYSIS, FOLLOWING, analysis_of, window_shifts
from ..fields.tcp_analysis_findings import Analysis

# Wireshark's words, in its order.  Of several retransmissions, only the first one is shown.
WORDS = {
    "zero_window_probe_ack": "ZeroWindowProbeAck",
    "zero_window": "ZeroWindow",
    "zero_window_probe": "ZeroWindowProbe",
    "duplicate_ack": "Dup ACK",
    "keep_alive_ack": "Keep-Alive ACK",
    "keep_alive": "Keep-Alive",
    "window_full": "Window Full",
    "window_update": "Window Update",
    "ack_lost_segment": "ACKed unseen segment",
    "lost_segment": "Previous segment not captured",
    "spurious_retransmission": "Spurious Retransmission",
    "fast_retransmission": "Fast Retransmission",
    "out_of_order": "Out-Of-Order",
    "retransmission": "Retransmission",
    "reused_ports": "Port numbers reused",
}
SENT_AGAIN = ("spurious_retransmission", "fast_retransmission")


class SegmentSummary(NamedTuple):
    """A packet's numbers relative to its stream's first ones, and words to put before its Info."""

    seq: int
    ack: int
    shift: int  # shift of its window, in bits
    words: str  # "[TCP Retransmission] " or ""
    again: bool  # the data were sent before, so they are not decoded


def streams_known(data: Data) -> bool:
    """Return whether the TCP streams have been analysed, so that their findings are available."""
    return data.has(ANALYSIS) and data.has(BASES)


def follow(data: Data, progress: Progress) -> None:
    """Analyse all TCP streams of the session now, so that nobody has to wait for that later.

    Raises Cancelled.
    """
    progress.report(FOLLOWING, 0, 1)
    analysis_of(data, progress)
    bases_of(data)


def segment_summaries(data: Data, numbers: Int64s) -> dict[int, SegmentSummary]:
    """Return the TCP summaries of `numbers` (packet numbers), by packet number.

    Packets that belong to no TCP stream are left out.
    """
    numbers = numbers[(numbers > 0) & (numbers <= data.columns.length(PACKET))]
    view = View(data, PACKET, numbers - 1)
    (seq, known), (ack, _) = relative(view, "seq"), relative(view, "ack")
    analysis, shifts = analysis_of(data), window_shifts(view)
    found: dict[int, SegmentSummary] = {}
    for at in np.flatnonzero(known).tolist():
        row = int(numbers[at]) - 1
        names = analysis.names(row)
        again = "retransmission" in names
        words = _words(analysis, row, names) if names else ""
        found[row + 1] = SegmentSummary(int(seq[at]), int(ack[at]), int(shifts[at]), words, again)
    return found


def _words(analysis: Analysis, row: int, names: list[str]) -> str:
    if any(name in names for name in SENT_AGAIN):
        names.remove("retransmission")
    said = {name: WORDS[name] for name in WORDS if name in names}
    if "duplicate_ack" in said:
        original, count = analysis.repeated(row)
        said["duplicate_ack"] += f" {original + 1}#{count}"
    return "".join(f"[TCP {word}] " for word in said.values())
