# SPDX-License-Identifier: MIT
"""The payload of one TCP or UDP conversation, in the order in which it was sent.

Input: segments in capture order.  Output: pieces of payload, each from one side.  Repeated data are
left out.  Data that no packet contains are marked as missing.  Sequence numbers wrap around at 2^32
(RFC 9293 section 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

WRAP = 1 << 32
HALF = WRAP >> 1
MOST_WAITING = 4 << 20  # most bytes that are stored while waiting for a gap to be filled
SYN = 0x02


class Segment(NamedTuple):
    """The captured payload of a packet; `length` is how many bytes it had on the wire.

    `side` is 0 for A and 1 for B.
    """

    packet: int
    side: int
    seq: int
    flags: int
    payload: bytes
    length: int


class Piece(NamedTuple):
    """Payload from one side; before it, `missing` bytes were not captured."""

    packet: int
    side: int
    data: bytes
    missing: int = 0


def datagrams(segments: Iterable[Segment]) -> Iterator[Piece]:
    """Yield the payloads of UDP packets in the order of capture."""
    for one in segments:
        if one.length:
            yield Piece(one.packet, one.side, one.payload, 0)


def bytestream(segments: Iterable[Segment]) -> Iterator[Piece]:
    """Yield the TCP payload of each side in the order of its bytes; bytes after a gap wait."""
    sides = (_Side(0), _Side(1))
    for one in segments:
        yield from sides[one.side].add(one)
    for side in sides:
        yield from side.rest()


class _Side:
    """One side of a TCP stream: bytes before `_next` have been yielded, later segments wait."""

    def __init__(self, side: int) -> None:
        self._side = side
        self._next: int | None = None  # unwrapped: grows beyond 2^32
        self._early: dict[int, Segment] = {}
        self._waiting = 0

    def add(self, one: Segment) -> Iterator[Piece]:
        """Add a segment; yield the pieces that now follow the yielded bytes without a gap."""
        if self._next is None:
            self._next = one.seq + bool(one.flags & SYN)
        begin = self._unwrapped(one.seq) + bool(one.flags & SYN)
        if not one.length or begin + one.length <= self._next:
            return  # empty, or sent before
        if begin > self._next:
            known = self._early.get(begin)
            if known is None or known.length < one.length:
                self._early[begin] = one
                self._waiting += len(one.payload)
            if self._waiting > MOST_WAITING:
                yield from self.rest()
            return
        yield self._say(begin, one, 0)
        yield from self._continue()

    def rest(self) -> Iterator[Piece]:
        """Yield the segments that still wait, although bytes before them are missing."""
        for begin in sorted(self._early):
            one = self._early[begin]
            assert self._next is not None
            if begin + one.length > self._next:
                yield self._say(begin, one, max(begin - self._next, 0))
        self._early.clear()
        self._waiting = 0

    def _continue(self) -> Iterator[Piece]:
        for begin in sorted(self._early):
            assert self._next is not None
            if begin > self._next:
                break
            one = self._early.pop(begin)
            self._waiting -= len(one.payload)
            if begin + one.length > self._next:
                yield self._say(begin, one, 0)

    def _say(self, begin: int, one: Segment, missing: int) -> Piece:
        assert self._next is not None
        known = max(self._next - begin, 0)
        cut = one.length - max(len(one.payload), known)  # not captured: a gap before the next piece
        data = one.payload[known:]
        self._next = begin + one.length - max(cut, 0)
        return Piece(one.packet, self._side, data, missing)

    def _unwrapped(self, seq: int) -> int:
        assert self._next is not None
        return self._next + (seq - self._next + HALF) % WRAP - HALF
