# SPDX-License-Identifier: MIT
"""What tcp.analysis.* found in the packets of a session, a bit each."""

from __future__ import annotations

import numpy as np

from .fields_data import Array, Ints, Mask

NAMES = {
    "retransmission": "Data, SYN or FIN sent before (also where fast or spurious)",
    "fast_retransmission": "Sent again after two duplicate ACKs",
    "spurious_retransmission": "Sent again although it was acknowledged",
    "out_of_order": "Sent before what was captured before it",
    "lost_segment": "What comes before it was not captured",
    "ack_lost_segment": "Acknowledges what was not captured",
    "duplicate_ack": "The same acknowledgment again",
    "keep_alive": "Keep-alive",
    "keep_alive_ack": "Answer to a keep-alive",
    "zero_window": "Nothing more can be received",
    "zero_window_probe": "One byte sent into a zero window",
    "zero_window_probe_ack": "Answer to such a probe",
    "window_update": "Only the window changed",
    "window_full": "Reaches the end of the other side's window (scaled as the file says)",
    "reused_ports": "A new stream on the ports of an old one",
}


class Analysis:
    """For each packet of a session which of NAMES it has, a bit each; all by 0-based rows."""

    def __init__(self, packets: int, streams: int) -> None:
        self._bits = np.zeros(packets, np.uint16)
        self.shift = np.zeros((streams, 2), np.int8)  # of the windows of each stream's directions
        self._parts: list[Ints] = []  # of duplicate ACKs: row, row of the original, how many
        self._repeats: Ints | None = None

    def add(self, rows: Array, told: dict[str, Mask], repeats: Ints) -> None:
        """`repeats`, of the duplicate ACKs: rows, those that they repeat, and the how manieth."""
        for bit, name in enumerate(NAMES):
            self._bits[rows[told[name]]] |= np.uint16(1 << bit)
        self._parts.append(repeats)

    def finish(self) -> None:
        """Nothing more is added."""
        found = np.concatenate([np.zeros((3, 0), np.int64), *self._parts], axis=1)
        self._repeats, self._parts = found[:, np.argsort(found[0], kind="stable")], []

    def names(self, row: int) -> list[str]:
        """Which of NAMES a packet has."""
        bits = int(self._bits[row])
        return [name for bit, name in enumerate(NAMES) if bits >> bit & 1] if bits else []

    def repeated(self, row: int) -> tuple[int, int]:
        """Of a duplicate ACK the packet that it repeats, and how many there were since, from 1."""
        assert self._repeats is not None
        at = int(np.searchsorted(self._repeats[0], row))
        return int(self._repeats[1, at]), int(self._repeats[2, at])

    def has(self, name: str, rows: Ints | None) -> Mask:
        """Which packets (0-based rows, None = all) have it; "flags" is any."""
        bits = self._bits if rows is None else self._bits[rows]
        wanted = 0xFFFF if name == "flags" else 1 << list(NAMES).index(name)
        return np.asarray(bits & np.uint16(wanted) != 0)
