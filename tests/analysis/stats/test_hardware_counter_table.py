# SPDX-License-Identifier: MIT
"""Sums of the hardware counter by function, layer and program, with and without the probes'."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from skbviewer.analysis.stats import statistic_of
from skbviewer.analysis.stats.hardware_counter_table import CounterRow, counter_rows
from skbviewer.records import resource
from skbviewer.session import open_files
from tests.analysis.breakdown.counted_log import CORE, LIST, counted_log

COSTS = {"n_empty": 7, "n_nested": 9, "n_skb_empty": 20, "n_skb_nested": 50}


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: the log has the form of one."""


def rows(path: Path, costs: Mapping[str, int] | None = None) -> dict[str, CounterRow]:
    session = open_files([counted_log(path, 100, 300, costs=costs)])
    return {f"{row.kind} {row.name}": row for row in counter_rows(session.stats.scope())}


def test_calls_inside_do_not_count(tmp_path: Path) -> None:
    found = rows(tmp_path / "a.kbl")
    assert set(found) == {f"function {LIST}", f"function {CORE}", "layer ip"}
    assert found[f"function {LIST}"][2:] == (1, 600, 0, 600, 600)
    assert found[f"function {CORE}"][2:] == (2, 400, 0, 400, 200)
    assert found["layer ip"][2:] == (3, 1000, 0, 1000, 333)


def test_events_of_the_probes_are_subtracted(tmp_path: Path) -> None:
    """20 of each call itself, and 30 more of the list's call for each of the two inside it."""
    found = rows(tmp_path / "a.kbl", COSTS)
    assert found[f"function {LIST}"][2:] == (1, 600, 80, 520, 520)
    assert found[f"function {CORE}"][2:] == (2, 400, 40, 360, 180)
    assert found["layer ip"][2:] == (3, 1000, 120, 880, 293)


def test_no_call_has_fewer_than_no_events(tmp_path: Path) -> None:
    found = rows(tmp_path / "a.kbl", {"n_skb_empty": 200})
    assert found[f"function {CORE}"][2:] == (2, 400, 300, 100, 50)


def test_no_counter() -> None:
    session = open_files([resource("samples/bulk") / "bulk.kbl"])
    table = statistic_of("counter", session.stats.scope())
    assert list(table.rows) == []
    no_counter = "no call has hardware events, or the logs counted different kinds of events"
    assert table.warnings == (no_counter,)


def test_the_event_is_named(tmp_path: Path) -> None:
    session = open_files([counted_log(tmp_path / "a.kbl", 100, 300)])
    table = statistic_of("counter", session.stats.scope())
    assert (table.warnings, table.notes) == ((), ("events of cycles",))
