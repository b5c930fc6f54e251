# SPDX-License-Identifier: MIT
"""The payload of one TCP or UDP conversation, in the order in which it was said.

In: segments in capture order.  Out: pieces, each of one side; what was sent again is left out, what
no packet holds is told as missing.  Sequence numbers wrap at 2^32 (RFC 9293 section 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

WRAP = 1 << 32
HALF = WRAP >> 1
MOST_WAITING = 4 << 20  # bytes kept for a hole to be filled before it is given up
SYN = 0x02


class Segment(NamedTuple):
    """A packet's payload as captured; `length` is that on the wire.  `side`: 0 = A, 1 = B."""

    packet: int
    side: int
    seq: int
    flags: int
    payload: bytes
    length: int


class Piece(NamedTuple):
    """Bytes that one side said; `missing` bytes before them are in no packet."""

    packet: int
    side: int
    data: bytes
    missing: int = 0


def datagrams(segments: Iterable[Segment]) -> Iterator[Piece]:
    """UDP: each payload as it comes."""
    for one in segments:
        if one.length:
            yield Piece(one.packet, one.side, one.payload, 0)


def bytestream(segments: Iterable[Segment]) -> Iterator[Piece]:
    """TCP: each side's bytes in the order of its sequence numbers, said when they became whole."""
    sides = (_Side(0), _Side(1))
    for one in segments:
        yield from sides[one.side].add(one)
    for side in sides:
        yield from side.rest()


class _Side:
    """What one side said so far: everything below `_next`, and segments that came too early."""

    def __init__(self, side: int) -> None:
        self._side = side
        self._next: int | None = None  # unwrapped: grows beyond 2^32
        self._early: dict[int, Segment] = {}
        self._waiting = 0

    def add(self, one: Segment) -> Iterator[Piece]:
        if self._next is None:
            self._next = one.seq + bool(one.flags & SYN)
        begin = self._unwrapped(one.seq) + bool(one.flags & SYN)
        if not one.length or begin + one.length <= self._next:
            return  # nothing in it, or said before
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
        """What is left, with the holes between."""
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
        cut = one.length - max(len(one.payload), known)  # not captured: a hole before what follows
        data = one.payload[known:]
        self._next = begin + one.length - max(cut, 0)
        return Piece(one.packet, self._side, data, missing)

    def _unwrapped(self, seq: int) -> int:
        assert self._next is not None
        return self._next + (seq - self._next + HALF) % WRAP - HALF
