# SPDX-License-Identifier: MIT
"""A conversation's bytes come in order and once, and holes are reported."""

from __future__ import annotations

import random
from itertools import pairwise

from skbviewer.analysis.streams.stream_payload import SYN, Piece, Segment, bytestream, datagrams


def seg(packet: int, seq: int, payload: bytes, side: int = 0, flags: int = 0x10) -> Segment:
    return Segment(packet, side, seq % (1 << 32), flags, payload, len(payload))


def said(pieces: list[Piece], side: int = 0) -> bytes:
    return b"".join(b"?" * piece.missing + piece.data for piece in pieces if piece.side == side)


def test_both_sides_take_turns() -> None:
    pieces = list(
        bytestream(
            [
                seg(1, 99, b"", flags=SYN),
                seg(2, 499, b"", 1, SYN | 0x10),
                seg(3, 100, b"ask"),
                seg(4, 500, b"answer", 1),
                seg(5, 103, b"!"),
            ]
        )
    )
    assert [(p.packet, p.side, p.data) for p in pieces] == [
        (3, 0, b"ask"),
        (4, 1, b"answer"),
        (5, 0, b"!"),
    ]


def test_retransmission_and_overlap_are_said_once() -> None:
    parts = [seg(1, 0, b"abc"), seg(2, 0, b"abc"), seg(3, 2, b"cde"), seg(4, 4, b"efg")]
    assert said(list(bytestream(parts))) == b"abcdefg"


def test_a_hole_that_is_filled_later() -> None:
    pieces = list(bytestream([seg(1, 0, b"ab"), seg(2, 4, b"ef"), seg(3, 2, b"cd")]))
    assert said(pieces) == b"abcdef"
    assert [piece.packet for piece in pieces] == [1, 3, 2]


def test_a_hole_that_is_never_filled() -> None:
    pieces = list(bytestream([seg(1, 0, b"ab"), seg(2, 4, b"ef"), seg(3, 9, b"j")]))
    assert said(pieces) == b"ab??ef???j"


def test_what_was_not_captured_is_a_hole() -> None:
    cut = Segment(1, 0, 0, 0x10, b"ab", 5)
    assert said(list(bytestream([cut, seg(2, 5, b"f")]))) == b"ab???f"


def test_sequence_numbers_wrap() -> None:
    begin = (1 << 32) - 3
    parts = [seg(1, begin, b"abc"), seg(3, begin + 5, b"fg"), seg(2, begin + 3, b"de")]
    assert said(list(bytestream(parts))) == b"abcdefg"


def test_any_order_gives_the_same_bytes() -> None:
    rest = random.Random(3)
    whole = bytes(rest.randrange(256) for _ in range(500))
    for _ in range(50):
        cuts = sorted({0, 500, *(rest.randrange(500) for _ in range(30))})
        parts = [seg(9, 77 + a, whole[a:b]) for a, b in pairwise(cuts)]
        first, others = parts[0], parts[1:] + rest.sample(parts, 5)
        rest.shuffle(others)
        assert said(list(bytestream([first, *others]))) == whole


def test_datagrams_stay_as_they_are() -> None:
    assert [p.data for p in datagrams([seg(1, 0, b"a"), seg(2, 0, b""), seg(3, 0, b"b", 1)])] == [
        b"a",
        b"b",
    ]
