# SPDX-License-Identifier: MIT
"""Conversations: tcp.stream, udp.stream and numbers relative to their beginning.

Numbered from 0 in the order of their first packets, each file and transport for itself counting on.
A SYN with another sequence number begins a new TCP stream, as in Wireshark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .fields_data import PACKET, Array, Data, Ints, Mask, View
from .fields_kind import Field, Kind, Values
from .fields_packet import is_tcp, is_udp

SYN, ACK = 0x02, 0x10
PART = 1 << 20  # packets whose keys are made together
MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # odd numbers with their bits well spread


class Streams(NamedTuple):
    """Packets of one transport ordered by stream, then as they come.

    `rows` are 0-based packets; `stream` and `direction` (0 or 1) are theirs, `key` is equal where
    the ends are.  `number` has a stream for each packet of the session, -1 for others.
    """

    rows: Array
    stream: Array
    direction: Array
    key: Array
    number: Array

    def parts(self, size: int) -> Iterator[Streams]:
        """About `size` packets after others, all that ever was between two ends together."""
        begin = 0
        while begin < len(self.rows):
            last = min(begin + size, len(self.rows)) - 1
            end = int(np.searchsorted(self.key, self.key[last], side="right"))
            mine = slice(begin, end)
            rows, stream, direction, key = (column[mine] for column in self[:4])
            yield Streams(rows, stream, direction, key, self.number)
            begin = end


def streams_of(data: Data, transport: str) -> Streams:
    """The conversations of "tcp" or "udp", made once for the session."""
    found: Streams = data.kept(f"streams {transport}", lambda: _streams(data, transport))
    return found


def _streams(data: Data, transport: str) -> Streams:
    view = data.packets()
    rows = np.flatnonzero((is_tcp if transport == "tcp" else is_udp)(view)).astype(np.int32)
    key, direction = np.empty(len(rows), np.uint64), np.empty(len(rows), np.int8)
    for begin in range(0, len(rows), PART):
        part = slice(begin, begin + PART)
        key[part], direction[part] = _keys(view, rows[part])
    order = np.argsort(key, kind="stable")
    rows, key, direction = rows[order], key[order], direction[order]
    del order
    new = np.r_[True, key[1:] != key[:-1]][: len(rows)]
    if transport == "tcp":
        new |= _reused(view, rows, direction, new)
    stream = _by_first_packet(np.cumsum(new, dtype=np.int32) - 1, rows[new])
    number = np.full(view.size, -1, np.int32)
    number[rows] = stream
    return Streams(rows, stream, direction, key, number)


def _keys(view: View, rows: Array) -> tuple[Array, Array]:
    """(a number for the unordered pair of ends, which end sends) of some packets."""
    low = _mixed(view, rows, ("saddr_hi", "saddr_lo"), "sport")
    high = _mixed(view, rows, ("daddr_hi", "daddr_lo"), "dport")
    direction = (low > high).astype(np.int8)
    first, last = np.minimum(low, high), np.maximum(low, high)
    source = view.column("source")[rows].astype(np.uint64)
    return (first * np.uint64(MIX[0]) ^ last) * np.uint64(MIX[1]) + source, direction


def _mixed(view: View, rows: Array, address: tuple[str, str], port: str) -> Array:
    """64 bits of an address and its port: different ends hardly ever share them."""
    mixed = view.column(port)[rows].astype(np.uint64)
    for name in address:
        mixed = (mixed ^ view.column(name)[rows].astype(np.int64).view(np.uint64)) * np.uint64(
            MIX[0]
        )
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _by_first_packet(group: Array, first: Array) -> Array:
    """Groups numbered by the row of their first packet."""
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[group] if len(group) else group


def _reused(view: View, rows: Array, direction: Array, new: Mask) -> Mask:
    """SYNs that begin a stream anew on the same ports: of another number than the last one."""
    flags = view.column("tcp_flags")[rows]
    syn = np.flatnonzero((flags & (SYN | ACK)) == SYN)
    group, way = (np.cumsum(new) - 1)[syn], direction[syn]
    seq = view.column("seq")[rows[syn]]
    order = np.lexsort((syn, way, group))
    mine, before = order[1:], order[:-1]
    same = (group[mine] == group[before]) & (way[mine] == way[before])
    found = np.zeros(len(rows), np.bool_)
    found[syn[mine[same & (seq[mine] != seq[before])]]] = True
    return found


def last_before(of: Mask, start: Ints) -> Ints:
    """For each position the last earlier one in `of` that is not before its `start`, else -1."""
    at = np.where(of, np.arange(len(of)), -1)
    last = np.r_[-1, np.maximum.accumulate(at)[:-1]] if len(of) else at
    return np.where(last >= start, last, -1)


def starts(stream: Array) -> Ints:
    """For each position where its stream begins."""
    new = np.r_[True, stream[1:] != stream[:-1]][: len(stream)]
    return np.maximum.accumulate(np.where(new, np.arange(len(stream)), 0))


def _relative(data: Data, column: str) -> tuple[Array, Mask]:
    """Sequence or acknowledgment numbers less the first of their direction, by packet."""

    def make() -> tuple[Array, Mask]:
        found = streams_of(data, "tcp")
        view = data.packets()
        seq = view.column("seq")[found.rows].astype(np.int64)
        syn = (view.column("tcp_flags")[found.rows] & SYN) != 0
        base, known = _bases(found, seq, syn, view.column("ack")[found.rows].astype(np.int64))
        own = found.direction.astype(np.int64)
        at = own if column == "seq" else 1 - own
        raw = seq if column == "seq" else view.column("ack")[found.rows].astype(np.int64)
        out = np.full(view.size, -1, np.int64)
        there = np.zeros(view.size, np.bool_)
        picked = np.arange(len(own)), at
        out[found.rows] = (raw - base[picked]) & 0xFFFFFFFF
        there[found.rows] = known[picked] if column == "seq" else True
        acked = (view.column("tcp_flags")[found.rows] & ACK) != 0
        if column == "ack":
            out[found.rows[~acked]] = raw[~acked]
        return out, there

    kept: tuple[Array, Mask] = data.kept(f"relative {column}", make)
    return kept


def _bases(found: Streams, seq: Ints, syn: Mask, ack: Ints) -> tuple[Ints, Mask]:
    """First sequence number of each direction of each packet's stream, as columns 0 and 1.

    Without a SYN it is one less than the first one seen (or acknowledged), as in Wireshark.
    """
    begin = starts(found.stream)
    base, known = np.zeros((len(seq), 2), np.int64), np.zeros((len(seq), 2), np.bool_)
    group = np.cumsum(np.r_[True, begin[1:] != begin[:-1]][: len(begin)]) - 1
    count = int(group[-1]) + 1 if len(group) else 0
    for way in (0, 1):
        first = np.full(count, len(seq), np.int64)
        mine = np.flatnonzero(found.direction == way)
        np.minimum.at(first, group[mine], mine)
        there = first < len(seq)
        at = np.minimum(first, len(seq) - 1)
        own = seq[at] - ~syn[at] if len(seq) else first
        base[:, way], known[:, way] = own[group], there[group]
        base[:, way] = np.where(known[:, way], base[:, way], _acked(found, ack, group, way, count))
    return base, known


def _acked(found: Streams, ack: Ints, group: Ints, way: int, count: int) -> Ints:
    """For directions never seen: one less than the first acknowledgment of the other."""
    first = np.full(count, len(ack), np.int64)
    other = np.flatnonzero(found.direction != way)
    np.minimum.at(first, group[other], other)
    at = np.minimum(first, max(len(ack) - 1, 0))
    return (ack[at] - 1)[group] if len(ack) else group


def _of_rows(view: View, whole: Array) -> Array:
    return whole if view.rows is None else whole[view.rows]


def _stream(transport: str, view: View) -> list[Values]:
    if view.table != PACKET:
        return [Values(np.full(view.size, -1), np.zeros(view.size, np.bool_))]
    low = _of_rows(view, streams_of(view.data, transport).number)
    return [Values(low, low >= 0)]


def _relative_values(column: str, view: View) -> list[Values]:
    if view.table != PACKET:
        return [Values(np.full(view.size, -1), np.zeros(view.size, np.bool_))]
    low, known = (_of_rows(view, part) for part in _relative(view.data, column))
    return [Values(low, known)]


_U = Kind.UNSIGNED
STREAM_FIELDS: tuple[Field, ...] = (
    Field("tcp.stream", _U, "Conversation, from 0", lambda view: _stream("tcp", view), bits=32),
    Field("udp.stream", _U, "Conversation, from 0", lambda view: _stream("udp", view), bits=32),
    Field(
        "tcp.seq", _U, "Sequence number, relative", lambda v: _relative_values("seq", v), bits=32
    ),
    Field(
        "tcp.ack", _U, "Acknowledgment number, relative", lambda v: _relative_values("ack", v),
        bits=32,
    ),
)  # fmt: skip
