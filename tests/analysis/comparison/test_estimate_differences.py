# SPDX-License-Identifier: MIT
"""Which differences are changes: Holm's correction, presence, probes, losses."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest

from skbviewer.analysis.comparison.estimate_differences import (
    LEVEL,
    NOT_IN_B,
    TOO_FEW_DATA,
    Difference,
    differences,
    holm,
)
from skbviewer.analysis.comparison.estimates import COUNT, FUNCTIONS, NS, Estimates, Measure

SELF = Measure(FUNCTIONS, "self time", NS, "call")
CALLS = Measure(FUNCTIONS, "calls", COUNT, "pass", rate=True)


def estimates(
    value: dict[str, float], error: float = 0.01, windows: int = 16, lossy: bool = False
) -> Estimates:
    size = len(value)
    columns = (np.array(list(value.values())), np.full(size, error), np.full(size, 15.0))
    counts = (np.full(size, 1000), np.full(size, windows))
    return Estimates(tuple(value), *columns, *counts, np.full(size, lossy), 128)


def one(
    a: Estimates, b: Estimates, measure: Measure = SELF, least: float = 0.01
) -> dict[str, Difference]:
    return {row.name: row for row in differences({measure: a}, {measure: b}, None, least)}


def test_holm_by_hand() -> None:
    found = holm(np.array([0.01, 0.04, np.nan, 0.03, 0.005]))
    assert found[[0, 1, 3, 4]].tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert np.isnan(found[2])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


def test_change_and_interval() -> None:
    row = one(estimates({"f": 1000.0}), estimates({"f": 1310.0}))["f"]
    assert row.change == pytest.approx(0.31)
    half = 2.042 * 0.01 * 2**0.5  # 30 degrees of freedom
    assert row.low is not None and row.high is not None
    assert log(1 + row.low) == pytest.approx(log(1.31) - half, rel=1e-3)
    assert log(1 + row.high) == pytest.approx(log(1.31) + half, rel=1e-3)
    assert row.changed


def test_what_is_no_change() -> None:
    a = estimates({"f": 1000.0})
    assert not one(a, estimates({"f": 1030.0}))["f"].changed  # may be chance
    exact = estimates({"f": 1000.0}, error=1e-5)
    assert not one(exact, estimates({"f": 1009.0}, error=1e-5))["f"].changed  # too small
    assert one(exact, estimates({"f": 1009.0}, error=1e-5), least=0.005)["f"].changed
    unknown = one(a, estimates({"f": 3000.0}, error=np.nan))["f"]
    assert not unknown.changed
    assert (unknown.p, unknown.low, unknown.why) == (None, None, TOO_FEW_DATA)
    assert unknown.change == pytest.approx(2.0)  # shown, not judged


def test_many_differences_need_more_evidence() -> None:
    lone = one(estimates({"f": 1000.0}), estimates({"f": 1050.0}))["f"]
    assert lone.changed
    assert lone.p is not None
    number = round(LEVEL / lone.p) + 10
    others = {f"g{at}": 1000.0 for at in range(number)}
    rows = one(estimates({"f": 1000.0} | others), estimates({"f": 1050.0} | others))
    assert rows["f"].p == lone.p
    assert not rows["f"].changed


def test_new_and_vanished() -> None:
    rows = one(estimates({"old": 0.5}), estimates({"new": 0.5}), CALLS)
    expected = 2 / comb(32, 16)
    assert (rows["new"].a, rows["new"].b, rows["new"].change) == (0.0, 0.5, None)
    assert rows["new"].p == pytest.approx(expected)
    assert rows["new"].changed and rows["old"].changed
    assert (rows["new"].only_in, rows["old"].only_in) == ("B", "A")
    rare = one(estimates({}), estimates({"new": 0.001}, windows=3), CALLS)["new"]
    assert rare.p == pytest.approx(2 * comb(16, 3) / comb(32, 3))
    assert not rare.changed


def test_a_recording_that_is_too_short_shows_nothing_new() -> None:
    short = estimates({})._replace(blocks=0)
    row = one(short, estimates({"new": 0.5}), CALLS)["new"]
    assert not row.changed
    assert row.p is None


def test_times_of_a_function_that_was_not_called_are_unknown() -> None:
    row = one(estimates({}), estimates({"new": 100.0}))["new"]
    assert (row.a, row.b, row.changed) == (None, 100.0, False)


def test_functions_without_a_probe_are_not_judged() -> None:
    found = differences(
        {CALLS: estimates({"f": 1.0, "g": 1.0})},
        {CALLS: estimates({"f": 2.0})},
        (frozenset("fg"), frozenset("f")),
    )
    rows = {row.name: row for row in found}
    assert rows["f"].changed
    assert (rows["g"].changed, rows["g"].p, rows["g"].why) == (False, None, NOT_IN_B)


def test_losses_are_marked() -> None:
    row = one(estimates({"f": 1000.0}), estimates({"f": 1000.0}, lossy=True))["f"]
    assert row.lossy
