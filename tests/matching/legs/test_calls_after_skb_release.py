# SPDX-License-Identifier: MIT
"""Calls at the address of an skb that was released before belong to another skb."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from skbviewer.matching.legs.calls_after_skb_release import after_release
from skbviewer.records import RECORD_DTYPE, empty

A, B = 0x1000, 0x2000
CALL, EVENT = 1, 4
ALLOC, CLONE, CONSUME, DROP, RECEIVE = 1, 2, 6, 7, 17


class Row(NamedTuple):
    """One record: its time, its event, its skb, and the clone that it made."""

    ts: int
    event: int  # 0: a call
    skb: int = A
    data: int = 0
    series: int = 0


def later(rows: list[Row], call: Row) -> bool:
    """Return whether the call is assigned to another skb."""
    every = sorted([*rows, call])
    records = empty(RECORD_DTYPE, len(every))
    for name in ("ts", "event", "skb", "data"):
        records[name] = [getattr(row, name) for row in every]
    records["kind"] = [EVENT if row.event else CALL for row in every]
    series: Any = type("Series", (), {})()
    series.of, series.met = np.array([row.series for row in every]), records["ts"]
    series.owner_calls = np.full(len(every), -1)
    return bool(after_release(records, series, np.array([every.index(call)]))[0])


@pytest.mark.parametrize("release", [CONSUME, DROP])
def test_a_call_after_the_release_is_of_another_skb(release: int) -> None:
    assert later([Row(10, ALLOC), Row(20, release)], Row(30, 0))


def test_before_the_release_it_is_the_skbs_own() -> None:
    assert not later([Row(10, ALLOC), Row(40, CONSUME)], Row(30, 0))
    assert not later([Row(10, ALLOC), Row(30, CONSUME)], Row(30, 0))


def test_other_events_release_nothing() -> None:
    assert not later([Row(10, ALLOC), Row(20, RECEIVE)], Row(30, 0))


def test_an_skb_born_since_has_its_own_lifetime() -> None:
    assert not later([Row(10, ALLOC), Row(20, DROP), Row(25, ALLOC)], Row(30, 0))
    assert not later([Row(10, ALLOC), Row(20, DROP), Row(25, CLONE, B, A)], Row(30, 0))


def test_only_the_same_address_and_lifetime_count() -> None:
    assert not later([Row(10, ALLOC), Row(20, DROP, B)], Row(30, 0))
    assert not later([Row(10, ALLOC), Row(20, DROP, series=1)], Row(30, 0))


def test_without_events_or_calls_nothing_is_found() -> None:
    assert not later([], Row(30, 0))
