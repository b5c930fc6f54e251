# SPDX-License-Identifier: MIT
"""Which packets may belong to a lifetime whose IP header the log does not show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skbviewer.matching.candidates import lifetimes_without_headers
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE
from skbviewer.records import PACKET_DTYPE, ColumnTable, Scratch, empty

US = 1000


def kernel_of(*moments: tuple[int, int, int]) -> Any:
    """A log whose moments all lack a header; each has (after, before, content)."""
    rows = np.zeros(len(moments), MOMENT_DTYPE)
    for row, moment in zip(rows, moments, strict=True):
        row["after"], row["before"], row["content"] = moment
    table = ColumnTable(
        MOMENT_DTYPE, {n: rows[n].copy() for n in MOMENT_DTYPE.names or ()}, Scratch()
    )
    return SimpleNamespace(moments=table, headerless=np.arange(len(moments)))


def held(kernel: Any, content: int, at: int, here: bool = True, whole: bool = True) -> bool:
    packets = empty(PACKET_DTYPE, 1)
    packets["content"] = content
    places = np.full(len(kernel.moments), here)
    times = np.array([at]), np.array([10])
    return bool(lifetimes_without_headers.may_hold(packets, kernel, *times, places, whole)[0])


@pytest.mark.parametrize(
    ("content", "given", "may"), [(7, 7, True), (7, 8, False), (7, -1, True), (-1, 8, True)]
)
def test_known_contents_have_to_agree(content: int, given: int, may: bool) -> None:
    assert held(kernel_of((5 * US, 6 * US, given)), content, 5500) is may


@pytest.mark.parametrize(("at", "may"), [(4980, False), (4991, True), (6009, True), (6020, False)])
@pytest.mark.parametrize("given", [7, -1])
def test_the_packet_was_captured_in_the_window(at: int, may: bool, given: int) -> None:
    assert held(kernel_of((5 * US, 6 * US, given)), 7, at) is may


def test_each_moment_of_a_content_counts() -> None:
    kernel = kernel_of((1 * US, 2 * US, 7), (3 * US, 4 * US, 9), (5 * US, 6 * US, 7))
    assert [held(kernel, 7, ns) for ns in (1500, 3500, 5500)] == [True, False, True]


def test_a_moment_at_another_device_does_not_count() -> None:
    assert not held(kernel_of((5 * US, 6 * US, 7)), 7, 5500, here=False)


def test_contents_of_a_capture_made_elsewhere_are_not_compared() -> None:
    assert held(kernel_of((5 * US, 6 * US, 8)), 7, 5500, whole=False)


def test_too_many_equal_contents_are_not_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = kernel_of((1 * US, 2 * US, 7), (5 * US, 6 * US, 7))
    assert not held(kernel, 7, 3500)
    monkeypatch.setattr(lifetimes_without_headers, "PAIRS", 1)
    assert held(kernel, 7, 3500)


def test_without_such_moments_no_packet_is_held() -> None:
    kernel = kernel_of((1 * US, 2 * US, 7))
    kernel.headerless = np.zeros(0, np.int64)
    assert not held(kernel, 7, 1500) and not held(kernel, -1, 1500)
