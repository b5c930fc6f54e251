# SPDX-License-Identifier: MIT
"""Conversations: tcp.stream, udp.stream, and sequence numbers relative to a stream's first ones.

Streams are numbered from 0 in the order of their first packets, separately for TCP and UDP.  A
stream never has packets of two files.  As in Wireshark, a SYN with a new sequence number begins a
new TCP stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from .field_definition import Field, Kind, Values
from .field_source_tables import PACKET, Array, Data, View
from .packet_fields import is_tcp, is_udp

SYN, ACK = 0x02, 0x10
BASES = "tcp bases"  # name under which the result is cached
PART = 1 << 20  # number of packets whose keys are computed together
MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # odd multipliers with well-spread bits


class Streams(NamedTuple):
    """The packets of TCP or UDP, sorted by stream, then in capture order.

    `rows` are the packets' 0-based rows; `stream`, `direction` (0 or 1) and `key` have an element
    for each of `rows`.  Packets between the same two endpoints have the same key.  `number` has the
    stream of each packet of the session; -1 = none.
    """

    rows: Array
    stream: Array
    direction: Array
    key: Array
    number: Array

    def parts(self, size: int) -> Iterator[Streams]:
        """Yield the packets in parts of about `size` packets.

        All packets between the same two endpoints are in the same part.
        """
        begin = 0
        while begin < len(self.rows):
            last = min(begin + size, len(self.rows)) - 1
            end = int(np.searchsorted(self.key, self.key[last], side="right"))
            mine = slice(begin, end)
            rows, stream, direction, key = (column[mine] for column in self[:4])
            yield Streams(rows, stream, direction, key, self.number)
            begin = end


def streams_of(data: Data, transport: str) -> Streams:
    """Return the conversations of `transport` ("tcp" or "udp"); computed once per session."""
    found: Streams = data.cached(f"streams {transport}", lambda: _streams(data, transport))
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
    """Return for each packet a key of its file and two endpoints, and its direction."""
    ends, direction = keys_of_ends(view, rows)
    return ends * np.uint64(MIX[1]) + view.of_rows("source", rows).astype(np.uint64), direction


def keys_of_ends(view: View, rows: Array) -> tuple[Array, Array]:
    """Return a key of the two endpoints of each packet in `rows` (rising), and its direction.

    The key (uint64) is the same in both directions; the direction is 0 or 1 (int8).
    """
    low = _mixed(view, rows, ("saddr_hi", "saddr_lo"), "sport")
    high = _mixed(view, rows, ("daddr_hi", "daddr_lo"), "dport")
    direction = (low > high).astype(np.int8)
    first, last = np.minimum(low, high), np.maximum(low, high)
    return first * np.uint64(MIX[0]) ^ last, direction


def _mixed(view: View, rows: Array, address: tuple[str, str], port: str) -> Array:
    """Return a 64-bit hash of the address and the port of each packet in `rows`."""
    mixed = view.of_rows(port, rows).astype(np.uint64)
    for name in address:
        part = view.of_rows(name, rows).astype(np.int64).view(np.uint64)
        mixed = (mixed ^ part) * np.uint64(MIX[0])
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _by_first_packet(group: Array, first: Array) -> Array:
    """Return `group` with groups numbered anew, in the order of their first packets (`first`)."""
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[group] if len(group) else group


def _reused(view: View, rows: Array, direction: Array, new: Bools) -> Bools:
    """Return for each packet whether it is a SYN that reuses ports for a new stream."""
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


def last_before(of: Bools, start: Int64s) -> Int64s:
    """Return for each position the last earlier position that `of` marks; -1 = none.

    Positions before `start`, the start of the position's stream, are ignored.
    """
    at = np.where(of, np.arange(len(of)), -1)
    last = np.r_[-1, np.maximum.accumulate(at)[:-1]] if len(of) else at
    return np.where(last >= start, last, -1)


def starts(stream: Array) -> Int64s:
    """Return for each position the first position of its stream; `stream` is sorted."""
    new = np.r_[True, stream[1:] != stream[:-1]][: len(stream)]
    return np.maximum.accumulate(np.where(new, np.arange(len(stream)), 0))


class Bases(NamedTuple):
    """For each stream and direction (columns 0 and 1), the sequence number that counts as 0."""

    base: Int64s
    known: Bools  # False: no packet of this direction; `base` is from acknowledgments, if any


def relative(view: View, column: str) -> tuple[Int64s, Bools]:
    """Return the relative numbers of the column "seq" or "ack", and whether each is known.

    Numbers are relative to the first sequence number of the direction to which they refer.
    """
    bases, stream = bases_of(view.data), _of_rows(view, streams_of(view.data, "tcp").number)
    low, known = np.full(view.size, -1, np.int64), np.zeros(view.size, np.bool_)
    for begin in range(0, view.size, PART):
        rows = begin + np.flatnonzero(stream[begin : begin + PART] >= 0)
        raw, mine = view.column(column)[rows].astype(np.int64), stream[rows]
        own = _keys(view, rows)[1].astype(np.int64)
        at = mine, own if column == "seq" else 1 - own
        low[rows], known[rows] = (raw - bases.base[at]) & 0xFFFFFFFF, bases.known[at]
        if column == "ack":
            known[rows] = True
            silent = (view.column("tcp_flags")[rows] & ACK) == 0
            low[rows[silent]] = raw[silent]
    return low, known


def stream_ways(view: View) -> tuple[Array, Array]:
    """Return each packet's TCP stream (-1 = none), and the packet's direction in the stream."""
    stream = _of_rows(view, streams_of(view.data, "tcp").number)
    direction = np.zeros(view.size, np.int8)
    rows = np.flatnonzero(stream >= 0)
    direction[rows] = _keys(view, rows)[1]
    return stream, direction


def bases_of(data: Data) -> Bases:
    """Return the sequence numbers that count as 0 in all TCP streams, computed once per session."""
    found: Bases = data.cached(BASES, lambda: _bases(data))
    return found


def _bases(data: Data) -> Bases:
    """Return the bases.  Without a SYN, the base is the first number minus 1, as in Wireshark."""
    found, view = streams_of(data, "tcp"), data.packets()
    begin = np.flatnonzero(np.r_[True, found.stream[1:] != found.stream[:-1]][: len(found.stream)])
    count = len(begin)
    base, known = np.zeros((count, 2), np.int64), np.zeros((count, 2), np.bool_)
    for way in (0, 1):
        first, other = (_first(found.direction == w, begin) for w in (way, 1 - way))
        seen, acked = first >= 0, (first < 0) & (other >= 0)
        rows = found.rows[first[seen]]
        syn = (view.column("tcp_flags")[rows] & SYN) != 0
        base[seen, way] = view.column("seq")[rows].astype(np.int64) - ~syn
        rows = found.rows[other[acked]]
        base[acked, way] = view.column("ack")[rows].astype(np.int64) - 1
        known[:, way] = seen
    number = found.stream[begin]
    placed = Bases(np.empty_like(base), np.empty_like(known))
    placed.base[number], placed.known[number] = base, known
    return placed


def _first(of: Bools, begin: Int64s) -> Int64s:
    """Return the first marked position in each part of `of`, or -1; parts begin at `begin`."""
    at = np.flatnonzero(of)
    if not len(at):
        return np.full(len(begin), -1, np.int64)
    place = np.searchsorted(at, begin)
    end = np.r_[begin[1:], len(of)]
    first = at[np.minimum(place, len(at) - 1)]
    return np.where((place < len(at)) & (first < end), first, -1)


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
    return [Values(*relative(view, column))]


_U = Kind.UNSIGNED
STREAM_FIELDS: tuple[Field, ...] = (
    Field("tcp.stream", _U, "Conversation, from 0", lambda view: _stream("tcp", view), bits=32),
    Field("udp.stream", _U, "Conversation, from 0", lambda view: _stream("udp", view), bits=32),
    Field(
        "tcp.seq", _U, "Relative sequence number", lambda v: _relative_values("seq", v), bits=32
    ),
    Field(
        "tcp.ack", _U, "Relative acknowledgment number", lambda v: _relative_values("ack", v),
        bits=32,
    ),
)  # fmt: skip
