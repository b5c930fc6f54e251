# SPDX-License-Identifier: MIT
"""Hits and packets are joined by the bytes that the witness read, otherwise by order."""

from __future__ import annotations

from tests.readers import build
from tests.truth.capture_files import Frame
from tests.truth.judge_join import ETHERNET, join
from tests.truth.judge_witness import Hit, Row

HEAD, MAC = 0xFFFF888000001000, 14
OFFSET = 1_000_000_000  # the sniffer's clock minus the witness's


def frame(number: int, size: int = 1000) -> Frame:
    """TCP data; its sequence number distinguishes it from other data."""
    segment = build.tcp(1000, 80, 5000 + number, 1, payload=bytes(size))
    data = build.ethernet(build.ipv4("10.0.0.1", "10.0.0.2", 6, segment, 7 + number))
    return Frame(OFFSET + 1_000 * number, data, len(data), ETHERNET)


def hit(number: int, one: Frame, linear: bool) -> Hit:
    """What the witness saw of it at ip_rcv(): `data` is at the network header."""
    inside = one.data[MAC:]
    values = {"len": len(inside), "paged": 0 if linear else len(inside), "head": HEAD}
    values |= {"data": HEAD + 64, "nh": 64, "mac": 50, "skb": HEAD + number}
    values["real"] = 1_000 * number + 300 + OFFSET
    row = Row("rcv", 1_000 * number + 300, True, 0, HEAD + number, values, inside[:88])
    return Hit(row, HEAD + number, row.ns, False)


def joined(linear: list[bool], sizes: list[int]) -> list[int]:
    frames = [frame(n, size) for n, size in enumerate(sizes)]
    return join(
        frames, [hit(n, f, own) for n, (f, own) in enumerate(zip(frames, linear, strict=True))]
    ).hits


def test_packets_without_linear_bytes_are_joined_by_order() -> None:
    linear = [n not in (6, 7, 8) for n in range(12)]
    assert joined(linear, [1000] * 12) == list(range(12))


def test_a_missed_hit_leaves_packets_without_linear_bytes_open() -> None:
    frames = [frame(n) for n in range(12)]
    hits = [hit(n, one, n not in (6, 7, 8)) for n, one in enumerate(frames) if n != 7]
    found = join(frames, hits).hits
    assert found[:6] == list(range(6)) and found[9:] == [8, 9, 10]
    assert -1 in found[6:9]


def test_length_excludes_a_hit_without_linear_bytes() -> None:
    frames = [frame(n, 1000 if n != 6 else 500) for n in range(12)]
    hits = [hit(n, one, n != 6) for n, one in enumerate(frames)]
    hits[6] = hit(6, frame(6, 900), False)
    assert join(frames, hits).hits[6] == -1
