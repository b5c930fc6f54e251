# SPDX-License-Identifier: MIT
"""A packet is at a moment only if it carries what the packet socket was given there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skbviewer.matching.candidates.tap_moment_conditions import Edges, agreeing_contents
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE, UNKNOWN
from skbviewer.records import PACKET_DTYPE, RECORD_DTYPE, empty

PART = 0x2000  # MF of frag_off


def kept(wire: dict[str, int], shown: dict[str, int] | None, given: int) -> bool:
    """Whether a packet may be at a moment; `shown` is what the log knows of its header there."""
    packets, rows, moments = (
        empty(PACKET_DTYPE, 1),
        empty(RECORD_DTYPE, 1),
        np.zeros(1, MOMENT_DTYPE),
    )
    for name, value in wire.items():
        packets[name] = value
    for name, value in (shown or {}).items():
        rows[name] = value
    moments["content"], moments["shown"] = given, UNKNOWN if shown is None else 0
    kernel: Any = SimpleNamespace(moments=moments, prints=SimpleNamespace(rows=rows))
    none = np.zeros(1, np.int64)
    return len(agreeing_contents(packets, kernel, Edges(none, none, none)).packet) == 1


WHOLE = {"tot_len": 100, "frag_off": 0x4000}


@pytest.mark.parametrize(
    ("content", "given", "may"), [(7, 7, True), (7, 8, False), (7, -1, True), (-1, 8, True)]
)
def test_what_is_known_on_both_sides_is_the_same(content: int, given: int, may: bool) -> None:
    assert kept(WHOLE | {"content": content}, WHOLE, given) is may


def test_without_an_ip_header_it_counts_too(content: int = 7) -> None:
    """ARP: no footprint shows it."""
    assert kept({"content": content}, None, content)
    assert not kept({"content": content}, None, content + 1)


def test_a_segment_carries_something_else_than_its_larger_skb() -> None:
    assert kept(WHOLE | {"content": 7}, WHOLE | {"tot_len": 3000}, 8)


def test_a_fragment_is_not_compared_with_its_datagram() -> None:
    assert kept(WHOLE | {"content": 7, "frag_off": PART}, WHOLE, 8)
    assert not kept(WHOLE | {"content": 7, "frag_off": PART}, WHOLE | {"frag_off": PART}, 8)
