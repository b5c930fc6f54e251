# SPDX-License-Identifier: MIT
"""Find TCP packets that were cut from a larger skb, or merged into a larger skb.

Input: the packets of one capture, and the footprints of one KBL.  Output: pairs of a packet and a
footprint.  A device cuts a GSO skb into packets; GRO merges packets.  If the log does not show the
single packets, the skb's range of TCP sequence numbers still shows which packets it contains,
because skb_segment() and tcp_gso_segment() number them in order.  If a packet's TCP header was not
captured, its IPv4 identification may show to which skb it belongs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import Packets
from ...records.protocols import TCP
from ...records.types import Bools, Int64s
from ..arrays.hash_join import hashed_rows, spread
from .identity_candidates import MANY, MOST_HEADERS
from .identity_columns import ADDRESS, PORTS, Footprints

HOSTS = ("ip_version", *ADDRESS, "protocol")
FLOW = (*HOSTS, *PORTS)

SEQ = 1 << 32
LAST = 0x09  # FIN and PSH are set in the last segment only, CWR (0x80) in the first
CWR = 0x80
HEADERS = 40  # least bytes of a segment before its data
PAIRS = 1 << 24  # most pairs in memory; with more, a packet gets the skbs that begin nearest


def covers(packets: Packets, wire: Int64s, prints: Footprints) -> tuple[Int64s, Int64s]:
    """Return pairs (packet of `wire`, row of `prints`) in which the skb contains the packet."""
    frames, rows = packets[wire], prints.rows
    tcp, known = frames["protocol"] == TCP, (frames["seq"] >= 0) & (frames["tcp_flags"] >= 0)
    cut = wire[tcp & ~known & (frames["ip_id"] > 0) & (frames["tot_len"] > HEADERS)]
    wire = wire[tcp & known & (frames["payload"] > 0)]
    large = (rows["protocol"] == TCP) & (rows["gso_size"] > 0) & (rows["seq"] >= 0)
    large &= rows["skb_len"] > rows["gso_size"]
    shown = np.flatnonzero(large[prints.number])
    found = [(wire[:0], shown[:0])]
    for some, way in ((wire, _BY_SEQUENCE), (cut, _BY_IDENTIFICATION)):
        if len(some) and len(shown):
            kernel = prints.of(shown)
            frame, large_one = _in_range(packets[some], kernel, way)
            packet = some[frame]
            fits = way.fits(packets[packet], kernel[large_one])
            found.append((packet[fits], shown[large_one[fits]]))
    packet, row = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return packet, row


class _Way(NamedTuple):
    """A rule by which packets are found in a larger skb.

    Packet and footprint must have equal values in the columns `flow`.  The column `number` of the
    packet, modulo `modulus`, must lie in the range of the skb, whose `length` is computed from its
    footprint.  `fits` returns for each pair that was found whether the packet may be a segment of
    the skb.
    """

    flow: tuple[str, ...]
    number: str
    modulus: int
    length: Callable[[npt.NDArray[np.void]], Int64s]
    fits: Callable[[npt.NDArray[np.void], npt.NDArray[np.void]], Bools]


def _in_range(
    frames: npt.NDArray[np.void], kernel: npt.NDArray[np.void], way: _Way
) -> tuple[Int64s, Int64s]:
    """Return pairs of one flow in which the packet's number lies in the range of the skb."""
    flows, of_frame = np.unique(hashed_rows(frames, way.flow), return_inverse=True)
    asked, modulus = hashed_rows(kernel, way.flow), way.modulus
    flow = np.clip(np.searchsorted(flows, asked), 0, len(flows) - 1)
    known = np.flatnonzero(flows[flow] == asked)
    first, size = kernel[way.number][known].astype(np.int64), way.length(kernel[known])
    begin = flow[known].astype(np.int64) * (2 * modulus) + first
    # The numbers of an skb may wrap around to 0.
    wraps = first + size > modulus
    begin = np.concatenate([begin, begin[wraps] - modulus])
    owner = np.concatenate([known, known[wraps]])
    order = np.argsort(begin, kind="stable")
    at = of_frame.reshape(-1).astype(np.int64) * (2 * modulus) + frames[way.number]
    low = np.searchsorted(begin[order], at - int(size.max(initial=0)), "right")
    high = np.searchsorted(begin[order], at, "right")
    if int((high - low).sum()) > PAIRS:
        low = np.maximum(low, high - MANY)
    frame, print_ = spread(low, high - low, order)
    return frame, owner[print_]


def _count(kernel: npt.NDArray[np.void]) -> Int64s:
    """Return the number of segments of each skb."""
    size = kernel["gso_size"].astype(np.int64)
    known = kernel["gso_segs"].astype(np.int64)
    return np.asarray(np.where(known > 0, known, -(-kernel["skb_len"] // size)), np.int64)


def _may_be_segment(frames: npt.NDArray[np.void], kernel: npt.NDArray[np.void]) -> Bools:
    """Return for each pair whether the packet may be a segment of the skb, by its IP header.

    The TCP header of the packet is unknown, so only identification and length are compared with
    those of a segment.
    """
    place = (frames["ip_id"] - kernel["ip_id"]) % (1 << 16)
    data, size, count = frames["tot_len"] - HEADERS, kernel["gso_size"], _count(kernel)
    same = (place < count) & (data - (MOST_HEADERS - HEADERS) <= size)
    full = (data >= size) | (place == count - 1)
    for name in PORTS:
        same &= (frames[name] < 0) | (frames[name] == kernel[name])
    return np.asarray(same & full, np.bool_)


def _is_segment(frames: npt.NDArray[np.void], kernel: npt.NDArray[np.void]) -> Bools:
    same = np.ones(len(frames), np.bool_)
    for name in (*FLOW, "ack"):
        same &= frames[name] == kernel[name]
    into = (frames["seq"] - kernel["seq"]) % SEQ
    size = kernel["gso_size"].astype(np.int64)
    same &= into % size == 0
    same &= into + frames["payload"] <= kernel["skb_len"]
    place = into // size
    same &= place < _count(
        kernel
    )  # skb_len counts headers too: bytes after the skb are not part of it
    # tcp_gso_segment(): one identification per segment, or one for all (SKB_GSO_TCP_FIXEDID).
    ids = ((kernel["ip_id"] + place) & 0xFFFF == frames["ip_id"]) | (
        kernel["ip_id"] == frames["ip_id"]
    )
    same &= ids | (frames["ip_version"] == 6)
    flags = kernel["tcp_flags"] & ~(LAST | CWR)
    return np.asarray(same & (frames["tcp_flags"] & ~(LAST | CWR) == flags), np.bool_)


_BY_SEQUENCE = _Way(FLOW, "seq", SEQ, lambda k: k["skb_len"].astype(np.int64), _is_segment)
_BY_IDENTIFICATION = _Way(HOSTS, "ip_id", 1 << 16, _count, _may_be_segment)
