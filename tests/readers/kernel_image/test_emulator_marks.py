# SPDX-License-Identifier: MIT
"""The marks in files of the emulator's plugin, and one line for sums that cannot be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.readers.kernel_image.emulator_marks import read_executed_marks
from skbviewer.records import BadInput
from tests.readers.build_executed_blocks import Mark, build

PLACE = 0xFFFFFFFF81000009
MARKS: list[Mark] = [
    (100, 60, 30, 10, PLACE, 1),
    (120, 80, 30, 10, PLACE, 3),  # of a watched function
    (170, 90, 70, 10, PLACE + 50, 2),
]


def test_marks_of_entries_and_exits(tmp_path: Path) -> None:
    found = read_executed_marks(build(tmp_path / "insns", [], MARKS, marks_lost=4))
    assert found.is_exit.tolist() == [False, True]
    assert found.executed.tolist() == [100, 170]
    assert found.kernel.tolist() == [60, 90] and found.probe.tolist() == [30, 70]
    assert found.place.tolist() == [PLACE - (1 << 64), PLACE + 50 - (1 << 64)]
    assert found.lost == 4


@pytest.mark.parametrize("word", range(4))
def test_a_sum_that_falls_is_one_line(tmp_path: Path, word: int) -> None:
    for wrong in (MARKS[1][word] - 40, 1 << 63):
        marks = [list(mark) for mark in MARKS]
        marks[1][word] = wrong % (1 << 64)
        path = build(tmp_path / "insns", [], [(*mark,) for mark in marks])  # type: ignore[misc]
        with pytest.raises(BadInput, match="at byte 144: a sum of executed instructions"):
            read_executed_marks(path)
