# SPDX-License-Identifier: MIT
"""The findings of tcp.analysis.* for each packet of a session, one bit each."""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from .field_source_tables import Array

NAMES = {
    "retransmission": "Data, SYN or FIN sent again; includes fast and spurious retransmissions",
    "fast_retransmission": "Segment sent again after two duplicate ACKs",
    "spurious_retransmission": "Segment sent again although it was already acknowledged",
    "out_of_order": "Segment sent before segments that were captured earlier than this segment",
    "lost_segment": "The segment before this segment was not captured",
    "ack_lost_segment": "Acknowledges a segment that was not captured",
    "duplicate_ack": "Repeats the previous acknowledgment",
    "keep_alive": "Keep-alive",
    "keep_alive_ack": "Answer to a keep-alive",
    "zero_window": "The receive window is zero",
    "zero_window_probe": "One byte of data, sent although the receiver's window is zero",
    "zero_window_probe_ack": "Acknowledgment of a zero window probe",
    "window_update": "Only the window changed",
    "window_full": "The segment fills the receiver's window (scaled)",
    "reused_ports": "A new TCP stream with the same addresses and ports as an earlier stream",
}


class Analysis:
    """The findings of NAMES for each packet of a session, one bit each."""

    def __init__(self, packets: int, streams: int) -> None:
        self._bits = np.zeros(packets, np.uint16)
        self.shift = np.zeros((streams, 2), np.int8)  # window shift by stream and direction
        self._parts: list[Int64s] = []  # duplicate ACKs: row, row of the original ACK, number
        self._repeats: Int64s | None = None

    def add(self, rows: Array, findings: dict[str, Bools], repeats: Int64s) -> None:
        """Add the findings about a block of packets, whose 0-based rows are `rows`.

        `findings` has, by name, a flag for each packet of the block.  `repeats` are duplicate ACKs,
        with three numbers each: row, row of the original ACK, and the number of the duplicate, from
        1.
        """
        for bit, name in enumerate(NAMES):
            self._bits[rows[findings[name]]] |= np.uint16(1 << bit)
        self._parts.append(repeats)

    def finish(self) -> None:
        """Sort the duplicate ACKs; this must be called after the last add()."""
        found = np.concatenate([np.zeros((3, 0), np.int64), *self._parts], axis=1)
        self._repeats, self._parts = found[:, np.argsort(found[0], kind="stable")], []

    def names(self, row: int) -> list[str]:
        """Return the names of the findings about the packet in the 0-based row `row`."""
        bits = int(self._bits[row])
        return [name for bit, name in enumerate(NAMES) if bits >> bit & 1] if bits else []

    def repeated(self, row: int) -> tuple[int, int]:
        """Return the row of a duplicate ACK's original, and the duplicate's number, from 1."""
        assert self._repeats is not None
        at = int(np.searchsorted(self._repeats[0], row))
        return int(self._repeats[1, at]), int(self._repeats[2, at])

    def has(self, name: str, rows: Int64s | None) -> Bools:
        """Return for each packet whether it has the finding `name`; "flags" stands for any finding.

        `rows` are the packets (0-based); None means all packets.
        """
        bits = self._bits if rows is None else self._bits[rows]
        wanted = 0xFFFF if name == "flags" else 1 << list(NAMES).index(name)
        return np.asarray(bits & np.uint16(wanted) != 0)
