# SPDX-License-Identifier: MIT
"""Arrays by CPU have an element for each CPU of the records, but never too many."""

from __future__ import annotations

import pytest

from skbviewer.analysis.calls.recorded_cpus import MOST, cpus_of
from skbviewer.records import RECORD_DTYPE, empty


@pytest.mark.parametrize(
    ("entered", "left", "count"), [(0, -1, 1), (3, 5, 6), (-1, -1, 1), (1 << 30, 2, MOST)]
)
def test_highest_cpu_of_entries_and_exits(entered: int, left: int, count: int) -> None:
    records = empty(RECORD_DTYPE, 3)
    records["cpu"], records["exit_cpu"] = [0, entered, 0], [-1, left, 0]
    assert cpus_of(records) == count
    assert cpus_of(records[:0]) == 1
