# SPDX-License-Identifier: MIT
"""TCP packets that are a part of a larger skb in the kernel, or from which one was merged.

In: packets of one capture, footprints of one KBL.  Out: pairs.  A device cuts a GSO skb, GRO merges
packets, and where the log does not show the single ones their bytes still say where they belong:
the sequence range of the skb, as skb_segment() and tcp_gso_segment() number it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import Packets
from .identity import Prints
from .keys import hashed_rows, spread
from .kinds import Index
from .ladder import ADDRESS, PORTS, Flags

FLOW = ("ip_version", *ADDRESS, "protocol", *PORTS)
TCP = 6
SEQ = 1 << 32
LAST = 0x09  # FIN and PSH stand in the last segment only, CWR (0x80) in the first
CWR = 0x80


def covers(packets: Packets, wire: Index, prints: Prints) -> tuple[Index, Index]:
    """Pairs (of `wire`, row of `prints`) in which the packet is a segment of the print's skb."""
    frames, rows = packets[wire], prints.rows
    wire = wire[(frames["protocol"] == TCP) & (frames["payload"] > 0) & (frames["seq"] >= 0)]
    large = (rows["protocol"] == TCP) & (rows["gso_size"] > 0) & (rows["seq"] >= 0)
    large &= rows["skb_len"] > rows["gso_size"]
    shown = np.flatnonzero(large[prints.number])
    none = np.zeros(0, np.int64)
    if not len(wire) or not len(shown):
        return none, none
    kernel = prints.of(shown)
    frame, large_one = _in_range(packets[wire], kernel)
    packet = wire[frame]
    fits = _is_segment(packets[packet], kernel[large_one])
    return packet[fits], shown[large_one[fits]]


def _in_range(frames: npt.NDArray[np.void], kernel: npt.NDArray[np.void]) -> tuple[Index, Index]:
    """Pairs of one flow in which the frame's sequence number lies in the skb."""
    flows, of_frame = np.unique(hashed_rows(frames, FLOW), return_inverse=True)
    asked = hashed_rows(kernel, FLOW)
    flow = np.clip(np.searchsorted(flows, asked), 0, len(flows) - 1)
    known = np.flatnonzero(flows[flow] == asked)
    begin = flow[known].astype(np.int64) * (2 * SEQ) + kernel["seq"][known]
    # An skb that wraps around covers the beginning of the sequence space too.
    wraps = kernel["seq"][known] + kernel["skb_len"][known] > SEQ
    begin = np.concatenate([begin, begin[wraps] - SEQ])
    owner = np.concatenate([known, known[wraps]])
    order = np.argsort(begin, kind="stable")
    length = int(kernel["skb_len"][known].max(initial=0))
    at = of_frame.reshape(-1).astype(np.int64) * (2 * SEQ) + frames["seq"]
    low = np.searchsorted(begin[order], at - length, "right")
    count = np.searchsorted(begin[order], at, "right") - low
    frame, print_ = spread(low, count, order)
    return frame, owner[print_]


def _is_segment(frames: npt.NDArray[np.void], kernel: npt.NDArray[np.void]) -> Flags:
    same = np.ones(len(frames), np.bool_)
    for name in (*FLOW, "ack"):
        same &= frames[name] == kernel[name]
    into = (frames["seq"] - kernel["seq"]) % SEQ
    size = kernel["gso_size"].astype(np.int64)
    same &= into % size == 0
    same &= into + frames["payload"] <= kernel["skb_len"]
    place = into // size
    count = np.where(kernel["gso_segs"] > 0, kernel["gso_segs"], -(-kernel["skb_len"] // size))
    same &= place < count  # skb_len counts headers too: what follows the skb is no part of it
    # tcp_gso_segment(): one identification a segment, or the same in all (SKB_GSO_TCP_FIXEDID).
    ids = ((kernel["ip_id"] + place) & 0xFFFF == frames["ip_id"]) | (
        kernel["ip_id"] == frames["ip_id"]
    )
    same &= ids | (frames["ip_version"] == 6)
    flags = kernel["tcp_flags"] & ~(LAST | CWR)
    return np.asarray(same & (frames["tcp_flags"] & ~(LAST | CWR) == flags), np.bool_)
