# SPDX-License-Identifier: MIT
"""Returns are taken in order of time, however calls nest."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.calls.task_switch_loops import EXIT, MARK_SLEPT
from skbviewer.analysis.calls.task_switches import _Returns, switches
from skbviewer.matching import Rows, blocks
from skbviewer.records import RECORD_DTYPE, empty

ENTRY, EVENT = 1, 4
SOFTIRQ = 1


@pytest.mark.parametrize("longest", [1, 20, 400, 100_000])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_returns_come_in_order_of_time_and_record(longest: int, size: int) -> None:
    draw = np.random.default_rng(longest)
    records = empty(RECORD_DTYPE, 900)
    records["ts"] = np.sort(draw.integers(0, 2000, len(records)))
    records["kind"] = draw.choice([ENTRY, EXIT, EVENT], len(records))
    records["context"] = draw.choice([0, 0, SOFTIRQ], len(records))
    lasting = (records["kind"] == ENTRY) & (draw.random(len(records)) < 0.9)
    ends = records["ts"] + draw.integers(0, longest, len(records))
    records["exit_ts"] = np.where(lasting, ends, -1)
    returns, found = _Returns(), [np.zeros((2, 0), np.int64)]
    for some in blocks(len(records), size):
        made = returns.returns_until(Rows(records, some), some.stop == len(records))
        found.append(np.stack(made))
    ends = np.where(records["kind"] == EXIT, records["ts"], records["exit_ts"])
    chosen = np.flatnonzero((ends >= 0) & (records["context"] == 0))
    order = chosen[np.lexsort((chosen, ends[chosen]))]
    assert np.array_equal(np.concatenate(found, axis=1), [ends[order], order])


@pytest.mark.parametrize(("interrupted", "mark"), [(0, MARK_SLEPT), (7, 0), (-1, 0)])
def test_an_interrupt_shows_whether_the_task_still_ran(interrupted: int, mark: int) -> None:
    """No task's call returned while thread 7 waited: its CPU was idle (thread 0)."""
    records = empty(RECORD_DTYPE, 3)
    records["kind"], records["cpu"], records["exit_cpu"] = ENTRY, 1, 1
    records["ts"], records["exit_ts"] = [100, 500, 900], [950, 600, 940]
    records["pid"], records["context"] = [7, interrupted, 7], [0, SOFTIRQ, 0]
    assert switches(records).marks[[0, 2]].tolist() == [mark, 0]
