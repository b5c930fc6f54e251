# SPDX-License-Identifier: MIT
"""Lifetimes of two logs are one if they had one skb address at one time, on one clock."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from skbviewer.matching import skb_spans
from skbviewer.matching.skb_spans import SPAN_DTYPE
from skbviewer.records import RECORD_DTYPE, empty

same_host: Any = importlib.import_module("skbviewer.matching.lifetimes_in_two_logs")
COUNT = 12


def spans(*rows: tuple[int, int, int, int]) -> Any:
    """Rows (skb, series, begin, end) in their order."""
    made = np.array(list(rows), SPAN_DTYPE)
    return made[np.lexsort((made["begin"], made["skb"]))]


def kernel(count: int = COUNT) -> Any:
    """Lifetimes 0, 1, ... at two addresses in turn, 100 ns each, 100 ns apart."""
    return spans(*((8 + n % 2, n, 1000 + 200 * n, 1100 + 200 * n) for n in range(count)))


def points(later: int = 0, count: int = COUNT) -> Any:
    """Lifetimes as in kernel(), of which points were seen from 20 ns after the start to the end."""
    return spans(
        *((8 + n % 2, n, 1020 + 200 * n + later, 1100 + 200 * n + later) for n in range(count))
    )


def alike(*but: int, count: int = COUNT) -> Any:
    """Pairs of equal headers: each lifetime with itself, except `but`."""
    return np.array([n << 32 | n for n in range(count) if n not in but], np.int64)


def joined(seen: Any, known: Any, headers: Any, **options: Any) -> list[tuple[int, int]] | None:
    given = {"offset": 0, "error": 0, "is_lossy": False} | options
    found = same_host._joined(seen, known, headers, *given.values())
    return (
        None
        if found is None
        else list(zip(found.points.tolist(), found.kernel.tolist(), strict=True))
    )


def test_one_clock() -> None:
    assert joined(points(), kernel(), alike()) == [(n, n) for n in range(COUNT)]


def test_addresses_alone_do_not_join() -> None:
    assert joined(points(), kernel(), alike()[:2]) is None
    assert joined(points(), kernel(), np.zeros(0, np.int64)) is None


def test_headers_that_contradict_are_of_another_host() -> None:
    crossed = np.array([n << 32 | (n + 2) % COUNT for n in range(COUNT - 4)], np.int64)
    assert joined(points(), kernel(), np.sort(np.concatenate([crossed, alike()[-4:]]))) is None


def test_a_pair_with_other_headers_is_not_joined() -> None:
    count = 40
    headers = np.sort(np.append(alike(5, count=count), [5 << 32 | 7, 6 << 32 | 5]))
    found = joined(points(count=count), kernel(count), headers)
    assert found == [(n, n) for n in range(count) if n != 5]


def test_a_lifetime_that_meets_two_others_is_not_joined() -> None:
    seen = points()
    seen["end"][seen["series"] == 4] += 400  # the next lifetime at this address is in it, too
    found = joined(seen, kernel(), alike())
    assert found == [(n, n) for n in range(COUNT) if n not in (4, 6)]


def test_in_a_log_with_losses_a_lifetime_must_lie_within_its_partner() -> None:
    seen = points()
    seen["end"][seen["series"] == 4] += 50
    assert (4, 4) in (joined(seen, kernel(), alike()) or [])
    assert (4, 4) not in (joined(seen, kernel(), alike(), is_lossy=True) or [])


@pytest.mark.parametrize("later", [10**10, -(10**10)])
def test_distance_of_clocks(later: int) -> None:
    low, high = same_host._bounds(points(later), kernel(), alike())
    slack = same_host.BESIDE_NS
    assert (low + later, high + later) == (-20 - slack, slack)


def test_distance_of_clocks_needs_lifetimes_that_agree() -> None:
    seen = points(10**10)
    assert same_host._bounds(seen, kernel(), alike()[:7]) == (1, 0)
    seen["begin"][3:] += 100_000
    seen["end"][3:] += 100_000
    low, high = same_host._bounds(seen, kernel(), alike())
    assert low > high


def test_spans_of_records() -> None:
    rows = empty(RECORD_DTYPE, 6)
    rows["ts"] = [10, 20, 30, 40, 50, 60]
    rows["skb"] = [8, 8, 9, 8, 8, 0]
    of = np.array([0, 0, 0, -1, 1, 1], np.int32)
    assert skb_spans(rows, of).tolist() == [(8, 0, 10, 20), (8, 1, 50, 50), (9, 0, 30, 30)]


def test_addresses_that_come_again_and_again() -> None:
    count = 200_000  # lifetimes at two addresses: not all pairs are made
    found = joined(points(count=count), kernel(count), alike(count=count))
    assert found == [(n, n) for n in range(count)]
    low, high = same_host._bounds(points(10**10, count), kernel(count), alike(count=count))
    assert low < -(10**10) < high
